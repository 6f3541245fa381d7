/** Tests the comparison of row types, and that it covers the statements of the server. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { listRoles } from '../../src/domains/roles/store.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { sql } from '../../src/platform/db/sql.ts';
import { createDatabase, dropDatabase, onServer } from '../databases.ts';
import type { RowType } from './collect.ts';
import { compare } from './compare.ts';
import type { ObservedRowTypes } from './setup.ts';

/** Absent while files are watched. */
const seen = (globalThis as { orielRowTypes?: ObservedRowTypes }).orielRowTypes;

let name: string;
let db: Database;
beforeAll(async () => {
  name = await createDatabase(inject('postgresUrl'), inject('templateDatabase'));
  const connectionString = onServer(inject('postgresUrl'), name);
  db = openDatabase({ connectionString }, pino({ level: 'silent' }), { poolSize: 1 });
});
afterAll(async () => {
  await db.end();
  await dropDatabase(inject('postgresUrl'), name);
});

const column = (kinds: RowType[string]['kinds'], more: Partial<RowType[string]> = {}) => ({
  kinds,
  isOptional: false,
  ...more,
});

describe('the comparison of a row type with a statement', () => {
  test.each<[string, RowType, string, string[]]>([
    ['accepts a row that matches its type', { n: column(['number']) }, 'select 1::bigint as n', []],
    ['accepts null if it is declared', { n: column(['number', 'null']) }, 'select null::int as n', []],
    ['accepts a column that may be left out', { n: column(['number'], { isOptional: true }) }, 'select', []],
    ['looks into JSON', { o: column(['object']) }, `select '{}'::jsonb as o`, []],
    [
      'finds a missing column',
      { n: column(['number']) },
      'select',
      ['the row type names n, and the statement does not return it'],
    ],
    [
      'finds a column that is not declared',
      {},
      'select 1 as n',
      ['the statement returns n, and the row type does not name it'],
    ],
    [
      'finds text that is declared as a number, even if no row is returned',
      { n: column(['number']) },
      'select 1::numeric as n where false',
      ['n is string, and declared as number'],
    ],
    [
      'finds null that is not declared',
      { n: column(['number']) },
      'select 1 as n union all select null',
      ['n was null, and is declared as number'],
    ],
    [
      'finds another kind of JSON',
      { o: column(['object']) },
      `select '[]'::jsonb as o`,
      ['o was array, and is declared as object'],
    ],
    [
      'finds texts in an array of numbers',
      { ids: column(['array'], { items: ['number'] }) },
      `select '{1}'::bigint[] as ids`,
      ['an item of ids was string, and is declared as number'],
    ],
  ])('%s', async (_, type, text, problems) => {
    expect(compare(type, await db.pool.query(text))).toEqual(problems);
  });
});

describe.runIf(seen)('in every test', () => {
  const { types, called, problems } =
    seen ?? ({ types: {}, called: new Set(), problems: new Set() } as Omit<ObservedRowTypes, 'places'>);
  const place = Object.keys(types).find((key) => key.startsWith('packages/server/src/domains/roles/'))!;

  test('the statements of the server are compared', async () => {
    called.delete(place);
    await listRoles(db, { afterId: 0, limit: 1 });
    expect(called).toContain(place);
  });

  test('a difference fails the test', async () => {
    const type = types[place]!;
    type.other = column(['string']);
    await listRoles(db, { afterId: 0, limit: 1 });
    delete type.other;
    expect([...problems]).toEqual([
      `${place}: the row type names other, and the statement does not return it`,
    ]);
    problems.clear();
  });

  test('rows that a test itself reads are not compared', async () => {
    expect(await db.one(sql`select 1 as n`)).toEqual({ n: 1 });
  });
});
