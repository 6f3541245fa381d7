/** Runs of notifications: who is sent what, once, and what is said of those who are not. */
import { createServer, type Server } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, type MailServer, startMailServer } from '../../../test/mail-server.ts';
import { deployModel } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let hooks: Server;
let mails: MailServer;
/** How the mail server answers an address. */
const answers = new Map<string, Error>();
let deploymentId: number;
let workbookId: number;
let dashboardId: number;
let userAttributeId: number;
const received: { headers: Record<string, string>; body: string }[] = [];
let hookUrl: string;
const tenant = unique('acme').replaceAll('_', '-');
const REGIONS = ['EU', 'US', 'APAC', 'LATAM', 'MEA'];
const PATIENTLY = { timeout: 120_000 };

const MODEL = {
  'model/cubes/sales.yml': `cubes:
  - name: sales
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
            - { member: region, operator: equals, values: ["{ userAttributes.region }"] }
`,
};

beforeAll(async () => {
  mails = await startMailServer({ recipient: (address) => answers.get(address) });
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
  const rows = REGIONS.map((region, i) => `${i + 1},${region},${(i + 1) * 100}`);
  await world.writeFiles(deploymentId, { 'sales.csv': `id,region,amount\n${rows.join('\n')}\n` });
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
  const position = { x: 0, y: 0, w: 4, h: 4 };
  const widgets = [
    { id: 'kpi', type: 'CHART' as const, position, config: { reportId } },
    { id: 'region', type: 'FILTER' as const, position, config: { member: 'sales.region' } },
  ];
  ({ id: dashboardId } = await publish(widgets));
  await world.admin.updateEmbedAccess({
    deploymentId,
    workbookId,
    body: { allEmbedUsers: true, action: 'read' },
  });
});
afterAll(async () => {
  hooks.closeAllConnections();
  hooks.close();
  await world.stop();
  await mails.stop();
});

type Widgets = NonNullable<
  NonNullable<Parameters<World['admin']['publishDashboard']>[0]['body']['config']>['widgets']
>;
const publish = (widgets: Widgets) =>
  world.admin.publishDashboard({
    deploymentId,
    workbookId,
    body: { config: { widgets }, title: 'Sales', allowEmbed: true },
  });
type Body = Partial<Parameters<World['admin']['createNotification']>[0]['body']>;
const create = (body: Body = {}) =>
  world.admin.createNotification({
    deploymentId,
    body: { dashboardId, scheduleType: 'DAILY', hour: 9, ...body },
  });
type Recipients = Parameters<World['admin']['addRecipients']>[0]['body']['recipients'];
const add = (id: number, recipients: Recipients) =>
  world.admin.addRecipients({ deploymentId, id, body: { recipients } });
const runs = async (id: number) => (await world.admin.listNotificationRuns({ deploymentId, id })).items;
const ended = (id: number, count = 1) =>
  expect
    .poll(
      async () => (await runs(id)).filter(({ state }) => state === 'done' || state === 'failed').length,
      PATIENTLY,
    )
    .toBe(count);
const deliveriesOf = async (id: number, runId: number) =>
  (await world.admin.listNotificationDeliveries({ deploymentId, id, runId, first: 1000 })).items;
const sql = async (text: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(text, values)).rows;
/** As if this time had come, and two servers had noticed. */
async function comes(id: number, due: string) {
  await sql('update notifications set next_due_at = $2::timestamptz where id = $1', [id, due]);
  for (let i = 0; i < 2; i++)
    await sql(
      `insert into jobs (kind, payload, max_attempts, lane) values ('notifications.due', $1, 100, 'default')`,
      [{ deploymentId, notificationId: id }],
    );
  await sql('notify oriel_jobs');
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test('a due time runs once, a late one too, and one of more than an hour ago is recorded as missed', async () => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const { id } = await create();
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  await comes(id, minutesAgo(59));
  await ended(id);
  expect(await runs(id)).toMatchObject([{ state: 'done', sent: 1, failed: 0, isPreview: false }]);
  await expect.poll(() => received.length, PATIENTLY).toBe(1);
  expect(new Webhook(hook.secret).verify(received[0]!.body, received[0]!.headers)).toMatchObject({
    type: 'notification.due',
    data: { id: String(id), deploymentId, dashboardId },
  });
  // Metadata only: the figure of all regions is 1500.
  expect(received[0]!.body).not.toContain('1500');
  await comes(id, minutesAgo(61));
  await expect.poll(async () => (await runs(id)).length, PATIENTLY).toBe(2);
  expect((await runs(id))[0]).toMatchObject({
    state: 'missed',
    sent: 0,
    reason: 'No server ran when it was due.',
  });
  const { nextRunAt } = await world.admin.getNotification({ deploymentId, id });
  expect(Date.parse(nextRunAt!)).toBeGreaterThan(Date.now());
  expect(received).toHaveLength(1);
});

