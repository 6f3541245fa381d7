/** Webhooks as receivers see them: real requests, which an implementation of others verifies. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { statementsDuring } from '../../../test/statements.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { forgetWebhookSecrets } from './index.ts';

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_ALLOW_PRIVATE_REMOTES: 'true' } });
  deploymentId = (await world.deployment()).id;
});
afterAll(() => world.stop());

interface ReceivedRequest {
  path: string;
  headers: Record<string, string>;
  body: string;
}
type Answer = (request: ReceivedRequest, response: ServerResponse, incoming: IncomingMessage) => void;

const servers: Server[] = [];
afterEach(async () => {
  for (const { id } of (await world.admin.listWebhooks({})).items) await world.admin.deleteWebhook({ id });
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A receiver, and what it got. */
async function receiver(answer: Answer = (_request, response) => response.writeHead(204).end()) {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const part of incoming) body += part;
    const request = { path: incoming.url!, headers: incoming.headers as Record<string, string>, body };
    received.push(request);
    answer(request, response, incoming);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/hook`;
  return { url, received, types: () => received.map(({ body }) => JSON.parse(body).type as string) };
}

type Events = Parameters<World['admin']['createWebhook']>[0]['body']['events'];
const create = (url: string, events: Events = ['*']) => world.admin.createWebhook({ body: { url, events } });
const deliveries = async (id: number) => (await world.admin.listWebhookDeliveries({ id })).items;
const folder = () => world.admin.createFolder({ deploymentId, body: { name: unique('folder') } });
const run = (text: string, values: unknown[] = []) => world.server.db.pool.query(text, values);
/** As if the pauses between attempts were over. */
const hurry = async () => {
  await run(
    "update webhook_deliveries set next_attempt_at = now(), lease_until = null where status = 'pending'",
  );
  await run("update jobs set run_at = now() where kind = 'webhooks.deliver' and state = 'waiting'");
  await run('notify oriel_jobs');
};
const PATIENTLY = { timeout: 30_000 };

test('a change is told with its ids and nothing else, and the foreign verifier accepts the signature', async () => {
  const { url, received } = await receiver();
  const { id, secret } = await create(url, ['folder.created', 'user.deactivated', 'workbook.deleted']);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const made = await folder();
  await expect.poll(() => received.length, PATIENTLY).toBe(1);
  const [{ headers, body }] = received as [ReceivedRequest];
  expect(new Webhook(secret).verify(body, headers)).toEqual({
    type: 'folder.created',
    timestamp: expect.stringMatching(/Z$/),
    data: {
      id: String(made.id),
      deploymentId,
      embedTenantName: null,
      userId: expect.any(Number),
      apiKeyId: expect.any(Number),
      operation: 'createFolder',
      requestId: expect.any(String),
    },
  });
  const other = new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`);
  expect(() => other.verify(body, headers)).toThrow();
  await expect
    .poll(() => deliveries(id))
    .toMatchObject([{ status: 'delivered', attempts: 1, payload: body }]);
  expect(JSON.stringify(await world.admin.getWebhook({ id }))).not.toContain(secret.slice(6));

  // What was not asked for is not sent; a deactivation has a name of its own, and so has a deletion in bulk.
  const person = await world.person();
  await world.admin.updateUser({ id: person.userId, body: { isDeactivated: true } });
  const workbook = await world.admin.createWorkbook({ deploymentId, body: {} });
  const items = [{ type: 'WORKBOOK' as const, id: workbook.id }];
  await world.admin.bulkDeleteWorkspaceObjects({ deploymentId, body: { items } });
  await expect
    .poll(() => received.map((one) => JSON.parse(one.body).type), PATIENTLY)
    .toEqual(['folder.created', 'user.deactivated', 'workbook.deleted']);
});

test('builds, publications and revocations are told', async () => {
  const { url, types } = await receiver();
  await create(url, ['build.failed', 'build.succeeded', 'dashboard.published', 'embed_session.revoked']);
  const { id } = await world.deployment();
  await expect.poll(types, PATIENTLY).toContain('build.succeeded');
  const workbook = await world.admin.createWorkbook({ deploymentId: id, body: {} });
  await world.admin.publishDashboard({
    deploymentId: id,
    workbookId: workbook.id,
    body: { config: { widgets: [] } },
  });
  await world.embedded({ deploymentId: id, externalId: 'ada' });
  await world.admin.revokeEmbedSessions({ body: { deploymentId: id } });
  await world.admin.createBranch({ deploymentId: id, body: { name: 'broken' } });
  await world.admin.startDevMode({ deploymentId: id, body: { branchName: 'broken' } });
  const files = [{ path: 'model/cubes/a.yml', content: 'cubes: [{ name: a, sql_tabel: a }]' }];
  await world.admin.updateFiles({ deploymentId: id, body: { branchName: 'broken', files } as never });
  await expect
    .poll(types, PATIENTLY)
    .toEqual(expect.arrayContaining(['dashboard.published', 'embed_session.revoked', 'build.failed']));
});

