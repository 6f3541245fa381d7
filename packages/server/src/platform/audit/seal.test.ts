import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { auditLogOf } from '../../../test/audit-log.ts';
import { createOwnWorld, type World } from '../../../test/world.ts';
import { createBox } from '../secrets/box.ts';
import { createKeyring } from '../secrets/keyring.ts';
import { resealAll } from '../secrets/reseal.ts';
import { CHAIN_KEY } from './seal.ts';
import { verifyAuditLog } from './verify.ts';

let world: World;
let log: ReturnType<typeof auditLogOf>;
let ids: number[];
const others: pg.Client[] = [];

beforeAll(async () => {
  world = await createOwnWorld();
  log = auditLogOf(world);
  await log.query('create table new_chain as select * from audit_log_chain');
});
afterAll(() => world.stop());

/** Each test begins with seven sealed entries in three months. */
beforeEach(async () => {
  await tamper(
    'delete from audit_log; truncate audit_log_seals; delete from audit_log_months where dropped_at is not null',
  );
  await log.query('delete from audit_log_chain; insert into audit_log_chain select * from new_chain');
  ids = [];
  for (const daysAgo of [0, 70, 0, 70, 200, 0, 0]) ids.push(...(await log.insert('test', { daysAgo })));
  await log.query('select make_audit_months()');
  await log.sealAll();
});
afterEach(async () => {
  for (const client of others.splice(0)) await client.end();
});

/** Changes the log as an attacker with access to the database does, who removes the trigger. */
async function tamper(text: string, values: unknown[] = []) {
  await log.query('alter table audit_log disable trigger audit_log_append_only');
  await log.query(text, values);
  await log.query('alter table audit_log enable trigger audit_log_append_only');
}
const problem = async (expected?: string) => (await log.verify(expected)).problem;

async function connected() {
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  others.push(client);
  return client;
}
const INSERT =
  "insert into audit_log (operation, resource_type, resource_id) values ('late', 'test', '1') returning id";

test('a log that nobody touched is as it was sealed, and new entries are sealed later', async () => {
  const before = await log.verify();
  expect(before).toMatchObject({ problem: undefined, unsealed: 0, droppedMonths: [] });
  expect(before.entries).toBeGreaterThanOrEqual(7);
  await log.insert('test', { count: 3 });
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 3, entries: before.entries });
  await log.sealAll();
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 0, entries: before.entries + 3 });
});

test.each([
  ["operation = 'other'"],
  ["before = '{}'"],
  ["after = '{}'"],
  ['user_id = 1'],
  ["ip = '192.0.2.1'"],
  ["created_at = created_at + interval '1 microsecond'"],
  ["embed_tenant = 'acme-corp'"],
])('an entry whose field was changed is named: %s', async (change) => {
  await tamper(`update audit_log set ${change} where id = $1`, [ids[2]]);
  expect(await problem()).toBe(`entry ${ids[2]} was changed`);
});

test('the first of several changed entries is named', async () => {
  await tamper("update audit_log set operation = 'other' where id = any($1)", [[ids[6], ids[2]]]);
  expect(await problem()).toBe(`entry ${ids[2]} was changed`);
});

test.each([0, 1, 4, 6])('an entry that was removed is named, also the newest', async (i) => {
  await tamper('delete from audit_log where id = $1', [ids[i]]);
  expect(await problem()).toBe(`entry ${ids[i]} was removed`);
});

test('two entries that changed places are noticed', async () => {
  const [a, b] = [ids[2], ids[5]];
  await tamper('update audit_log set id = case id when $1 then $2 else $1 end where id in ($1, $2)', [a, b]);
  expect(await problem()).toBe(`entry ${a} was changed`);
});