test('readers with equal rows share one rendering, and nobody shares with another region', async () => {
  const { id } = await create();
  const readers = Array.from({ length: 200 }, (_, i) => ({
    externalId: `reader-${i}`,
    region: REGIONS[i % REGIONS.length]!,
  }));
  await add(
    id,
    readers.map(({ externalId, region }) => ({
      type: 'EMBED_USER',
      embedTenantName: tenant,
      externalId,
      email: `${externalId}@example.com`,
      userAttributes: [{ name: 'region', value: region }],
      // Different for everybody, and of no policy.
      securityContext: { customer: externalId },
    })),
  );
  await world.admin.runNotification({ deploymentId, id, body: {} });
  await ended(id);
  const [run] = await runs(id);
  expect(run).toMatchObject({ state: 'done', renderings: 5, sent: 200 });
  const addressed = mails.messages.map(({ to }) => to).filter(([to]) => to!.startsWith('reader-'));
  expect(addressed.map(([to]) => to).toSorted()).toEqual(
    readers.map(({ externalId }) => `${externalId}@example.com`).toSorted(),
  );
  expect(addressed.every(({ length }) => length === 1)).toBe(true);
  const rows = await sql(
    `select x.copy_key as key, u.external_id as reader from notification_deliveries x join users u on u.id = x.user_id
     where x.run_id = $1`,
    [run!.id],
  );
  expect(rows).toHaveLength(200);
  // What each reader loads themselves decides who may share.
  const figures = new Map<string, string>();
  for (const { externalId } of readers.slice(0, 10)) {
    const { client } = await world.embedded({ deploymentId, embedTenantName: tenant, externalId });
    const answer = await client.load({ deploymentId, body: { query: { measures: ['sales.revenue'] } } });
    figures.set(externalId, JSON.stringify((answer as { data: unknown }).data));
  }
  expect(new Set(figures.values()).size).toBe(5);
  const regionOf = new Map(readers.map(({ externalId, region }) => [externalId, region]));
  const keys = new Map<string, Set<string>>();
  for (const { key, reader } of rows) keys.set(key, (keys.get(key) ?? new Set()).add(regionOf.get(reader)!));
  expect([...keys.values()].map((regions) => regions.size)).toEqual([1, 1, 1, 1, 1]);
});

test('whoever lost access, was deactivated or left gets nothing, and the run says why', async () => {
  const { id } = await create();
  const [ann, bob, cyd] = [await world.person(), await world.person(), await world.person()];
  for (const { userId } of [ann, bob, cyd])
    await world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: 'WorkbookRead' },
    });
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [cyd.userId, ann.userId] } });
  await add(id, [
    { type: 'USER', userId: ann.userId },
    { type: 'USER', userId: bob.userId },
    { type: 'GROUP', groupId: group.id },
  ]);
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId: ann.userId },
  });
  await world.admin.updateUser({ id: bob.userId, body: { isDeactivated: true } });
  await cyd.client.unsubscribeFromNotification({ deploymentId, id });
  await world.admin.runNotification({ deploymentId, id });
  await ended(id);
  const [run] = await runs(id);
  const outcomes = (await deliveriesOf(id, run!.id)).map(({ userId, status, reason }) => [
    userId,
    status,
    reason,
  ]);
  expect(outcomes).toEqual([
    [ann.userId, 'skipped', 'They may not see the dashboard.'],
    [bob.userId, 'skipped', 'They were deactivated.'],
  ]);
});

test('a filter that the dashboard lost fails the run, and webhooks hear of it', async () => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['notification.failed'] } });
  const { id } = await create({ filters: [{ member: 'sales.region', value: 'EU' }] });
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const { config } = await world.admin.getDashboard({
    publicId: (await world.admin.getNotification({ deploymentId, id })).dashboardPublicId,
  });
  const before = received.length;
  await publish(config.widgets!.filter(({ type }) => type !== 'FILTER') as Widgets);
  try {
    await world.admin.runNotification({ deploymentId, id });
    await ended(id);
    expect(await runs(id)).toMatchObject([
      { state: 'failed', reason: 'The dashboard has no filter for sales.region.', sent: 0 },
    ]);
    await expect
      .poll(() => received.slice(before).map(({ body }) => JSON.parse(body).type), PATIENTLY)
      .toEqual(['notification.failed']);
  } finally {
    await publish(config.widgets as Widgets);
  }
});

