import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { auditLogOf } from '../../../test/audit-log.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';
import { rangesOf } from './pages.ts';

let world: World;
let log: ReturnType<typeof auditLogOf>;
beforeAll(async () => {
  world = await createOwnWorld();
  log = auditLogOf(world);
});
afterAll(() => world.stop());

const list = (query: Parameters<World['admin']['listAuditLog']>[0] = {}) => world.admin.listAuditLog(query);
const exportAll = async (query: Parameters<World['admin']['exportAuditLog']>[0], client = world.admin) => {
  const entries = [];
  for await (const entry of await client.exportAuditLog(query)) entries.push(entry);
  return entries;
};

test('an entry says who did what to which resource, when and from where', async () => {
  const person = await world.person({ roles: ['Admin'] });
  const { id } = await person.client.createUserGroup({ body: { name: 'before' } });
  await person.client.updateUserGroup({ id, body: { name: unique('after') } });
  const { items } = await list({ resourceType: 'userGroup', resourceId: String(id) });
  expect(items).toMatchObject([
    {
      operation: 'updateUserGroup',
      resourceType: 'userGroup',
      resourceId: String(id),
      deploymentId: null,
      userId: person.userId,
      apiKeyId: person.apiKeyId,
      ip: '127.0.0.1',
      requestId: expect.any(String),
      before: { name: 'before' },
      after: { name: expect.stringContaining('after') },
    },
    { operation: 'createUserGroup', before: null, after: { name: 'before' } },
  ]);
  expect(Object.keys(items[0]!).sort()).toEqual(
    'after apiKeyId before createdAt deploymentId id ip operation requestId resourceId resourceType userId'.split(
      ' ',
    ),
  );
});

