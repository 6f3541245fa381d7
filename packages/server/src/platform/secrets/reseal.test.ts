/** Replaces the secret while others read and write the values. */
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase, onServer } from '../../../test/databases.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { StartupError } from '../startup-error.ts';
import { createBox } from './box.ts';
import { createKeyring } from './keyring.ts';
import { requireSecretsOf, resealAll } from './reseal.ts';

const OLD = 'the secret before';
const NEW = 'the secret after';
const TOKEN = { table: 'boxed_things', column: 'token', keyColumn: 'id', holds: 'the tokens of things' };
const PASSWORD = {
  table: 'boxed_things',
  column: 'password',
  keyColumn: 'id',
  holds: 'the passwords of things',
};
const before = createKeyring([OLD]);
const both = createKeyring([NEW, OLD]);
const after = createKeyring([NEW]);

let name: string;
let db: Database;
beforeAll(async () => {
  name = await createDatabase(inject('postgresUrl'));
  const connectionString = onServer(inject('postgresUrl'), name);
  db = openDatabase({ connectionString }, pino({ level: 'silent' }), { poolSize: 10 });
  await run('create table boxed_things (id bigint primary key, token bytea, password bytea)');
});
afterAll(async () => {
  await db.end();
  await dropDatabase(inject('postgresUrl'), name);
});
beforeEach(() => run('truncate boxed_things'));

const run = (text: string, values: unknown[] = []) => db.pool.query(text, values);
const tokenOf = (id: number, version = 0) => Buffer.from(`token of ${id}, version ${version}`);

async function fill(rows: number) {
  const box = createBox(TOKEN, before);
  const passwords = createBox(PASSWORD, before);
  for (let id = 1; id <= rows; id++) {
    await run('insert into boxed_things values ($1, $2, $3)', [
      id,
      box.seal(String(id), tokenOf(id)),
      id % 3 === 0 ? null : passwords.seal(String(id), Buffer.from(`password of ${id}`)),
    ]);
  }
}

async function opened(place: typeof TOKEN, keyring = after): Promise<Map<number, string | null>> {
  const box = createBox(place, keyring);
  const { rows } = await run(`select id, ${place.column} as sealed from boxed_things order by id`);
  return new Map(
    rows.map(({ id, sealed }) => [Number(id), sealed && box.open(String(id), sealed).toString()]),
  );
}

test('all values of all columns can be opened with the new secret alone, even with many rows', async () => {
  await fill(25);
  expect(await resealAll(db, both, [TOKEN, PASSWORD], 4)).toBe(25 + 17);
  const tokens = await opened(TOKEN);
  expect(tokens.size).toBe(25);
  for (const [id, token] of tokens) expect(token).toBe(String(tokenOf(id)));
  const passwords = await opened(PASSWORD);
  expect([passwords.get(1), passwords.get(3)]).toEqual(['password of 1', null]);
  expect(await resealAll(db, both, [TOKEN, PASSWORD], 4)).toBe(0);
});

test('an interrupted run loses nothing, and the next one does the rest', async () => {
  await fill(10);
  // The sixth row cannot be opened, as if somebody had damaged it.
  const { rows } = await run('select token from boxed_things where id = 6');
  await run(
    'update boxed_things set token = set_byte(token, 40, (get_byte(token, 40) + 1) % 256) where id = 6',
  );
  await expect(resealAll(db, both, [TOKEN], 1)).rejects.toMatchObject({ code: 'altered' });
  await run('update boxed_things set token = $1 where id = 6', [rows[0].token]);
  const { rowCount: done } = await run('select from boxed_things where substring(token from 5 for 8) = $1', [
    after.ids[0],
  ]);
  // Rows are ordered by text: 1, 10, 2, 3, 4, 5.
  expect(done).toBe(6);
  const all = await opened(TOKEN, both);
  expect(all.size).toBe(10);
  expect(await resealAll(db, both, [TOKEN], 3)).toBe(4);
  for (const [id, token] of await opened(TOKEN)) expect(token).toBe(String(tokenOf(id)));
});

test('values that others write at the same time are neither lost nor missed', async () => {
  await fill(60);
  const box = createBox(TOKEN, both);
  const written = new Map<number, number>();
  let over = false;
  const writing = (async () => {
    for (let version = 1; !over; version++) {
      const id = 1 + ((version * 7) % 90);
      await run(
        `insert into boxed_things (id, token) values ($1, $2) on conflict (id) do update set token = excluded.token`,
        [id, box.seal(String(id), tokenOf(id, version))],
      );
      written.set(id, version);
    }
  })();
  await expect.poll(() => written.size).toBeGreaterThan(10);
  await resealAll(db, both, [TOKEN], 2);
  over = true;
  await writing;
  const tokens = await opened(TOKEN);
  expect(tokens.size).toBeGreaterThanOrEqual(60);
  for (const [id, token] of tokens) expect(token).toBe(String(tokenOf(id, written.get(id) ?? 0)));
});

test('if a row is being changed, its new value is sealed', async () => {
  await fill(1);
  const client = await db.pool.connect();
  try {
    await client.query('begin');
    const sealed = createBox(TOKEN, before).seal('1', tokenOf(1, 2));
    await client.query('update boxed_things set token = $1 where id = 1', [sealed]);
    const resealing = resealAll(db, both, [TOKEN]);
    await expect
      .poll(
        async () =>
          (
            await run(
              "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
            )
          ).rowCount,
      )
      .toBe(1);
    await client.query('commit');
    expect(await resealing).toBe(1);
  } finally {
    client.release();
  }
  expect(await opened(TOKEN)).toEqual(new Map([[1, String(tokenOf(1, 2))]]));
});

test("two rows' values, or two columns', cannot be exchanged in the database", async () => {
  await fill(2);
  await run(`update boxed_things a set token = b.token from boxed_things b where a.id <> b.id`);
  await expect(opened(TOKEN, before)).rejects.toMatchObject({ code: 'altered' });
  await expect(resealAll(db, both, [TOKEN])).rejects.toMatchObject({ code: 'altered' });
  await run('truncate boxed_things');
  await fill(1);
  await run('update boxed_things set token = password, password = token');
  await expect(opened(TOKEN, before)).rejects.toMatchObject({ code: 'altered' });
});

test('values that were sealed with a missing secret stop a start, and the error says what they are and what to do', async () => {
  await fill(3);
  await expect(requireSecretsOf(db, before, [TOKEN, PASSWORD])).resolves.toBeUndefined();
  await expect(requireSecretsOf(db, both, [TOKEN, PASSWORD])).resolves.toBeUndefined();
  const refused = requireSecretsOf(db, after, [TOKEN, PASSWORD]);
  await expect(refused).rejects.toBeInstanceOf(StartupError);
  const id = before.ids[0].toString('hex');
  await expect(refused).rejects.toThrow(
    new RegExp(
      `of the id ${id} .the tokens of things, in the table boxed_things.: .*ORIEL_SECRET_KEY_PREVIOUS.*"A lost secret key"`,
    ),
  );
  await resealAll(db, both, [TOKEN, PASSWORD]);
  await expect(requireSecretsOf(db, after, [TOKEN, PASSWORD])).resolves.toBeUndefined();
});