/** Jobs that were begun before may still look at what is there. */
const isOutbox = (text: string) => text.includes('insert into webhook_deliveries');

test('an event is part of the transaction of its change, and without a webhook nothing is written and no statement is sent', async () => {
  const quiet = await statementsDuring(world.server.db, folder);
  expect(quiet.filter(({ text }) => isOutbox(text))).toEqual([]);
  const { url, received } = await receiver();
  await create(url, ['folder.created']);
  const uninteresting = await statementsDuring(world.server.db, () =>
    world.admin.createWorkbook({ deploymentId, body: {} }),
  );
  expect(uninteresting.filter(({ text }) => isOutbox(text))).toEqual([]);
  const made = await folder();
  await expect
    .poll(() => received.map(({ body }) => JSON.parse(body).data.id), PATIENTLY)
    .toEqual([String(made.id)]);
  // The time of a row is that of its transaction, to the microsecond.
  const { rows } = await run(
    `select f.created_at = d.created_at as "isSame" from folders f
     join webhook_deliveries d on d.resource = 'folder:' || f.id where f.id = $1`,
    [made.id],
  );
  expect(rows).toEqual([{ isSame: true }]);
});

test('events of one resource arrive in order, although an attempt fails, and others overtake them', async () => {
  let failures = 2;
  const kept = await folder();
  const { url, received } = await receiver(({ body }, response) => {
    const isFirst = JSON.parse(body).data.id === String(kept.id);
    response.writeHead(isFirst && failures-- > 0 ? 500 : 204).end();
  });
  const { id } = await create(url, ['folder.updated', 'folder.created']);
  for (let i = 0; i < 5; i++) {
    await world.admin.updateFolder({ deploymentId, folderId: kept.id, body: { name: `name ${i}` } });
  }
  const other = await folder();
  const taken = async () =>
    (await deliveries(id))
      .filter(({ status }) => status === 'delivered')
      .map(({ payload }) => JSON.parse(payload).data.id);
  await expect.poll(taken, PATIENTLY).toEqual([String(other.id)]);
  expect(await world.admin.getWebhook({ id })).toMatchObject({ isEnabled: true });
  await expect
    .poll(async () => {
      await hurry();
      return (await taken()).length;
    }, PATIENTLY)
    .toBe(6);
  const order = received.filter(({ body }) => JSON.parse(body).data.id === String(kept.id));
  const ids = order.map(({ headers }) => headers['webhook-id']);
  // The first message three times, with one id, and then each of the others once.
  expect(new Set(ids.slice(0, 3)).size).toBe(1);
  expect(new Set(ids).size).toBe(5);
  const inOrder = (await deliveries(id)).reverse().filter(({ event }) => event === 'folder.updated');
  expect(ids.slice(2)).toEqual(inOrder.map(({ messageId }) => messageId));
});

test('a delivery whose sender disappeared is sent again with the same id', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url, ['folder.created']);
  // As a sender leaves it that was killed between the request and the record of its answer.
  await run(
    `create function pretend() returns trigger language plpgsql as $$ begin
       new.lease_token := gen_random_uuid(); new.lease_until := now() + interval '1 hour'; new.attempts := 1; return new; end $$`,
  );
  await run(
    'create trigger pretend before insert on webhook_deliveries for each row execute function pretend()',
  );
  await folder();
  await run('drop trigger pretend on webhook_deliveries');
  await run('drop function pretend');
  const [pending] = await deliveries(id);
  expect(pending).toMatchObject({ status: 'pending', attempts: 1 });
  // Another sender has leased it, so it is not sent.
  await folder();
  await expect.poll(() => received.length, PATIENTLY).toBe(1);
  expect(received[0]!.headers['webhook-id']).not.toBe(pending!.messageId);
  await hurry();
  await expect
    .poll(() => received.map(({ headers }) => headers['webhook-id']), PATIENTLY)
    .toContain(pending!.messageId);
  await expect
    .poll(() => deliveries(id))
    .toMatchObject([{ attempts: 1 }, { status: 'delivered', attempts: 2 }]);
});

