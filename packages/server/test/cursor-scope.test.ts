/** A cursor belongs to one list in one deployment and embed tenant. Any other list refuses it. */
import { allOperations, isCursorList, type Operation } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedding, type Embedding } from './embedding.ts';
import type { World } from './world.ts';

let embedding: Embedding;
let world: World;
let other: number;
let tokens: Record<'acme-corp' | 'globex-inc', string>;
beforeAll(async () => {
  embedding = await createEmbedding();
  world = embedding.world;
  other = (await world.deployment()).id;
  const enter = async (embedTenantName: string) =>
    (await world.embedded(embedding.request({ embedTenantName, creatorMode: true }))).token;
  tokens = { 'acme-corp': await enter('acme-corp'), 'globex-inc': await enter('globex-inc') };
});
afterAll(() => embedding.stop());

/** Lists of something inside of a deployment name it in their cursors themselves. */
const lists = allOperations.filter(
  (op) => isCursorList(op) && Object.keys(op.params).join() === 'deploymentId',
);

const get = (op: Operation, deploymentId: number, query: Record<string, string>, token?: string) =>
  world.raw(
    'GET',
    `${op.path.replace('{deploymentId}', String(deploymentId))}?${new URLSearchParams(query)}`,
    {
      ...(token ? { headers: { authorization: `Bearer ${token}` } } : {}),
    },
  );

const page = async (response: Response) =>
  (await response.json()) as { code?: string; pageInfo: { endCursor: string } };

/** Creates something of each kind, so that each list has a first item. */
async function fill(deploymentId: number, client = world.admin) {
  for (const name of ['a', 'b']) {
    await client.createFolder({ deploymentId, body: { name } });
    const { id: workbookId } = await client.createWorkbook({ deploymentId, body: { name } });
    const { id: dashboardId } = await client.publishDashboard({
      deploymentId,
      workbookId,
      body: { config: {} },
    });
    await client.createNotification({ deploymentId, body: { dashboardId, scheduleType: 'HOURLY' } });
    await client.createReport({ deploymentId, body: { name } });
  }
}

/** Shares everything in a deployment with a person who created nothing. */
async function viewerOf(deploymentId: number) {
  const person = await world.person({ roles: ['Developer'] });
  for (const [table, type] of Object.entries({
    folders: 'Folder',
    workbooks: 'Workbook',
    reports: 'Report',
  })) {
    await embedding.rows(
      `insert into resource_policies (deployment_id, resource_type, resource_id, user_id, action, level)
       select $1, $2::text, id, $3, $2 || 'Read', 1 from ${table} where deployment_id = $1`,
      [deploymentId, type, person.userId],
    );
  }
  return person;
}

test('there are lists to check', () => {
  expect(lists.map(({ id }) => id)).toEqual(
    expect.arrayContaining(['getReports', 'getWorkbooks', 'getFolders', 'workspaceObjects']),
  );
});

describe('a cursor of another deployment is a 400', () => {
  let reader: Awaited<ReturnType<typeof viewerOf>>;
  beforeAll(async () => {
    await fill(embedding.deploymentId);
    await fill(other);
    for (const deploymentId of [embedding.deploymentId, other]) {
      const env_variables = ['A', 'B'].map((name) => ({ name, value: name }));
      await world.admin.setEnvVariables({ deploymentId, body: { env_variables } });
      for (const fileName of ['a.csv', 'b.csv'])
        await world.admin.uploadDataFile({
          deploymentId,
          fileName,
          body: { contentType: 'text/csv', data: 'id\n1\n' },
        });
      await embedding.rows(
        `insert into deployment_log_lines (deployment_id, source, container, pod, message, created_at)
         select $1, 'production', 'MAIN', 'pod', 'line ' || n, now() from generate_series(1, 2) n`,
        [deploymentId],
      );
    }
    reader = await viewerOf(embedding.deploymentId);
  });

  test.each(lists.map((op) => [op.id, op] as const))('%s', async (_id, op) => {
    const read = (deploymentId: number, query: Record<string, string>) =>
      world.raw(
        'GET',
        `${op.path.replace('{deploymentId}', String(deploymentId))}?${new URLSearchParams(query)}`,
        { apiKey: reader.apiKey },
      );
    const first = await page(await read(embedding.deploymentId, { first: '1' }));
    const after = first.pageInfo.endCursor;
    expect(after).toEqual(expect.any(String));
    expect((await read(embedding.deploymentId, { first: '1', after })).status).toBe(200);
    const elsewhere = await get(op, other, { first: '1', after });
    expect([elsewhere.status, (await page(elsewhere)).code]).toEqual([400, 'invalid_cursor']);
  });
});

describe('a cursor of another embed tenant, or of the main workspace, is a 400', () => {
  beforeAll(async () => {
    for (const [externalId, embedTenantName] of [
      ['maker', 'acme-corp'],
      ['maker', 'globex-inc'],
    ] as const) {
      const maker = await world.embedded(
        embedding.request({ externalId, embedTenantName, creatorMode: true }),
      );
      await fill(embedding.deploymentId, maker.client);
    }
  });

  test.each(lists.filter(({ embed }) => embed === 'creator').map((op) => [op.id, op] as const))(
    '%s',
    async (_id, op) => {
      const { deploymentId } = embedding;
      const first = await page(await get(op, deploymentId, { first: '1' }, tokens['acme-corp']));
      const after = first.pageInfo.endCursor;
      expect(after).toEqual(expect.any(String));
      expect((await get(op, deploymentId, { first: '1', after }, tokens['acme-corp'])).status).toBe(200);
      for (const token of [tokens['globex-inc'], undefined]) {
        const elsewhere = await get(op, deploymentId, { first: '1', after }, token);
        expect([elsewhere.status, (await page(elsewhere)).code]).toEqual([400, 'invalid_cursor']);
      }
      if ('embedTenantName' in op.query) {
        const looking = { first: '1', after, embedTenantName: 'globex-inc' };
        expect((await get(op, deploymentId, looking)).status).toBe(400);
      }
    },
  );
});