describe('filters', () => {
  /** Entries that differ from one another in each column. */
  const entryOf = (n: number) => ({
    created_at: `2026-03-0${n} 12:00:00+00`,
    operation: `op-${n}`,
    resource_type: `type-${n}`,
    resource_id: `id-${n}`,
    deployment_id: 9000 + n,
    embed_tenant: `tenant-${n}`,
    user_id: 9100 + n,
    api_key_id: 9200 + n,
    request_id: `request-${n}`,
  });
  const filters = {
    actorId: 9102,
    apiKeyId: 9202,
    operation: 'op-2',
    resourceType: 'type-2',
    resourceId: 'id-2',
    deploymentId: 9002,
    embedTenantName: 'tenant-2',
    requestId: 'request-2',
  };
  const march = { from: '2026-03-01T00:00:00Z', to: '2026-03-10T00:00:00Z' };

  beforeAll(async () => {
    for (const n of [1, 2, 3]) {
      const entry = entryOf(n);
      const names = Object.keys(entry);
      await log.query(
        `insert into audit_log (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
        Object.values(entry),
      );
    }
  });
  const operations = async (query: object) => (await list(query)).items.map(({ operation }) => operation);

  test.each(Object.entries(filters))('%s finds its entry alone', async (name, value) => {
    expect(await operations({ [name]: value })).toEqual(['op-2']);
  });

  test('all together find the entry, and nothing if one of them does not match', async () => {
    expect(await operations({ ...filters, ...march })).toEqual(['op-2']);
    for (const [name, value] of Object.entries(filters)) {
      const other = typeof value === 'number' ? value + 1 : value.replace('2', '3');
      expect(await operations({ ...filters, [name]: other })).toEqual([]);
    }
  });

  test('a time is the first that counts, and the other the first that does not', async () => {
    expect(await operations(march)).toEqual(['op-3', 'op-2', 'op-1']);
    const [from, to] = ['2026-03-02T12:00:00Z', '2026-03-03T13:00:00+01:00'];
    expect(await operations({ from, to })).toEqual(['op-2']);
    expect(await operations({ from: to, to: march.to })).toEqual(['op-3']);
    expect(await operations({ from, to: from })).toEqual([]);
  });

  test('an empty filter, or the word null, counts as not given', async () => {
    const response = await world.raw('GET', `/api/v1/audit-log?operation=op-2&actorId=&requestId=null`);
    expect(await response.json()).toMatchObject({ items: [{ operation: 'op-2' }] });
  });

  test('the export takes the same filters, and returns the same entries', async () => {
    const { items } = await list(march);
    expect(await exportAll(march)).toEqual(items);
    expect(await exportAll(filters)).toEqual([items[1]]);
  });

  test('an entry of what an embedded viewer did, or of what was done to an embed tenant, is found by its name', async () => {
    const { id: deploymentId } = await world.deployment();
    const embedTenantName = unique('tenant').toLowerCase();
    await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
    const embed = () => world.embedded({ deploymentId, externalId: 'a', embedTenantName, creatorMode: true });
    // The server hears of the setting a moment later.
    const viewer = await vi.waitFor(embed);
    await viewer.client.createFolder({ deploymentId, body: { name: 'own' } });
    await world.admin.createGroup({ embedTenantName, body: { name: 'group' } });
    await world.admin.deleteEmbedTenant({ embedTenantName });
    expect(await operations({ embedTenantName })).toEqual([
      'deleteEmbedTenant',
      'createGroup',
      'createFolder',
      'generateSession',
    ]);
  });
});

test.each([
  ['actorId=x'],
  ['actorId=0'],
  ['actorId=9007199254740993'],
  ['actorId=1&actorId=2'],
  ['apiKeyId=1.5'],
  ['deploymentId=-1'],
  [`operation=${'x'.repeat(101)}`],
  [`resourceId=${'x'.repeat(301)}`],
  [`requestId=${'x'.repeat(65)}`],
  ['operation=%00'],
  ['from=yesterday'],
  ['to=2026-02-30T00:00:00Z'],
  ['from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z'],
  ['from=2026-03-01T00:00:00Z&to=2026-03-01T00:30:00%2B01:00'],
])('a filter that makes no sense is a 400: %s', async (query) => {
  for (const path of ['/api/v1/audit-log', '/api/v1/audit-log/export']) {
    const response = await world.raw('GET', `${path}?${query}`);
    expect(response.status).toBe(400);
  }
});

test('a cursor is valid only with the filters that it was made with', async () => {
  await log.insert('cursor', { count: 3 });
  const { pageInfo } = await list({ operation: 'cursor', first: 1 });
  const after = pageInfo.endCursor!;
  expect((await list({ operation: 'cursor', first: 5, after })).items).toHaveLength(2);
  for (const other of [{}, { operation: 'other' }, { operation: 'cursor', resourceId: '1' }]) {
    await expect(list({ ...other, after })).rejects.toMatchObject({ code: 'invalid_cursor' });
  }
});

test('pages show each entry once, while entries are added, and across months', async () => {
  const operation = unique('paged');
  for (const daysAgo of [0, 20, 45, 100, 101, 400, 1000, 4000])
    await log.insert(operation, { daysAgo, count: 3 });
  const newestFirst = (
    await log.query('select id from audit_log where operation = $1 order by created_at desc, id desc', [
      operation,
    ])
  ).map(({ id }) => id);
  const seen: number[] = [];
  for (let after: string | undefined; ; ) {
    const { items, pageInfo } = await list({ operation, first: 5, after });
    seen.push(...items.map(({ id }) => id));
    await log.insert(operation);
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor!;
  }
  expect(seen).toEqual(newestFirst);
  const exported = await exportAll({ operation });
  expect(exported.map(({ id }) => id).slice(-seen.length)).toEqual(newestFirst);
});

test('a page of large entries ends early, and the next goes on', async () => {
  const operation = unique('large');
  await log.query(
    `insert into audit_log (operation, resource_type, resource_id, after, created_at)
     select $1, 'test', n::text, jsonb_build_object('text', repeat('ä', 100000)), now() - n * interval '40 days'
     from generate_series(1, 30) n`,
    [operation],
  );
  const first = await list({ operation, first: 1000 });
  expect(first.items.length).toBeGreaterThan(5);
  expect(first.items.length).toBeLessThan(12);
  expect(first.pageInfo.hasNextPage).toBe(true);
  const seen = [];
  for await (const { resourceId } of world.admin.iterate.listAuditLog({ operation, first: 1000 }))
    seen.push(resourceId);
  expect(seen).toEqual(Array.from({ length: 30 }, (_, i) => String(i + 1)));
});

test('only a caller with AuditLogManage reads the log', async () => {
  const { name } = await world.admin.createRole({
    body: { name: unique('auditor'), actions: ['AuditLogManage'] },
  });
  const auditor = await world.person({ roles: [name] });
  expect((await auditor.client.listAuditLog({ first: 1 })).items).toHaveLength(1);
  const developer = await world.person({ roles: ['Developer'] });
  await expect(developer.client.listAuditLog({})).rejects.toMatchObject({ status: 403 });
  await expect(developer.client.exportAuditLog({})).rejects.toMatchObject({ status: 403 });
});

test('a key that is scoped to deployments sees their entries, and no others', async () => {
  const [one, two, other] = [await world.deployment(), await world.deployment(), await world.deployment()];
  const { client } = await world.person({ roles: ['Admin'], deploymentIds: [one.id, two.id] });
  const { items } = await client.listAuditLog({});
  expect(items.map(({ operation, deploymentId }) => [operation, deploymentId])).toEqual([
    ['createDeployment', two.id],
    ['createDeployment', one.id],
  ]);
  expect(await exportAll({}, client)).toEqual(items);
  expect((await client.listAuditLog({ deploymentId: one.id })).items).toEqual([items[1]]);
  await expect(client.listAuditLog({ deploymentId: other.id })).rejects.toMatchObject({
    code: 'outside_key_scope',
  });
  const { pageInfo } = await client.listAuditLog({ first: 1 });
  await expect(list({ after: pageInfo.endCursor! })).rejects.toMatchObject({ code: 'invalid_cursor' });
});

describe('the export', () => {
  /** Asks for the export and reads only its first bytes. */
  async function slowReader(operation: string) {
    const { hostname, port } = new URL(world.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `GET /api/v1/audit-log/export?operation=${operation} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-test-admin-key-of-this-whole-world\r\n\r\n`,
    );
    const status = await new Promise<string>((resolve) => {
      socket.once('data', (bytes) => {
        socket.pause();
        resolve(bytes.toString().slice(9, 12));
      });
    });
    return { status, socket };
  }

  test('holds no connection while its reader is slow, and goes on when it reads', async () => {
    const operation = unique('slow');
    await log.query(
      `insert into audit_log (operation, resource_type, resource_id, after)
       select $1, 'test', n::text, jsonb_build_object('text', repeat('x', 15000)) from generate_series(1, 3000) n`,
      [operation],
    );
    const { socket } = await slowReader(operation);
    const { pool } = world.server.db;
    await expect.poll(() => pool.totalCount - pool.idleCount).toBe(0);
    let lines = 0;
    const done = new Promise<void>((resolve) => {
      socket.on('data', (bytes) => {
        for (const byte of bytes) if (byte === 10) lines++;
        if (bytes.toString().endsWith('0\r\n\r\n')) resolve();
      });
    });
    socket.resume();
    await done;
    socket.destroy();
    expect(lines).toBeGreaterThan(2900);
  });

  test('is made four times at once, and a reader that leaves makes room', async () => {
    const operation = unique('at-once');
    await log.query(
      `insert into audit_log (operation, resource_type, resource_id, after)
       select $1, 'test', n::text, jsonb_build_object('text', repeat('x', 15000)) from generate_series(1, 1000) n`,
      [operation],
    );
    const readers = await Promise.all(Array.from({ length: 4 }, () => slowReader(operation)));
    expect(readers.map(({ status }) => status)).toEqual(['200', '200', '200', '200']);
    await expect(exportAll({ operation: 'none' })).rejects.toMatchObject({
      status: 503,
      code: 'busy',
    });
    for (const { socket } of readers) socket.destroy();
    await expect.poll(() => exportAll({ operation: 'none' }).catch(({ code }) => code)).toEqual([]);
  });
});

test('the ranges of a page cover all time before its newest entry, once, in a growing number of months', () => {
  const months = Array.from(
    { length: 120 },
    (_, i) => `${2017 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-01`,
  );
  const ranges = [...rangesOf(months, { newest: '2026-05-20', oldest: '0000' })];
  expect(ranges[0]).toEqual({ from: '2026-04-01 00:00:00+00', to: 'infinity' });
  expect(ranges.at(-1)!.from).toBe('-infinity');
  for (const [i, range] of ranges.slice(1).entries()) expect(range.to).toBe(ranges[i]!.from);
  expect(ranges.length).toBeLessThan(9);
  expect([...rangesOf(months, { newest: '2026-05-20', oldest: '2026-04-10' })]).toHaveLength(1);
});