test('after a rotation both secrets verify until the overlap ends, and none of a leaked one', async () => {
  const { url, received } = await receiver();
  const first = await create(url, ['folder.created']);
  const second = await world.admin.rotateWebhookSecret({ id: first.id, body: { overlapSeconds: 3600 } });
  expect(second.secret).not.toBe(first.secret);
  expect(Date.parse(second.previousSecretEndsAt!)).toBeGreaterThan(Date.now());
  const verifies = (secret: string, { body, headers }: ReceivedRequest) => {
    try {
      return Boolean(new Webhook(secret).verify(body, headers));
    } catch {
      return false;
    }
  };
  await folder();
  await expect.poll(() => received.length, PATIENTLY).toBe(1);
  expect([first, second].map(({ secret }) => verifies(secret, received[0]!))).toEqual([true, true]);
  const third = await world.admin.rotateWebhookSecret({ id: first.id, body: { overlapSeconds: 0 } });
  await folder();
  await expect.poll(() => received.length, PATIENTLY).toBe(2);
  expect([first, second, third].map(({ secret }) => verifies(secret, received[1]!))).toEqual([
    false,
    false,
    true,
  ]);
  const { rows } = await run('select secret from webhook_secrets where webhook_id = $1', [first.id]);
  for (const { secret } of rows) expect(String(secret)).not.toContain('whsec_');
});

test('what was delivered or given up can be sent again, with the same id and body', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url, ['folder.created']);
  await folder();
  await expect.poll(() => deliveries(id), PATIENTLY).toMatchObject([{ status: 'delivered' }]);
  const deliveryId = (await deliveries(id))[0]!.id;
  expect(await world.admin.redeliverWebhook({ id, deliveryId })).toMatchObject({
    status: 'pending',
    attempts: 0,
  });
  await expect.poll(() => received.length, PATIENTLY).toBe(2);
  const sent = received.map(({ headers, body }) => [headers['webhook-id'], body]);
  expect(sent[1]).toEqual(sent[0]);
  const foreign = await create(url);
  const elsewhere = world.admin.redeliverWebhook({ id: foreign.id, deliveryId });
  await expect(elsewhere).rejects.toMatchObject({ status: 404, code: 'webhook_delivery_not_found' });
  await world.admin.updateWebhook({ id, body: { isEnabled: false } });
  await expect(world.admin.redeliverWebhook({ id, deliveryId })).rejects.toMatchObject({
    code: 'webhook_disabled',
  });
});

describe('a receiver', () => {
  test('that never answers, or answers without an end, delays no other', async () => {
    const silent = await receiver(() => {});
    const endless = await receiver((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 5);
      response.on('close', () => clearInterval(timer));
    });
    const { url, received } = await receiver();
    const [bad, flood] = [await create(silent.url), await create(endless.url)];
    await create(url, ['folder.created']);
    for (let i = 0; i < 8; i++) await folder();
    await expect.poll(() => received.length, PATIENTLY).toBe(8);
    // At most three at a time, whatever waits.
    expect(silent.received.length).toBeLessThanOrEqual(3);
    await expect
      .poll(
        async () => (await deliveries(flood.id)).filter(({ error }) => error?.includes('65536')).length,
        PATIENTLY,
      )
      .toBeGreaterThan(0);
    await expect
      .poll(async () => (await deliveries(bad.id)).some(({ error }) => error !== null), { timeout: 60_000 })
      .toBe(true);
    expect((await world.admin.getWebhook({ id: bad.id })).failingSince).not.toBeNull();
  });

  test('that redirects is not followed', async () => {
    const aim = await receiver();
    const { url } = await receiver((_request, response) =>
      response.writeHead(307, { location: aim.url }).end(),
    );
    const { id } = await create(url, ['folder.created']);
    await folder();
    await expect
      .poll(() => deliveries(id), PATIENTLY)
      .toMatchObject([{ responseStatus: 307, status: 'pending' }]);
    expect(aim.received).toEqual([]);
  });

  test('that is gone is switched off, and says so', async () => {
    const { url, received } = await receiver((_request, response) => response.writeHead(410).end());
    const { id } = await create(url, ['folder.created']);
    await folder();
    await expect
      .poll(() => world.admin.getWebhook({ id }), PATIENTLY)
      .toMatchObject({
        isEnabled: false,
        notice: expect.stringContaining('410'),
      });
    await folder();
    await expect.poll(() => deliveries(id)).toMatchObject([{ status: 'failed' }]);
    expect(received).toHaveLength(1);
    expect(await world.admin.updateWebhook({ id, body: { isEnabled: true } })).toMatchObject({
      notice: null,
    });
  });

  test('that fails for a day is switched off, and what it missed is sent when it is switched on again', async () => {
    let isBroken = true;
    const { url } = await receiver((_request, response) => response.writeHead(isBroken ? 503 : 204).end());
    const { id } = await create(url, ['folder.created']);
    await folder();
    await expect
      .poll(() => deliveries(id), PATIENTLY)
      .toMatchObject([{ status: 'pending', responseStatus: 503 }]);
    await run("update webhooks set failing_since = now() - interval '25 hours' where id = $1", [id]);
    await hurry();
    await expect
      .poll(() => world.admin.getWebhook({ id }), PATIENTLY)
      .toMatchObject({
        isEnabled: false,
        notice: expect.stringContaining('for a day'),
      });
    isBroken = false;
    await world.admin.updateWebhook({ id, body: { isEnabled: true } });
    await hurry();
    await expect.poll(() => deliveries(id), PATIENTLY).toMatchObject([{ status: 'delivered' }]);
    expect(await world.admin.getWebhook({ id })).toMatchObject({ isEnabled: true, failingSince: null });
  });
});

