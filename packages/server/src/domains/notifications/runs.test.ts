/** Runs of notifications: who is sent what, once, and what is said of those who are not. */
import { createServer, type Server } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answer, type MailServer, startMailServer } from '../../../test/mail-server.ts';
import { deployModel } from '../../../test/shops.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { TURN } from './run-job.ts';
import { createWarming } from './warming.ts';

type Person = Awaited<ReturnType<World['person']>>;

let world: World;
let hooks: Server;
let mails: MailServer;
/** How the mail server answers an address. */
const answers = new Map<string, Error | Promise<undefined>>();
let deploymentId: number;
let workbookId: number;
let dashboardId: number;
let userAttributeId: number;
const received: { headers: Record<string, string>; body: string }[] = [];
let hookUrl: string;
const tenant = unique('acme').replaceAll('_', '-');
const REGIONS = ['EU', 'US', 'APAC', 'LATAM', 'MEA'];
/** No number comes twice, neither in a row nor as a sum. */
const ROWS = REGIONS.flatMap((region, i) => [
  { region, product: 'Desks', amount: 93 * (i + 1) },
  { region, product: 'Lamps', amount: 7 * (i + 1) },
]);
/** What a reader of the region must see, by plain loops over all rows: the sum and the table. */
const figuresOf = (region: string) => {
  const own = ROWS.filter((row) => row.region === region);
  const sum = own.reduce((all, { amount }) => all + amount, 0);
  return { figure: `Revenue: ${sum}`, table: own.map(({ product, amount }) => `${product} | ${amount}`) };
};
const PATIENTLY = { timeout: 120_000 };

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
`,
};

const { ms: turnMs } = TURN;
beforeAll(async () => {
  // On a busy machine, a run would give its turn to others and draw a group again.
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
});
afterAll(async () => {
  TURN.ms = turnMs;
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
/** By an admin of their own, because one caller may ask for only so many runs. */
async function runNow(id: number) {
  const { client } = await world.person({ roles: ['Admin'] });
  return client.runNotification({ deploymentId, id });
}
/** As if the pause before the next attempt were over. */
async function retryNow() {
  await sql('update notification_deliveries set next_attempt_at = now() where status = $1', ['waiting']);
  await sql("update jobs set run_at = now() where kind = 'notifications.run' and state = 'waiting'");
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
  // No second run beside one that has not ended.
  await sql("update notification_runs set state = 'running' where notification_id = $1 and state = 'done'", [
    id,
  ]);
  await comes(id, minutesAgo(5));
  await expect.poll(async () => (await runs(id)).length, PATIENTLY).toBe(3);
  expect((await runs(id))[0]).toMatchObject({
    state: 'missed',
    reason: 'The run before it had not ended.',
  });
  const { nextRunAt } = await world.admin.getNotification({ deploymentId, id });
  expect(Date.parse(nextRunAt!)).toBeGreaterThan(Date.now());
  expect(received).toHaveLength(1);
});

/** The lines of a mail with what the dashboard shows: after the title and the time, and before the links. */
const numbersIn = (text: string) => {
  const blocks = text.trim().split(/\r?\n\r?\n/);
  expect(blocks[1]).toMatch(/^Data as of .+ \(UTC\)/);
  return blocks.slice(2, 4).flatMap((block) => block.split(/\r?\n/));
};

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
  const got = mails.messages.filter(({ to }) => to[0]!.startsWith('reader-'));
  expect(got.map(({ to }) => to.join()).toSorted()).toEqual(
    readers.map(({ externalId }) => `${externalId}@example.com`).toSorted(),
  );
  // Every number of every mail, in both forms, and the pictures.
  const regionOf = new Map(readers.map(({ externalId, region }) => [externalId, region]));
  const pictures = new Map<string, Set<string>>();
  for (const { to, parsed } of got) {
    const region = regionOf.get(to[0]!.split('@')[0]!)!;
    const { figure, table } = figuresOf(region);
    expect(numbersIn(parsed.text!), region).toEqual([figure, 'Products', 'Product | Revenue', ...table]);
    const shown = [...parsed.html!.matchAll(/>(\d+)</g)].map(([, number]) => Number(number));
    expect(shown, region).toEqual([figure, ...table].map((line) => Number(/\d+/.exec(line)![0])));
    const picture = Buffer.from(parsed.attachments[0]!.content as ArrayBuffer).toString('base64');
    pictures.set(picture, (pictures.get(picture) ?? new Set()).add(region));
  }
  expect([...pictures.values()].map((regions) => [...regions])).toEqual(
    expect.arrayContaining(REGIONS.map((region) => [region])),
  );
  expect(pictures.size).toBe(5);
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
  const keys = new Map<string, Set<string>>();
  for (const { key, reader } of rows) keys.set(key, (keys.get(key) ?? new Set()).add(regionOf.get(reader)!));
  expect([...keys.values()].map((regions) => regions.size)).toEqual([1, 1, 1, 1, 1]);
});

test('a reader whose rights change while others are served gets the rows of their new rights', async () => {
  const { id } = await create();
  const name = (who: string) => `${who}-${id}`;
  let release = () => {};
  answers.set(`${name('first')}@example.com`, new Promise((resolve) => (release = () => resolve(undefined))));
  const provision = (who: string, region: string): Recipients[number] => ({
    type: 'EMBED_USER',
    embedTenantName: tenant,
    externalId: name(who),
    email: `${name(who)}@example.com`,
    userAttributes: [{ name: 'region', value: region }],
  });
  await add(id, [provision('first', 'EU'), provision('stays', 'US'), provision('moves', 'US')]);
  const before = mails.sessions();
  await world.admin.runNotification({ deploymentId, id });
  await expect.poll(() => mails.sessions(), PATIENTLY).toBe(before + 1);
  await add(id, [provision('moves', 'APAC')]);
  release();
  await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
  await retryNow();
  await ended(id);
  expect((await runs(id))[0]).toMatchObject({ state: 'done', sent: 3 });
  const figures = (who: string) =>
    mails.messages
      .filter(({ to }) => to.includes(`${name(who)}@example.com`))
      .map(({ parsed }) => numbersIn(parsed.text!)[0]);
  expect([figures('first'), figures('stays'), figures('moves')]).toEqual([
    [figuresOf('EU').figure],
    [figuresOf('US').figure],
    [figuresOf('APAC').figure],
  ]);
});

test('a widget that fails fails the copy, the run says so, and nothing is sent', async () => {
  const { id } = await create({ name: 'Broken' });
  await world.admin.subscribeToNotification({ deploymentId, id });
  const sent = mails.messages.length;
  const config = await sql(
    `update dashboard_versions v set snapshots = replace(snapshots::text, 'sales.product', 'sales.no_such')::jsonb
     from dashboards d where d.id = v.dashboard_id and d.version_number = v.number and d.id = $1 returning v.id`,
    [dashboardId],
  );
  expect(config).toHaveLength(1);
  await world.admin.runNotification({ deploymentId, id, body: { preview: true } });
  await ended(id);
  const [run] = await runs(id);
  expect(run).toMatchObject({ state: 'failed', sent: 0, failed: 1 });
  expect(run!.reason).toContain('sales.no_such');
  expect(mails.messages).toHaveLength(sent);
  await sql(
    `update dashboard_versions set snapshots = replace(snapshots::text, 'sales.no_such', 'sales.product')::jsonb
     where id = $1`,
    [config[0].id],
  );
});

test('mails lead people to the dashboard, and embed users to the page of the host if there is a template', async () => {
  const { id, dashboardPublicId } = await create({ name: 'Monday\r\nBcc: evil@example.com' });
  const externalId = `linked-${id}`;
  const email = `${externalId}@example.com`;
  const userAttributes = [{ name: 'region', value: 'EU' }];
  await add(id, [{ type: 'EMBED_USER', embedTenantName: tenant, externalId, email, userAttributes }]);
  await world.admin.subscribeToNotification({ deploymentId, id });
  const { email: own } = await world.admin.getMe();
  const textTo = async (address: string, count: number) => {
    await ended(id, count);
    const { parsed, raw } = mails.messages.findLast(({ to }) => to.includes(address))!;
    expect(raw).not.toMatch(/^Bcc:/m);
    expect(parsed.subject).toBe('Monday Bcc: evil@example.com');
    return parsed.text!.match(/^Open the dashboard: (\S+)/m)?.[1];
  };
  await world.admin.runNotification({ deploymentId, id });
  expect(await textTo(email, 1)).toBeUndefined();
  expect(await textTo(own, 1)).toBe(`${world.url}/embed/dashboard/${dashboardPublicId}`);
  const notificationLinkTemplate = 'https://host.example/{embedTenantName}/d/{dashboardPublicId}';
  await world.admin.updateTenantSettings({ body: { notificationLinkTemplate } });
  await world.admin.runNotification({ deploymentId, id });
  expect(await textTo(email, 2)).toBe(`https://host.example/${tenant}/d/${dashboardPublicId}`);
  expect(await textTo(own, 2)).toBe(`${world.url}/embed/dashboard/${dashboardPublicId}`);
});

