import { everydayActions } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServerLog } from '../../../test/server-log.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { type AuditEvent, createRefusalAudit, recordEvent } from './events.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const rows = async (where: string, values: unknown[] = []) =>
  (await world.server.db.pool.query(`select * from audit_log where ${where} order by id`, values)).rows;

let counter = 0;
/** An event of an operation that no other test uses. */
const failedSignIn = (more: Partial<AuditEvent> = {}): AuditEvent => ({
  operation: `login-${++counter}`,
  resourceType: 'failedSignIn',
  resourceId: '7',
  userId: null,
  ip: '192.0.2.1',
  requestId: null,
  ...more,
});
const attemptsOf = (events: AuditEvent[], options?: Parameters<typeof createRefusalAudit>[2]) => {
  const attempts = createRefusalAudit(world.server.db, createServerLog(), options);
  for (const event of events) attempts.record(event);
  return attempts.stop();
};

test('a refusal of an operation for admins is an entry that names the caller, the address and the reason', async () => {
  const viewer = await world.person();
  const response = await world.raw('DELETE', '/api/v1/users/1?newOwnerId=secret', {
    apiKey: viewer.apiKey,
    headers: { 'x-request-id': 'refused-deletion' },
  });
  expect(response.status).toBe(403);
  await expect.poll(() => rows('user_id = $1', [viewer.userId])).toHaveLength(1);
  expect(await rows('user_id = $1', [viewer.userId])).toMatchObject([
    {
      operation: 'deleteUser',
      resource_type: 'refusal',
      resource_id: '/api/v1/users/1',
      api_key_id: viewer.apiKeyId,
      ip: '127.0.0.1',
      request_id: 'refused-deletion',
      before: null,
      after: { code: 'forbidden' },
    },
  ]);
});

test('the refusal of a scoped key names the deployment', async () => {
  const [own, other] = [await world.deployment(), await world.deployment()];
  const scoped = await world.person({ roles: ['Admin'], deploymentIds: [own.id] });
  await expect(scoped.client.deleteDeployment({ deploymentId: other.id })).rejects.toMatchObject({
    code: 'outside_key_scope',
  });
  await expect
    .poll(() => rows("user_id = $1 and resource_type = 'refusal'", [scoped.userId]))
    .toMatchObject([{ operation: 'deleteDeployment', deployment_id: other.id }]);
});

test('a refusal of an everyday operation, and any other error, is no entry', async () => {
  const { id } = await world.deployment();
  const viewer = await world.person();
  await expect(viewer.client.createFolder({ deploymentId: id, body: { name: 'a' } })).rejects.toMatchObject({
    status: 403,
  });
  await expect(world.admin.deleteUser({ id: 999_999 })).rejects.toMatchObject({ status: 404 });
  await expect(viewer.client.deleteUser({ id: 1 })).rejects.toMatchObject({ status: 403 });
  await expect.poll(() => rows('user_id = $1', [viewer.userId])).toMatchObject([{ operation: 'deleteUser' }]);
  expect(await rows("resource_type = 'refusal' and resource_id like '%999999'")).toEqual([]);
});

test('repeated attempts of a caller within a minute are counted, and are two entries', async () => {
  const event = failedSignIn();
  await attemptsOf([
    event,
    ...Array.from({ length: 999 }, (_, i) => ({ ...event, ip: '192.0.2.1', requestId: `attempt-${i}` })),
  ]);
  expect(await rows('operation = $1', [event.operation])).toMatchObject([
    { after: {}, request_id: null },
    { after: { repeats: 999 }, request_id: 'attempt-998' },
  ]);
});

test('attempts of more callers than the limit are counted together, and no number of them fills the log', async () => {
  const event = failedSignIn({ resourceId: 'unknown', details: { code: 'wrong' } });
  const events = Array.from({ length: 500 }, (_, i) => ({ ...event, ip: `192.0.${i >> 8}.${i & 255}` }));
  await attemptsOf([...events, ...events], { countsMax: 10 });
  const entries = await rows('operation = $1', [event.operation]);
  expect(entries).toHaveLength(21);
  expect(entries.reduce((sum, { after }) => sum + (after.repeats ?? 0), 10)).toBe(1000);
  expect(entries.at(-1)).toMatchObject({
    resource_id: 'others',
    ip: null,
    user_id: null,
    after: { repeats: 980 },
  });
});

test('attempts at several users from one address are an entry for each user, with their own repeats', async () => {
  const event = failedSignIn();
  const events = Array.from({ length: 10 }, (_, i) => ({ ...event, resourceId: String(100 + i) }));
  await attemptsOf([...events, ...events.slice(0, 2)]);
  const entries = await rows('operation = $1', [event.operation]);
  expect(entries.map(({ resource_id, after }) => [resource_id, after?.repeats])).toEqual([
    ...events.map(({ resourceId }) => [resourceId, undefined]),
    ['100', 1],
    ['101', 1],
  ]);
});