test('an entry that was added between sealed ones is named, in any month', async () => {
  const client = await connected();
  await client.query('begin');
  const [{ id }] = (await client.query(INSERT)).rows;
  await client.query('rollback');
  await log.insert('test');
  await log.sealAll();
  for (const time of ['now()', "now() - interval '70 days'", "now() - interval '3000 days'"]) {
    await tamper(
      `insert into audit_log (id, created_at, operation, resource_type, resource_id) values ($1, ${time}, 'x', 'x', 'x')`,
      [id],
    );
    expect(await problem()).toBe(`entry ${id} was added after its time`);
    await tamper('delete from audit_log where id = $1', [id]);
  }
  expect(await problem()).toBeUndefined();
});

test('a month that somebody dropped is noticed, also if they say that retention did', async () => {
  const month = (
    await log.query('select tableoid::regclass::text as name from audit_log where id = $1', [ids[4]])
  )[0].name;
  await log.query(`drop table ${month}`);
  expect(await problem()).toBe(`entry ${ids[4]} was removed`);
  await log.query("update audit_log_months set dropped_at = now(), entries = 1, mac = 'x' where month = $1", [
    `${month.slice(-7).replace('_', '-')}-01`,
  ]);
  expect(await problem()).toMatch(/^the month .+ was not dropped by retention$/);
});

test('seals and the chain cannot be changed to fit', async () => {
  const seals = await log.query('select no from audit_log_seals order by no');
  const last = seals.at(-1).no;
  await log.query('create table kept as select * from audit_log_seals');
  const restore = () => log.query('truncate audit_log_seals; insert into audit_log_seals select * from kept');
  await log.query('update audit_log_seals set digests[1] = sha256(digests[1]) where no = 2');
  expect(await problem()).toBe('seal 2 was altered');
  await restore();
  await log.query('delete from audit_log_seals where no = 2');
  expect(await problem()).toBe('seal 2 was removed');
  await restore();
  await log.query('delete from audit_log_seals where no = $1', [last]);
  expect(await problem()).toBe(`seal ${last} was removed`);
  await restore();
  expect(await problem()).toBeUndefined();

  // The newest seals are cut off, and the chain is made to end before them.
  await log.query('delete from audit_log_seals where no = $1', [last]);
  await log.query(
    `update audit_log_chain set head_no = $1 - 1, head_mac = (select mac from audit_log_seals where no = $1 - 1),
       sealed_to = (select max(id) from audit_log_seals, unnest(ids) id)`,
    [last],
  );
  expect(await problem()).toBe('the row of audit_log_chain was altered');
  await expect(log.seal()).rejects.toThrow('the row of audit_log_chain was altered');
});

test('a chain that was begun anew is noticed by who kept the newest seal, and shows when it was begun', async () => {
  const { newestSeal, sealedSince } = await log.verify();
  await log.query("insert into audit_log_months values ('2001-01-01', now(), 1, 'of the old key')");
  await log.query('select restart_audit_seals()');
  const [entry] = await log.query("select before from audit_log where resource_type = 'auditLogSeals'");
  expect(entry).toEqual({ before: { newestSeal } });
  expect(await problem(newestSeal)).toBe('nothing is sealed yet, although a seal is expected');
  await log.sealAll();
  const after = await log.verify();
  expect(after.problem).toBeUndefined();
  expect(after.sealedSince! > sealedSince!).toBe(true);
  expect(await problem(newestSeal)).toMatch(/^seal \d+ is not the one that was expected$/);
});

test('a copy of an older state is noticed by who kept the newest seal', async () => {
  await log.query('create table old_chain as select * from audit_log_chain');
  const [late] = await log.insert('test');
  await log.sealAll();
  const { newestSeal } = await log.verify();
  expect(await problem(newestSeal)).toBeUndefined();
  await tamper('delete from audit_log where id = $1', [late]);
  await log.query('delete from audit_log_seals where no > (select head_no from old_chain)');
  await log.query('delete from audit_log_chain; insert into audit_log_chain select * from old_chain');
  expect(await problem()).toBeUndefined();
  expect(await problem(newestSeal)).toMatch(/^seal \d+ is not the one that was expected$/);
});