test('whoever lost access, was deactivated or left gets nothing, and the run says why', async () => {
  const { id } = await create();
  const lost = unique('lost').replaceAll('_', '-');
  const people = await Promise.all(Array.from({ length: 4 }, () => world.person()));
  const [ann, bob, cyd, dan] = people as [Person, Person, Person, Person];
  for (const { userId } of people)
    await world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: 'WorkbookRead' },
    });
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  await world.admin.addUserGroupMembers({
    id: group.id,
    body: { userIds: [cyd.userId, ann.userId, dan.userId] },
  });
  await add(id, [
    { type: 'USER', userId: ann.userId },
    { type: 'USER', userId: bob.userId },
    { type: 'GROUP', groupId: group.id },
    { type: 'SLACK', channelId: 'C0123456789' },
    { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'mute', email: 'mute@example.com' },
    { type: 'EMBED_USER', embedTenantName: lost, externalId: 'lost', email: 'l@example.com' },
  ]);
  await sql("update users set email = null where external_id = 'mute'");
  await world.admin.deleteEmbedTenant({ embedTenantName: lost });
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId: ann.userId },
  });
  await world.admin.updateUser({ id: bob.userId, body: { isDeactivated: true } });
  await cyd.client.unsubscribeFromNotification({ deploymentId, id });
  await world.admin.runNotification({ deploymentId, id });
  await ended(id);
  const [run] = await runs(id);
  const all = (await deliveriesOf(id, run!.id)).map(({ userId, status, reason }) => [
    people.find((person) => person.userId === userId) ?? null,
    status,
    reason,
  ]);
  // Until a job has removed the tenant, the run says that its user was deleted.
  const outcomes = all.filter(([, , reason]) => reason !== 'They were deleted.');
  expect(mails.messages.filter(({ to }) => to.includes('l@example.com'))).toEqual([]);
  expect(outcomes).toEqual([
    [ann, 'skipped', 'They may not see the dashboard.'],
    [bob, 'skipped', 'They were deactivated.'],
    // Of the group. Who left by themselves is not brought back by it.
    [dan, 'sent', null],
    [null, 'failed', 'This server has no token for Slack: set ORIEL_SLACK_TOKEN.'],
    [null, 'skipped', 'They have no email address.'],
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
    // Stored before such filters were refused.
    await publish(config.widgets as Widgets);
    await world.server.db.pool.query('update notifications set filters = $2 where id = $1', [
      id,
      JSON.stringify([{ member: 'sales.region', operator: 'greater_than' }]),
    ]);
    await world.admin.runNotification({ deploymentId, id });
    await ended(id, 2);
    expect((await runs(id)).map(({ reason }) => reason)).toContain(
      'The filter for sales.region needs a value for greater_than.',
    );
    await expect
      .poll(() => received.slice(before).map(({ body }) => JSON.parse(body).type), PATIENTLY)
      .toEqual(['notification.failed', 'notification.failed']);
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

test.each([
  { operator: 'below', value: 150, told: { US: false, EU: true } },
  { operator: 'no_data', told: { EU: false, nowhere: true, MEA: false } },
  // By 100 %, by nothing, by -50 %.
  { operator: 'changed_by_percent', value: 50, told: { EU: false, US: true, 'US ': false, 'EU ': true } },
] as const)('an alert is told when its value is $operator', async ({ told, ...condition }) => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', ...condition },
  } as Body);
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const { id: userId } = await world.admin.getMe();
  const outcomes: [string, boolean][] = [];
  for (const [i, region] of Object.keys(told).entries()) {
    const value = region.trim();
    await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value } });
    await runNow(id);
    await ended(id, i + 1);
    outcomes.push([region, (await runs(id))[0]!.sent === 1]);
  }
  expect(Object.fromEntries(outcomes)).toEqual(told);
});

