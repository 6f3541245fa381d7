/** Runs of notifications: what ran when, who is sent it, once, and what is said of those who are not. */
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { answer } from '../../../test/mail-server.ts';
import {
  add,
  answers,
  comes,
  create,
  dashboardId,
  deliveriesOf,
  deploymentId,
  ended,
  figuresOf,
  hookUrl,
  mails,
  minutesAgo,
  numbersIn,
  PATIENTLY,
  publish,
  REGIONS,
  type Recipients,
  received,
  retryNow,
  runNow,
  runs,
  sql,
  tenant,
  useNotifiedSales,
  type Widgets,
  world,
} from '../../../test/notified-sales.ts';
import { unique } from '../../../test/world.ts';
import { TURN } from './run-job.ts';
import { claimDelivery } from './runs.store.ts';
import { createRowWarmer } from './warming.ts';

useNotifiedSales();

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

test('mails lead people to the dashboard, and embed users to the page of the host if there is a template, by ids alone', async () => {
  const { id, dashboardPublicId } = await create({
    name: 'Monday\r\nBcc: evil@example.com',
    filters: [{ member: 'sales.region', operator: 'equals', value: ['EU'] }],
  });
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
    const link = parsed.text!.match(/^Open the dashboard: (\S+)/m)?.[1];
    // No address tells a filter or a row.
    const addresses = [...String(parsed.html).matchAll(/href="([^"]*)"/g)].map(([, address]) => address!);
    const leaving = addresses.filter((one) =>
      one.startsWith(`${world.url}/notifications/unsubscribe?token=`),
    );
    expect(leaving).toHaveLength(1);
    expect(new Set(addresses)).toEqual(new Set([...(link ? [link] : []), ...leaving]));
    return link;
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

test('a mail that was sent and could not be noted as sent is not sent again', async () => {
  const { id } = await create();
  const externalId = `once-${id}`;
  const email = `${externalId}@example.com`;
  await add(id, [{ type: 'EMBED_USER', embedTenantName: tenant, externalId, email }]);
  // Sequences count on when the transaction fails.
  await sql('create sequence refusals');
  await sql(`create function refuse_once() returns trigger language plpgsql as $$ begin
    if nextval('refusals') = 1 then raise exception 'the disk is full'; end if; return new; end $$`);
  await sql(`create trigger refuse_once before update on notification_deliveries
    for each row when (new.status = 'sent') execute function refuse_once()`);
  try {
    await runNow(id);
    await ended(id);
  } finally {
    await sql('drop trigger refuse_once on notification_deliveries');
    await sql('drop function refuse_once');
    await sql('drop sequence refusals');
  }
  expect(mails.messages.filter(({ to }) => to.includes(email))).toHaveLength(1);
  const [run] = await runs(id);
  expect(await deliveriesOf(id, run!.id)).toMatchObject([{ status: 'unknown', attempts: 1 }]);
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
    await retryNow(id);
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
    // Each turn draws anew for the remaining readers.
    expect((await runs(id))[0]!.renderings).toBeGreaterThanOrEqual(5);
  } finally {
    TURN.ms = ms;
  }
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
  const warming = createRowWarmer(
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
  await retryNow(id);
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
  answers.delete(addressOf('gone'));
  await runNow(id);
  await ended(id, 2);
  expect((await recipients()).map(({ problem }) => problem)).toEqual([null, null, null, null]);

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

test('the messages of an embed tenant are counted one after the other, whichever runs they are of', async () => {
  const { id } = await create();
  const [run] = await sql(
    `insert into notification_runs (notification_id, state) values ($1, 'missed') returning id`,
    [id],
  );
  const deliveryOf = async (embedTenant: string, target: string) =>
    Number(
      (
        await sql(
          `insert into notification_deliveries (run_id, target, type, address, embed_tenant)
           values ($1, $2, 'EMBED_USER', 'a@example.com', $3) returning id`,
          [run.id, target, embedTenant],
        )
      )[0].id,
    );
  const busy = unique('busy');
  const [first, second, other] = [
    await deliveryOf(busy, 'first'),
    await deliveryOf(busy, 'second'),
    await deliveryOf(unique('calm'), 'other'),
  ];
  const { db } = world.server;
  const claim = (delivery: number, meanwhile = async () => {}) =>
    db.transaction(async (tx) => {
      const isClaimed = await claimDelivery(tx, delivery, 1);
      await meanwhile();
      return isClaimed;
    });
  let late: Promise<boolean> | undefined;
  const isFirst = await claim(first, async () => {
    expect(await claim(other)).toBe(true);
    late = claim(second);
    const waiting = `select from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and not granted and datname = current_database()`;
    await expect.poll(async () => (await sql(waiting)).length, PATIENTLY).toBeGreaterThan(0);
  });
  expect([isFirst, await late]).toEqual([true, false]);
});

test('embed tenants and the main workspace take turns, however many schedules one of them has', async () => {
  const due = minutesAgo(1);
  const [many, few] = [unique('many'), unique('few')].map((name) => name.replaceAll('_', '-'));
  const keys: string[] = [];
  for (const embedTenantName of [many, few]) {
    await world.embedded({ deploymentId, embedTenantName, externalId: 'ann' });
    const [row] = await sql('select content_key as key from embed_tenants where name = $1', [
      embedTenantName,
    ]);
    keys.push(row.key);
  }
  const owners = [keys[0], keys[0], keys[0], keys[1], null];
  const ids: number[] = [];
  for (const key of owners) {
    const { id } = await create();
    await sql('update notifications set embed_tenant = $2, next_due_at = $3::timestamptz where id = $1', [
      id,
      key,
      due,
    ]);
    ids.push(id);
  }
  await sql(
    `insert into jobs (kind, payload, max_attempts, lane)
     select 'notifications.due', jsonb_build_object('deploymentId', $2::int, 'sharer', n.embed_tenant, 'notificationId', n.id),
       100, 'clock'
     from unnest($1::int[]) with ordinality as given (id, place) join notifications n on n.id = given.id order by place`,
    [ids, deploymentId],
  );
  await expect
    .poll(
      async () =>
        sql("select id from notification_runs where notification_id = any($1) and state = 'done'", [ids]),
      PATIENTLY,
    )
    .toHaveLength(owners.length);
  const begun = await sql(
    `select notification_id as id from notification_runs where notification_id = any($1) order by started_at`,
    [ids],
  );
  // Which of the schedules of one owner is the first depends on which of their due times was handled first.
  const ownerOf = new Map(ids.map((id, i) => [id, owners[i]]));
  const [most, other] = keys;
  expect(begun.map(({ id }) => ownerOf.get(Number(id)))).toEqual([most, other, null, most, most]);
});
