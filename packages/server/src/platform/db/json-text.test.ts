import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { jsonElements, jsonFields, jsonList, jsonPlain, jsonString, jsonTime } from './json-text.ts';
import { raw, sql } from './sql.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

const VALUES = {
  text: jsonString(sql`v.text`),
  count: jsonPlain(sql`v.count`),
  done: jsonPlain(sql`v.done`),
  meta: jsonPlain(sql`v.meta`),
  at: jsonTime(sql`v.at`),
};
const objectOf = sql`concat('{', ${jsonFields(VALUES)}, '}')`;
const listOf = sql`concat('[', concat_ws(',', ${jsonElements(Object.values(VALUES))}), ']')`;

const read = async (row: string) => {
  const from = `from (values (${row})) v (text, count, done, meta, at)`;
  const { rows } = await world.server.db.pool.query<{ object: string; list: string }>(
    `select ${objectOf.text} as object, ${listOf.text} as list ${from}`,
  );
  return { object: JSON.parse(rows[0]!.object), list: JSON.parse(rows[0]!.list) };
};

test('values of every kind are valid JSON', async () => {
  const row = `'say "\\"'::text, 7::bigint, false, '{"a":[1]}'::jsonb, '2026-01-31T09:30:00Z'::timestamptz`;
  const values = {
    text: 'say "\\"',
    count: 7,
    done: false,
    meta: { a: [1] },
    at: '2026-01-31T09:30:00.000Z',
  };
  expect(await read(row)).toEqual({ object: values, list: Object.values(values) });
});

test('what is null in the database is null in JSON', async () => {
  const row = 'null::text, null::bigint, null::boolean, null::jsonb, null::timestamptz';
  const nothing = { text: null, count: null, done: null, meta: null, at: null };
  expect(await read(row)).toEqual({ object: nothing, list: Object.values(nothing) });
});

test('a list of stored texts is valid JSON, also without an array', async () => {
  const lists = ['array[\'{"a":1}\', \'"b"\']', 'array[]::text[]', 'null::text[]'].map(
    (array) => jsonList(raw(array)).text,
  );
  const { rows } = await world.server.db.pool.query(`select array[${lists.join(', ')}] as lists`);
  expect(rows[0].lists.map((text: string) => JSON.parse(text))).toEqual([[{ a: 1 }, 'b'], [], []]);
});