test('each reader has an alert of their own, which counts as told only once it was sent', async () => {
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', operator: 'above', value: 250 },
  } as Body);
  const address = (who: string) => `${who}-${id}@example.com`;
  const be = (who: string, region: string) =>
    add(id, [
      {
        type: 'EMBED_USER',
        embedTenantName: tenant,
        externalId: `${who}-${id}`,
        email: address(who),
        userAttributes: [{ name: 'region', value: region }],
      },
    ]);
  await be('low', 'EU');
  await be('high', 'MEA');
  let count = 0;
  const outcomes = async () =>
    (await deliveriesOf(id, (await runs(id))[0]!.id)).map(({ status, reason }) => [status, reason]);
  const run = async () => {
    await runNow(id);
    await ended(id, ++count);
    return outcomes();
  };
  const NOT_MET = ['skipped', 'The condition is not met.'];
  answers.set(address('high'), answer(451, 'try again later'));
  await runNow(id);
  await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
  // What is true at the next attempt decides.
  answers.delete(address('high'));
  await be('high', 'EU');
  await retryNow();
  await ended(id, ++count);
  expect(await outcomes()).toEqual([NOT_MET, NOT_MET]);
  await be('high', 'MEA');
  answers.set(address('high'), answer(550, 'no such mailbox'));
  expect(await run()).toEqual([NOT_MET, ['failed', expect.stringContaining('no such mailbox')]]);
  answers.delete(address('high'));
  expect(await run()).toEqual([NOT_MET, ['sent', null]]);
  expect(await run()).toEqual([NOT_MET, ['skipped', 'The condition was met before, and still is.']]);
  expect(mails.messages.filter(({ to }) => to.includes(address('high')))).toHaveLength(1);
});