test('a caller who tries very many paths does not hide the attempts of others', async () => {
  const event = failedSignIn({ resourceType: 'refusal' });
  const many = Array.from({ length: 500 }, (_, i) => ({ ...event, resourceId: String(i) }));
  const other = { ...event, ip: '198.51.100.7', resourceId: 'other' };
  await attemptsOf([...many, other]);
  const entries = await rows('operation = $1', [event.operation]);
  expect(entries.filter(({ resource_id }) => resource_id === 'other')).toMatchObject([
    { ip: '198.51.100.7' },
  ]);
  expect(entries).toHaveLength(22);
  expect(entries.at(-1)).toMatchObject({ resource_id: 'others', ip: '192.0.2.1', after: { repeats: 480 } });
});

describe('who is attacked', () => {
  const addresses = (count: number) => Array.from({ length: count }, (_, i) => `198.51.${i >> 8}.${i & 255}`);
  const entriesAt = async ({ operation }: AuditEvent, userId: number) =>
    (await rows('operation = $1 and resource_id = $2', [operation, String(userId)])).map(({ ip, after }) => [
      ip,
      after?.repeats,
    ]);

  test('is not hidden by failed sign-ins as nobody', async () => {
    const event = failedSignIn({ resourceId: '1', ip: '203.0.113.99' });
    const noise = addresses(300).map((ip) => ({ ...event, resourceId: 'unknown', ip }));
    await attemptsOf([...noise, event, event]);
    expect(await entriesAt(event, 1)).toEqual([
      ['203.0.113.99', undefined],
      ['203.0.113.99', 1],
    ]);
  });

  test('is not hidden by failed sign-ins as others, of one caller or of many', async () => {
    const event = failedSignIn({ resourceId: '1', ip: '203.0.113.99' });
    const ofMany = addresses(50).flatMap((ip) =>
      ['2', '3', '4'].map((id) => ({ ...event, resourceId: id, ip })),
    );
    const ofOne = Array.from({ length: 200 }, (_, i) => ({ ...event, resourceId: String(100 + i) }));
    await attemptsOf([...ofMany, ...ofOne, event, event]);
    expect(await entriesAt(event, 1)).toEqual([
      ['203.0.113.99', undefined],
      ['203.0.113.99', 1],
    ]);
    expect(await entriesAt(event, 299)).toEqual([['203.0.113.99', undefined]]);
  });

  test('is named even if the callers are too many to be', async () => {
    const event = failedSignIn({ resourceId: '1' });
    await attemptsOf(
      addresses(100).map((ip) => ({ ...event, ip })),
      { callersOfUserMax: 3 },
    );
    expect(await entriesAt(event, 1)).toEqual([...addresses(3).map((ip) => [ip, undefined]), [null, 97]]);
  });

  test('is named with the caller if all further attempts are of the same one', async () => {
    const event = failedSignIn({ resourceId: '1' });
    const last = { ...event, ip: '203.0.113.99' };
    await attemptsOf([...addresses(3).map((ip) => ({ ...event, ip })), last, last], { callersOfUserMax: 3 });
    expect((await entriesAt(event, 1)).at(-1)).toEqual(['203.0.113.99', 2]);
  });

  test('is named at the end of the minute if very many others were attacked before', async () => {
    const event = failedSignIn({ resourceId: '1', ip: '203.0.113.99' });
    const others = Array.from({ length: 20 }, (_, i) => ({ ...event, resourceId: String(100 + i) }));
    await attemptsOf([...others, event, event], { attackedUsersMax: 10 });
    expect(await entriesAt(event, 1)).toEqual([['203.0.113.99', 2]]);
  });

  test('cannot fill the log, with any number of users and callers', async () => {
    const event = failedSignIn();
    const events = addresses(30).flatMap((ip) =>
      Array.from({ length: 30 }, (_, id) => ({ ...event, resourceId: String(id), ip })),
    );
    await attemptsOf([...events, ...events], {
      attackedUsersMax: 10,
      countedUsersMax: 4,
      callersOfUserMax: 5,
      countsMax: 8,
    });
    const entries = await rows('operation = $1', [event.operation]);
    // 10 users with one caller each, 8 further callers, all with repeats; the rest of 10 users; 4 counted; all others.
    expect(entries).toHaveLength(2 * (10 + 8) + 10 + 4 + 1);
    expect(entries.reduce((sum, { after }) => sum + (after?.repeats ?? 1), 0)).toBe(1800);
    expect(entries.filter(({ resource_id }) => resource_id === 'others')).toMatchObject([
      { ip: null, after: { repeats: 2 * 16 * 30 } },
    ]);
  });
});

test('failed sign-ins of many addresses do not hide the refusal of a caller', async () => {
  const event = failedSignIn();
  const many = Array.from({ length: 20 }, (_, i) => ({ ...event, ip: `192.0.2.${i}` }));
  const refusal = { ...event, resourceType: 'refusal' as const, userId: 12 };
  await attemptsOf([...many, refusal], { countsMax: 10 });
  expect(await rows("operation = $1 and resource_type = 'refusal'", [event.operation])).toMatchObject([
    { user_id: 12 },
  ]);
});

