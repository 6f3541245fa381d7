/** A world with a deployment, and for each test a new workbook whose dashboard it publishes. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { deployModel } from './shops.ts';
import { createWorld, type World } from './world.ts';

export let world: World;
export let deploymentId: number;
export let workbookId: number;

const MODEL = {
  'model/cubes/sales.yml': `cubes:
  - name: sales
    sql_table: files.sales
    dimensions:
      - { name: status, sql: status, type: string }
    measures:
      - { name: revenue, sql: revenue, type: sum }
`,
};

/** To be called once by a file of tests. */
export function usePublishing() {
  beforeAll(async () => {
    world = await createWorld();
    deploymentId = (await world.deployment()).id;
    await deployModel(world, deploymentId, MODEL);
  });
  beforeEach(async () => {
    workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Sales' } })).id;
  });
  afterAll(() => world.stop());
}

type Publish = Parameters<World['admin']['publishDashboard']>[0]['body'];
export type Config = NonNullable<Publish['config']>;
export type Widget = NonNullable<Config['widgets']>[number];

export const position = { x: 0, y: 0, w: 4, h: 4 };
export const BARS = {
  mark: 'bar',
  encoding: {
    x: { field: 'sales__status', type: 'nominal' },
    y: { field: 'sales__revenue', type: 'quantitative' },
  },
};
export const QUERY = { measures: ['sales.revenue'], dimensions: ['sales.status'] };

export const report = async (meta: object | null = null, given: object = {}, at = deploymentId) =>
  (
    await world.admin.createReport({
      deploymentId: at,
      body: { name: 'Revenue', jsonQuery: JSON.stringify(QUERY), meta, ...given },
    })
  ).id;
export const chart = (reportId: number, id = 'a'): Widget => ({
  id,
  type: 'CHART',
  position,
  config: { reportId },
});
export const publish = (body: Publish, by = world.admin) =>
  by.publishDashboard({ deploymentId, workbookId, body });
export const refused = (body: Publish) =>
  publish(body).catch((error: { status: number; message: string }) => error);