test('the owner is told of trouble once a day, also one who is an embed user', async () => {
  const name = unique('Failing');
  const { id } = await create({ name });
  const { email } = await world.admin.getMe();
  const recipient = (externalId: string): Recipients[number] => ({
    type: 'EMBED_USER',
    embedTenantName: tenant,
    externalId,
    email: `${externalId}@example.com`,
  });
  await add(id, [recipient(`away-${id}`), recipient(`owner-${id}`)]);
  answers.set(`away-${id}@example.com`, answer(550, 'no such mailbox'));
  const told = () =>
    mails.messages.filter(
      ({ parsed }) => parsed.subject?.startsWith('Trouble with') && parsed.subject.includes(name),
    );
  let count = 0;
  const run = async () => {
    await runNow(id);
    await ended(id, ++count);
    await expect
      .poll(
        () => sql("select id from jobs where kind = 'notifications.tell-owner' and state <> 'done'"),
        PATIENTLY,
      )
      .toEqual([]);
    return told().map(({ to }) => to.join());
  };
  expect(await run()).toEqual([email]);
  expect(told()[0]!.parsed.text).toContain('no such mailbox');
  expect(await run()).toEqual([email]);
  await sql(
    `update notifications set owner_told_at = now() - interval '25 hours',
       user_id = (select id from users where external_id = $2) where id = $1`,
    [id, `owner-${id}`],
  );
  expect(await run()).toEqual([email, `owner-${id}@example.com`]);
});

test('an address without an account gets the view of the owner, while the settings let schedules reach anybody', async () => {
  const { id } = await create();
  const address = `stranger-${id}@example.org`;
  const { id: userId } = await world.admin.getMe();
  await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value: 'US' } });
  await world.admin.updateTenantSettings({ body: { notificationRecipients: 'anybody' } });
  try {
    await add(id, [{ type: 'USER', email: address }]);
    await runNow(id);
    await ended(id);
    const { parsed } = mails.messages.find(({ to }) => to.includes(address))!;
    expect(numbersIn(parsed.text!)[0]).toBe(figuresOf('US').figure);
  } finally {
    await world.admin.updateTenantSettings({ body: { notificationRecipients: 'known' } });
  }
  await runNow(id);
  await ended(id, 2);
  expect(await deliveriesOf(id, (await runs(id))[0]!.id)).toMatchObject([
    { status: 'skipped', reason: 'The settings of the account do not let schedules reach this address.' },
  ]);
});