test('an entry of a transaction that commits late is sealed in its place, and nothing after it before it', async () => {
  const client = await connected();
  await client.query('begin');
  const late = Number((await client.query(INSERT)).rows[0].id);
  const [after] = await log.insert('test');
  await log.seal();
  const sealedTo = async () => (await log.query('select sealed_to from audit_log_chain'))[0].sealed_to;
  expect(await sealedTo()).toBeLessThan(late);
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 1 });
  await client.query('commit');
  await log.sealAll();
  expect(await sealedTo()).toBe(after);
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 0 });
});

test('a transaction that got its id while sealing began is waited for', async () => {
  // It has begun and read, but not written yet.
  const client = await connected();
  await client.query('begin; select 1');
  const other = await connected();
  await other.query('begin');
  const id = Number((await other.query(INSERT)).rows[0].id);
  await log.insert('test');
  await client.query(INSERT);
  await log.seal();
  await other.query('commit');
  await log.seal();
  expect((await log.query('select sealed_to from audit_log_chain'))[0].sealed_to).toBeLessThan(id);
  await client.query('commit');
  await log.sealAll();
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 0 });
});

test('many writers and several sealers at once leave a log that is whole', async () => {
  const { db } = world.server;
  let late = 0;
  /** Entries that commit late, among entries of other writers and after some that are undone. */
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    const client = await connected();
    for (let i = 0; i < 25; i++) {
      await client.query('begin');
      const [{ id }] = (await client.query(INSERT)).rows;
      await world.admin.getMe();
      await client.query(INSERT);
      if ((await log.query('select max(id) from audit_log where id > $1', [id]))[0].max !== null) late++;
      await client.query((i + writer) % 5 === 0 ? 'rollback' : 'commit');
    }
  });
  const sealers = Array.from({ length: 3 }, async () => {
    for (let i = 0; i < 10; i++) await log.seal();
  });
  await Promise.all([...writers, ...sealers]);
  expect(late).toBeGreaterThan(20);
  await log.sealAll();
  const { rowCount } = await db.pool.query("select from audit_log where operation = 'late'");
  expect(rowCount).toBe(8 * 20 * 2);
  const { rows } = await db.pool.query('select count(*) from audit_log_seals, unnest(ids)');
  const sealed = await log.verify();
  expect(sealed).toMatchObject({ problem: undefined, unsealed: 0 });
  expect(sealed.entries).toBe(Number(rows[0].count));
});

test('a log with more entries than one seal holds is sealed as a whole', async () => {
  await log.insert('many', { count: 2500 });
  await log.sealAll();
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 0 });
  expect((await log.query('select max(cardinality(ids)) from audit_log_seals'))[0].max).toBeLessThanOrEqual(
    1000,
  );
});

test('entries from another database cluster, whose transaction numbers were higher, do not stop sealing', async () => {
  await log.query("update audit_log_chain set next_to = 1, next_after = '9000000000000'");
  await log.insert('restored');
  await log.sealAll();
  expect(await log.verify()).toMatchObject({ problem: undefined, unsealed: 0 });
});

test('seals stay valid when the secret of the installation is replaced, and nobody without it can verify', async () => {
  const [old, next] = ['an-old-secret-of-the-installation-1', 'the-next-secret-of-the-installation'] as const;
  const { db } = world.server;
  const sealed = createKeyring([next, 'J4uXwq0Zb1mYt7cVh2sKd9fLr6gNp3aE']);
  await resealAll(db, sealed, [CHAIN_KEY]);
  const verifyWith = (secret: string) => verifyAuditLog(db, createBox(CHAIN_KEY, createKeyring([secret])));
  expect(await verifyWith(next)).toMatchObject({ problem: undefined, unsealed: 0 });
  await expect(verifyWith(old)).rejects.toThrow('was sealed with the secret');
});