test('a server that died while it was sending does not send again', async () => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const { id } = await create();
  const { createdRecipients } = await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const [run] = await sql(
    `insert into notification_runs (notification_id, state) values ($1, 'running') returning id`,
    [id],
  );
  await sql(
    `insert into notification_deliveries (run_id, target, recipient_id, type, address, status, attempts)
     values ($1, $2, $3, 'WEBHOOK', $4, 'sending', 1)`,
    [run.id, `webhook:${hook.id}`, createdRecipients[0]!.id, String(hook.id)],
  );
  await sql(
    `insert into jobs (kind, payload, max_attempts, lane) values ('notifications.run', $1, 5, 'notifications')`,
    [{ deploymentId, runId: Number(run.id) }],
  );
  await sql('notify oriel_jobs');
  await ended(id);
  expect(await deliveriesOf(id, Number(run.id))).toMatchObject([
    {
      status: 'unknown',
      reason: 'The server stopped while it was sent, so it is not sent again.',
      attempts: 1,
    },
  ]);
});

test('an alert is sent when its condition becomes true, not again while it stays true, and again after it was false', async () => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const region = async (value: string) => {
    const { id: userId } = await world.admin.getMe();
    await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value } });
  };
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', operator: 'above', value: 250 },
  } as Body);
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const outcomes: unknown[] = [];
  for (const [i, value] of ['EU', 'APAC', 'LATAM', 'US', 'MEA'].entries()) {
    await region(value);
    await world.admin.runNotification({ deploymentId, id });
    await ended(id, i + 1);
    const [delivery] = await deliveriesOf(id, (await runs(id))[0]!.id);
    const { status, reason } = delivery!;
    outcomes.push([value, status, reason]);
  }
  expect(outcomes).toEqual([
    ['EU', 'skipped', 'The condition is not met.'],
    ['APAC', 'sent', null],
    ['LATAM', 'skipped', 'The condition was met before, and still is.'],
    ['US', 'skipped', 'The condition is not met.'],
    ['MEA', 'sent', null],
  ]);
});

test('temporary refusals are tried again, permanent ones are shown at the recipient, and the link in the mail unsubscribes', async () => {
  const { id } = await create();
  const names = ['calm', 'busy', 'gone'];
  const addressOf = (name: string) => `${name}-${id}@example.com`;
  answers.set(addressOf('busy'), answer(451, 'try again later'));
  answers.set(addressOf('gone'), answer(550, 'no such mailbox'));
  await add(
    id,
    names.map((name) => ({
      type: 'EMBED_USER',
      embedTenantName: tenant,
      externalId: `${name}-${id}`,
      email: addressOf(name),
      userAttributes: [{ name: 'region', value: 'EU' }],
    })),
  );
  await world.admin.runNotification({ deploymentId, id });
  const state = async () => {
    const [run] = await runs(id);
    return (await deliveriesOf(id, run!.id)).map(({ status, attempts }) => [status, attempts]);
  };
  await expect.poll(state, PATIENTLY).toEqual([
    ['sent', 1],
    ['waiting', 1],
    ['failed', 1],
  ]);
  await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
  answers.delete(addressOf('busy'));
  await sql('update notification_deliveries set next_attempt_at = now() where status = $1', ['waiting']);
  await sql("update jobs set run_at = now() where kind = 'notifications.run' and state = 'waiting'");
  await sql('notify oriel_jobs');
  await ended(id);
  expect(await state()).toEqual([
    ['sent', 1],
    ['sent', 2],
    ['failed', 1],
  ]);
  expect((await runs(id))[0]).toMatchObject({ state: 'failed', sent: 2, failed: 1, renderings: 2 });
  const recipients = async () => (await world.admin.getRecipients({ deploymentId, id })).items;
  expect((await recipients()).map(({ problem }) => problem)).toEqual([
    null,
    null,
    expect.stringContaining('no such mailbox'),
  ]);
  // The owner hears of it.
  const { email } = await world.admin.getMe();
  await expect.poll(() => mails.messages.some(({ to }) => to.includes(email)), PATIENTLY).toBe(true);

  const { raw } = mails.messages.find(({ to }) => to.includes(addressOf('calm')))!;
  expect(raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  const [, url] = /^List-Unsubscribe: <([^>]+)>/m.exec(raw.replace(/\r\n[ \t]+/g, ' '))!;
  const isOut = async () => (await recipients()).map(({ isUnsubscribed }) => isUnsubscribed);
  const page = await fetch(url!);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Unsubscribe</button>')]);
  expect(await isOut()).toEqual([false, false, false]);
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  expect((await fetch(`${url}x`, { method: 'POST', body })).status).toBe(400);
  expect((await fetch(url!, { method: 'POST', body })).status).toBe(200);
  expect(await isOut()).toEqual([true, false, false]);
});