test('messages over the limit of an embed tenant wait for the next hour', async () => {
  const { id } = await create();
  const embedTenantName = unique('busy').replaceAll('_', '-');
  await add(
    id,
    ['a', 'b', 'c'].map((who) => ({
      type: 'EMBED_USER',
      embedTenantName,
      externalId: `${who}-${id}`,
      email: `${who}-${id}@example.com`,
    })),
  );
  await world.admin.updateTenantSettings({ body: { embedNotificationsPerHour: 2 } });
  try {
    await runNow(id);
    await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
    const [run] = await runs(id);
    expect(run).toMatchObject({ sent: 2, waiting: 1, skipped: 0, failed: 0 });
    const [waiting] = await sql(
      `select reason, extract(epoch from next_attempt_at - now()) / 60 as minutes from notification_deliveries
       where run_id = $1 and status = 'waiting'`,
      [run!.id],
    );
    expect(waiting.reason).toContain('waits for the next');
    expect([Number(waiting.minutes) > 60, Number(waiting.minutes) <= 70]).toEqual([true, true]);
    await sql(
      "update notification_deliveries set finished_at = now() - interval '61 minutes' where run_id = $1",
      [run!.id],
    );
    await retryNow();
    await ended(id);
    expect((await runs(id))[0]).toMatchObject({ state: 'done', sent: 3 });
  } finally {
    await world.admin.updateTenantSettings({ body: { embedNotificationsPerHour: 1000 } });
  }
});

test('after a due time, the page of a reader is answered from what the run has read', async () => {
  const { id } = await create();
  const recipient = { embedTenantName: tenant, externalId: `early-${id}` };
  const userAttributes = [{ name: 'region', value: 'LATAM' }];
  await add(id, [{ type: 'EMBED_USER', ...recipient, email: `early-${id}@example.com`, userAttributes }]);
  const { client } = await world.embedded({ deploymentId, ...recipient });
  const page = async () =>
    (await client.load({ deploymentId, body: { query: { measures: ['sales.revenue'] } } })) as object as {
      lastRefreshTime: string;
    };
  const { lastRefreshTime: before } = await page();
  await comes(id, minutesAgo(1));
  await ended(id);
  const finishedAt = Date.parse((await runs(id))[0]!.finishedAt!);
  const { lastRefreshTime } = await page();
  expect([lastRefreshTime > before, Date.parse(lastRefreshTime) <= finishedAt]).toEqual([true, true]);
});

test('a long run goes behind others after each turn, and everybody gets it once', async () => {
  const { id } = await create();
  await add(
    id,
    REGIONS.flatMap((region, i) =>
      ['x', 'y'].map((who) => ({
        type: 'EMBED_USER' as const,
        embedTenantName: tenant,
        externalId: `${who}${i}-${id}`,
        email: `${who}${i}-${id}@example.com`,
        userAttributes: [{ name: 'region', value: region }],
      })),
    ),
  );
  const { ms } = TURN;
  TURN.ms = 0;
  try {
    const { id: runId } = await runNow(id);
    await ended(id);
    expect((await runs(id))[0]).toMatchObject({ state: 'done', sent: 10, failed: 0, skipped: 0 });
    const jobs = await sql("select run_at > created_at as resumed from jobs where payload ->> 'runId' = $1", [
      String(runId),
    ]);
    expect(jobs).toEqual([{ resumed: true }]);
    const got = mails.messages.filter(({ to }) => /^[xy]\d-/.test(to[0]!)).map(({ to }) => to.join());
    expect([got.length, new Set(got).size]).toEqual([10, 10]);
    // Each turn draws anew for those who are left.
    expect((await runs(id))[0]!.renderings).toBeGreaterThanOrEqual(5);
  } finally {
    TURN.ms = ms;
  }
});