test('a webhook whose secret was lost is off until it has another one', async () => {
  const { url, received } = await receiver();
  const { id } = await create(url, ['folder.created']);
  await world.server.db.transaction(forgetWebhookSecrets);
  expect(await world.admin.getWebhook({ id })).toMatchObject({
    isEnabled: false,
    notice: expect.stringContaining('lost'),
  });
  const switchOn = () => world.admin.updateWebhook({ id, body: { isEnabled: true } });
  await expect(switchOn()).rejects.toMatchObject({ status: 409, code: 'webhook_without_secret' });
  const { secret } = await world.admin.rotateWebhookSecret({ id, body: {} });
  await switchOn();
  await folder();
  await expect.poll(() => received.length, PATIENTLY).toBe(1);
  expect(new Webhook(secret).verify(received[0]!.body, received[0]!.headers)).toBeDefined();
});

test('there are at most twenty webhooks, also if they are made at once', async () => {
  const made = await Promise.allSettled(
    Array.from({ length: 22 }, () => create('http://127.0.0.1:1/', ['role.created'])),
  );
  expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
  expect(made.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { status: 409, code: 'webhook_limit_reached' },
  });
});

test('a test goes to one webhook only, and what a receiver lost is sent again by time', async () => {
  const [one, other] = [await receiver(), await receiver()];
  const { id, secret } = await create(one.url, ['folder.created']);
  await create(other.url, ['*']);
  const tested = await world.admin.testWebhook({ id });
  expect(tested).toMatchObject({ event: 'webhook.test', status: 'pending' });
  await expect.poll(one.types, PATIENTLY).toEqual(['webhook.test']);
  const [{ headers, body }] = one.received as [ReceivedRequest];
  expect(headers['webhook-id']).toBe(tested.messageId);
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: 'webhook.test' });

  const names = [await folder(), await folder(), await folder()].map(({ id }) => String(id));
  await expect.poll(() => one.received.length, PATIENTLY).toBe(4);
  await expect
    .poll(async () => (await deliveries(id)).every(({ status }) => status === 'delivered'), PATIENTLY)
    .toBe(true);
  const [newest, middle] = await deliveries(id);
  const again = (body: { since: string; until?: string; status?: 'delivered' | 'failed' }) =>
    world.admin.redeliverWebhookRange({ id, body });
  one.received.length = 0;
  expect(await again({ since: middle!.createdAt, status: 'failed' })).toEqual({
    count: 0,
    lastCreatedAt: null,
  });
  expect(await again({ since: middle!.createdAt })).toEqual({ count: 2, lastCreatedAt: newest!.createdAt });
  const idOf = ({ body }: ReceivedRequest) => JSON.parse(body).data.id as string;
  await expect.poll(() => one.received.map(idOf).sort(), PATIENTLY).toEqual(names.slice(1).sort());
  expect(one.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(
    [newest!.messageId, middle!.messageId].sort(),
  );
  await world.admin.updateWebhook({ id, body: { isEnabled: false } });
  await expect(world.admin.testWebhook({ id })).rejects.toMatchObject({ code: 'webhook_disabled' });
  await expect(again({ since: middle!.createdAt })).rejects.toMatchObject({ code: 'webhook_disabled' });
  expect(other.types()).not.toContain('webhook.test');
});