test('callers who are known have an entry of their own, however many others are refused', async () => {
  const event = failedSignIn({ resourceType: 'refusal' });
  const unknown = Array.from({ length: 20 }, (_, i) => ({ ...event, ip: `192.0.2.${i}` }));
  const known = Array.from({ length: 20 }, (_, i) => ({
    ...event,
    userId: 100 + (i % 5),
    resourceId: `${i}`,
  }));
  const viewer = { ...event, userId: 7, ip: '198.51.100.7' };
  await attemptsOf([...unknown, ...known, viewer, viewer], { countsMax: 10, countsOfCallerMax: 2 });
  expect(await rows('operation = $1 and user_id = 7', [event.operation])).toMatchObject([
    { resource_id: 'others', ip: '198.51.100.7', after: { repeats: 2 } },
  ]);
});

test('no number of callers who are known fills the log', async () => {
  const event = failedSignIn({ resourceType: 'refusal' });
  const events = Array.from({ length: 500 }, (_, i) => ({ ...event, userId: 100 + i }));
  await attemptsOf(events, { countsMax: 10, knownCallersMax: 20 });
  const entries = await rows('operation = $1', [event.operation]);
  expect(entries).toHaveLength(21);
  expect(entries.at(-1)).toMatchObject({ user_id: null, after: { repeats: 480 } });
});

test('an attempt that cannot be stored does not take others with it', async () => {
  const event = failedSignIn();
  const broken = { ...event, resourceId: 'broken', deploymentId: 'abc' as never };
  const others = Array.from({ length: 3 }, (_, i) => ({ ...event, resourceId: String(i) }));
  await attemptsOf([broken, broken, ...others, ...others]);
  expect(await rows('operation = $1', [event.operation])).toHaveLength(6);
});

test('a request without a valid credential is no refusal, whatever its cookie and its path are', async () => {
  const cookie = `oriel=oriel_console_${'x'.repeat(43)}`;
  const origin = 'https://evil.example.com';
  for (const path of ['/api/v1/deployments/abc', '/api/v1/deployments/1', '/api/v1/users/1']) {
    const response = await world.raw('DELETE', path, { apiKey: null, headers: { cookie, origin } });
    expect([path, response.status]).toEqual([path, 401]);
  }
  const viewer = await world.person();
  await expect(viewer.client.deleteUser({ id: 1 })).rejects.toMatchObject({ status: 403 });
  await expect.poll(() => rows('user_id = $1', [viewer.userId])).toHaveLength(1);
  expect(await rows("operation in ('deleteUser', 'deleteDeployment') and user_id is null")).toEqual([]);
});

test('an IPv6 site counts as one caller, whatever networks and addresses it uses', async () => {
  const event = failedSignIn();
  await attemptsOf(Array.from({ length: 50 }, (_, i) => ({ ...event, ip: `2001:db8:5:${i}::1` })));
  expect(await rows('operation = $1', [event.operation])).toMatchObject([
    { ip: '2001:db8:5:0::1' },
    { ip: '2001:db8:5:49::1', after: { repeats: 49 } },
  ]);
});

test('attempts are written at the end of the minute, even if the caller does not come again', async () => {
  const event = failedSignIn();
  const attempts = createRefusalAudit(world.server.db, createServerLog(), { perMs: 1 });
  for (let i = 0; i < 3; i++) attempts.record(event);
  await expect.poll(() => rows('operation = $1', [event.operation])).toHaveLength(2);
  await attempts.stop();
  expect(await rows('operation = $1', [event.operation])).toHaveLength(2);
});

test('an event is written in the transaction that made it succeed, without secrets and with limited size', async () => {
  const event = failedSignIn({
    resourceType: 'signIn',
    resourceId: 'x'.repeat(5000),
    details: { password: 'secret', note: 'y'.repeat(100_000) },
  });
  await world.server.db.transaction((tx) => recordEvent(tx, event));
  const undone = failedSignIn({ resourceType: 'signIn' });
  await world.server.db
    .transaction(async (tx) => {
      await recordEvent(tx, undone);
      throw new Error('undone');
    })
    .catch(() => {});
  expect(await rows('operation = $1', [undone.operation])).toEqual([]);
  const [entry] = await rows('operation = $1', [event.operation]);
  expect(entry.resource_id).toHaveLength(300);
  expect(entry.after).toEqual({ password: '********', note: expect.objectContaining({ bytes: 100_002 }) });
});

test('everyday actions are those of the built-in roles below Admin', async () => {
  const { rows: roles } = await world.server.db.pool.query(
    "select distinct unnest(actions) as action from roles where is_built_in and name <> 'Admin'",
  );
  expect(new Set(roles.map(({ action }) => action))).toEqual(everydayActions);
});