test('a creator gets nothing while creator mode is switched off', async () => {
  const { id } = await create();
  const externalId = `maker-${id}`;
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  const recipient = { embedTenantName: tenant, externalId, email: `${externalId}@example.com` };
  await add(id, [{ type: 'EMBED_USER', ...recipient }]);
  // As if a creator had added them to a schedule of their embed tenant.
  await sql('update notification_recipients set creator_mode = true where notification_id = $1', [id]);
  const outcome = async (count: number) => {
    await runNow(id);
    await ended(id, count);
    const [delivery] = await deliveriesOf(id, (await runs(id))[0]!.id);
    return [delivery!.status, delivery!.reason];
  };
  const OFF = ['skipped', 'Creator mode is switched off in the settings of the account.'];
  await world.admin.updateTenantSettings({ body: { useCreatorMode: false } });
  expect(await outcome(1)).toEqual(OFF);
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  expect(await outcome(2)).not.toEqual(OFF);
});

test('servers renew the rows of each reader of a run, whoever of them fails', async () => {
  const { id } = await create();
  const names = ['left', 'fails', 'stays'].map((who) => `${who}-${id}`);
  await add(
    id,
    names.map((externalId) => ({
      type: 'EMBED_USER',
      embedTenantName: tenant,
      externalId,
      email: `${externalId}@example.com`,
      userAttributes: [{ name: 'region', value: 'EU' }],
    })),
  );
  await runNow(id);
  await ended(id);
  const [run] = await runs(id);
  const readers = await sql(
    `select x.id, x.user_id as "userId" from notification_deliveries x where x.run_id = $1 order by x.id`,
    [run!.id],
  );
  await sql('update notification_recipients set unsubscribed_at = now() where user_id = $1', [
    readers[0].userId,
  ]);
  const renewed: number[] = [];
  let tell = (_payload: string) => {};
  const { db } = world.server;
  const log = { debug() {} };
  const [version] = await sql(
    `select v.id, v.config, v.snapshots from dashboard_versions v join dashboards d on d.id = v.dashboard_id
     where v.number = d.version_number and d.id = $1`,
    [dashboardId],
  );
  const warming = createWarming(
    { db, log, listener: { on: (_: string, told: typeof tell) => (tell = told) } } as never,
    {
      queries: {
        run: async ({ actor }: { actor: { userId: number } }) => {
          if (actor.userId === Number(readers[1].userId)) throw new Error('the source is away');
          renewed.push(actor.userId);
        },
      } as never,
      readPublished: async () => version,
      tenantSettings: {
        current: async () => ({ useCreatorMode: false, notificationRecipients: 'known' }),
      } as never,
    },
  );
  warming.start();
  tell(JSON.stringify({ runId: run!.id, deliveryIds: readers.map((reader) => Number(reader.id)) }));
  await expect.poll(() => renewed.length, PATIENTLY).toBe(2);
  await warming.stop();
  expect(new Set(renewed)).toEqual(new Set([Number(readers[2].userId)]));
});

test('temporary refusals are tried again, permanent ones are shown at the recipient, and the link in the mail unsubscribes', async () => {
  const { id } = await create();
  const names = ['calm', 'busy', 'gone', 'lost'];
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
    // The connection ended after the message and before the answer: it may have arrived, so it is not sent again.
    ['unknown', 1],
  ]);
  await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
  answers.delete(addressOf('busy'));
  await retryNow();
  await ended(id);
  expect(await state()).toEqual([
    ['sent', 1],
    ['sent', 2],
    ['failed', 1],
    ['unknown', 1],
  ]);
  expect((await runs(id))[0]).toMatchObject({ state: 'failed', sent: 2, failed: 2, renderings: 2 });
  const recipients = async () => (await world.admin.getRecipients({ deploymentId, id })).items;
  expect((await recipients()).map(({ problem }) => problem)).toEqual([
    null,
    null,
    expect.stringContaining('no such mailbox'),
    null,
  ]);

  const { raw } = mails.messages.find(({ to }) => to.includes(addressOf('calm')))!;
  expect(raw).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click');
  const [, url] = /^List-Unsubscribe: <([^>]+)>/m.exec(raw.replace(/\r\n[ \t]+/g, ' '))!;
  const isOut = async () => (await recipients()).map(({ isUnsubscribed }) => isUnsubscribed);
  const page = await fetch(url!);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Unsubscribe</button>')]);
  expect(await isOut()).toEqual([false, false, false, false]);
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
  expect((await fetch(`${url}x`, { method: 'POST', body })).status).toBe(400);
  expect((await fetch(url!, { method: 'POST', body })).status).toBe(200);
  expect(await isOut()).toEqual([true, false, false, false]);
});
