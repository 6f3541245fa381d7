/**
 * Schedules of a dashboard of sales, on a server that sends mail. `useNotifiedSales` starts it for a test file, and the other
 * exports are what it has then.
 */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect } from 'vitest';
import { TURN } from '../src/domains/notifications/run-job.ts';
import { type MailServer, startMailServer } from './mail-server.ts';
import { deployModel } from './shops.ts';
import { createOwnWorld, unique, type World } from './world.ts';

export type Person = Awaited<ReturnType<World['person']>>;

export let world: World;
let hooks: Server;
export let mails: MailServer;
/** How the mail server answers an address. */
export const answers = new Map<string, Error | Promise<undefined>>();
export let deploymentId: number;
export let workbookId: number;
export let dashboardId: number;
export let userAttributeId: number;
export const received: { headers: Record<string, string>; body: string }[] = [];
export let hookUrl: string;
export const tenant = unique('acme').replaceAll('_', '-');
export const REGIONS = ['EU', 'US', 'APAC', 'LATAM', 'MEA'];
/** The rows. No number occurs twice, neither in a row nor as a sum. */
const ROWS = REGIONS.flatMap((region, i) => [
  { region, product: 'Desks', amount: 93 * (i + 1) },
  { region, product: 'Lamps', amount: 7 * (i + 1) },
]);
/** What a reader of the region must see, by plain loops over all rows: the sum and the table. */
export const figuresOf = (region: string) => {
  const own = ROWS.filter((row) => row.region === region);
  const sum = own.reduce((all, { amount }) => all + amount, 0);
  return { figure: `Revenue: ${sum}`, table: own.map(({ product, amount }) => `${product} | ${amount}`) };
};
export const PATIENTLY = { timeout: 300_000 };

const MODEL = {
  'model/cubes/sales.yml': `cubes:
  - name: sales
    sql_table: files.sales
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: region, sql: region, type: string }
      - { name: product, sql: product, type: string }
    measures:
      - { name: revenue, sql: amount, type: sum }
    access_policy:
      - group: "*"
        row_level:
          filters:
            - { member: region, operator: equals, values: ["{ userAttributes.region }"] }
  - name: deals
    sql_table: files.sales
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: region, sql: region, type: string }
    measures:
      - { name: revenue, sql: amount, type: sum }
    access_policy:
      - group: "*"
        row_level:
          filters:
            - { member: region, operator: equals, values: ["{ securityContext.region }"] }
`,
};

const { ms: turnMs } = TURN;

export function useNotifiedSales() {
  beforeAll(start);
  afterAll(stop);
}

async function start() {
  // Another file of the same process may have used these.
  received.length = 0;
  answers.clear();
  // A long turn: on a busy machine, a run would otherwise yield to others and draw a group again.
  TURN.ms = 10 * 60_000;
  mails = await startMailServer({
    recipient: (address) => answers.get(address),
    closes: ([to]) => (to!.startsWith('lost-') ? 'after' : undefined),
  });
  world = await createOwnWorld({
    env: {
      ORIEL_ALLOW_PRIVATE_REMOTES: 'true',
      ORIEL_SMTP_URL: mails.url,
      ORIEL_MAIL_FROM: 'Acme <no-reply@example.com>',
    },
  });
  hooks = createServer(async (incoming, response) => {
    let body = '';
    for await (const part of incoming) body += part;
    received.push({ headers: incoming.headers as Record<string, string>, body });
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  hookUrl = `http://127.0.0.1:${(hooks.address() as { port: number }).port}/`;
  deploymentId = (await world.deployment()).id;
  const rows = ROWS.map(({ region, product, amount }, i) => `${i + 1},${region},${product},${amount}`);
  await world.writeFiles(deploymentId, { 'sales.csv': `id,region,product,amount\n${rows.join('\n')}\n` });
  userAttributeId = (await world.admin.createUserAttribute({ body: { name: 'region', type: 'string' } })).id;
  await deployModel(world, deploymentId, MODEL);
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Sales' } })).id;
  const query = { measures: ['sales.revenue'] };
  const { id: reportId } = await world.admin.createReport({
    deploymentId,
    body: {
      name: 'Revenue',
      jsonQuery: JSON.stringify(query),
      meta: { chart: { kind: 'kpi', spec: { measure: 'sales.revenue' } } },
    },
  });
  const products = { measures: ['sales.revenue'], dimensions: ['sales.product'] };
  const table = await world.admin.createReport({
    deploymentId,
    body: {
      name: 'Products',
      jsonQuery: JSON.stringify({ ...products, order: { 'sales.product': 'asc' } }),
      meta: { chart: { kind: 'table', spec: {} } },
    },
  });
  const position = { x: 0, y: 0, w: 4, h: 4 };
  const below = { ...position, y: 4 };
  const widgets = [
    { id: 'table', type: 'CHART' as const, position: below, config: { reportId: table.id } },
    { id: 'kpi', type: 'CHART' as const, position, config: { reportId } },
    { id: 'region', type: 'FILTER' as const, position, config: { member: 'sales.region' } },
  ];
  ({ id: dashboardId } = await publish(widgets));
  await world.admin.updateEmbedAccess({
    deploymentId,
    workbookId,
    body: { allEmbedUsers: true, action: 'read' },
  });
}

async function stop() {
  TURN.ms = turnMs;
  hooks.closeAllConnections();
  hooks.close();
  await world.stop();
  await mails.stop();
}

export type Widgets = NonNullable<
  NonNullable<Parameters<World['admin']['publishDashboard']>[0]['body']['config']>['widgets']
>;
export const publish = (widgets: Widgets, into = workbookId) =>
  world.admin.publishDashboard({
    deploymentId,
    workbookId: into,
    body: { config: { widgets }, title: 'Sales', allowEmbed: true },
  });
export type Body = Partial<Parameters<World['admin']['createNotification']>[0]['body']>;
export const create = (body: Body = {}) =>
  world.admin.createNotification({
    deploymentId,
    body: { dashboardId, scheduleType: 'DAILY', hour: 9, ...body },
  });
export type Recipients = Parameters<World['admin']['addRecipients']>[0]['body']['recipients'];
export const add = (id: number, recipients: Recipients) =>
  world.admin.addRecipients({ deploymentId, id, body: { recipients } });
export const runs = async (id: number) =>
  (await world.admin.listNotificationRuns({ deploymentId, id })).items;
export const ended = (id: number, count = 1) =>
  expect
    .poll(
      async () => (await runs(id)).filter(({ state }) => state === 'done' || state === 'failed').length,
      PATIENTLY,
    )
    .toBe(count);
export const deliveriesOf = async (id: number, runId: number) =>
  (await world.admin.listNotificationDeliveries({ deploymentId, id, runId, first: 1000 })).items;
export const sql = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;
/** Makes a schedule due at this time, with the jobs of two servers that noticed it. */
export async function comes(id: number, due: string) {
  await sql('update notifications set next_due_at = $2::timestamptz where id = $1', [id, due]);
  for (let i = 0; i < 2; i++)
    await sql(
      `insert into jobs (kind, payload, max_attempts, lane) values ('notifications.due', $1, 100, 'default')`,
      [{ deploymentId, notificationId: id }],
    );
  await sql('notify oriel_jobs');
}
/** Starts a run as a new admin, because the runs of one caller are limited. */
export async function runNow(id: number) {
  const { client } = await world.person({ roles: ['Admin'] });
  return client.runNotification({ deploymentId, id });
}
/** Ends the pause before the next attempt of the newest run. */
export async function retryNow(id: number) {
  const [run] = await runs(id);
  await sql(
    "update notification_deliveries set next_attempt_at = now() where run_id = $1 and status = 'waiting'",
    [run!.id],
  );
  // The job is queued a moment after the run says that it will be tried again.
  const release = `update jobs set run_at = now()
    where kind = 'notifications.run' and state = 'waiting' and (payload->>'runId')::int = $1 returning id`;
  await expect.poll(() => sql(release, [run!.id]), PATIENTLY).toHaveLength(1);
  await sql('notify oriel_jobs');
}
export const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** The lines of a mail with what the dashboard shows: after the title and the time, and before the links. */
export const numbersIn = (text: string) => {
  const blocks = text.trim().split(/\r?\n\r?\n/);
  expect(blocks[1]).toMatch(/^Data as of .+ \(UTC\)/);
  return blocks.slice(2, 4).flatMap((block) => block.split(/\r?\n/));
};
