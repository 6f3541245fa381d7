/** The query plans of the list of users, with 100,000 people: every filter, at every depth, reads about a page. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listPeople, type PeopleFilter } from '../src/domains/users/index.ts';
import type { Queryable } from '../src/platform/db/database.ts';
import type { Sql } from '../src/platform/db/sql.ts';
import { loadWithoutIndexes } from './bulk-load.ts';
import { createOwnWorld, type World } from './world.ts';

const PEOPLE = 100_000;
const EXTERNAL = 20_000;
const PIECE = 10_000;
/** The ids of the people. External users have lower and higher ids. */
const FIRST_ID = 1_000_000;
const PAGE = 50;
/** The first attempt reads up to a thousand rows beyond the page, from two or three tables, and looks whether more follow. */
const READ_MAX = 6 * (PAGE + 1000);

let world: World;
let groupId: number;

beforeAll(async () => {
  world = await createOwnWorld();
  // Without the time limit that the server sets for its statements, because the machine may be busy.
  const client = new pg.Client({ connectionString: world.databaseUrl });
  await client.connect();
  const run = (text: string, values: unknown[] = []) => client.query(text, values);
  await run('set synchronous_commit = off');
  groupId = (await world.admin.createUserGroup({ body: { name: 'half' } })).id;
  await world.admin.createRole({ body: { name: 'Rare', actions: [] } });
  await run(`insert into embed_tenants (name) values ('acme-corp')`);
  await run(
    `insert into users (id, embed_tenant, external_id, username) overriding system value
     select case when n % 2 = 0 then 1000 + n else $1::bigint + $2::bigint + n end, 'acme-corp', 'v' || n, 'v' || n
     from generate_series(1, $3::bigint) n`,
    [FIRST_ID, PEOPLE, EXTERNAL],
  );
  await loadWithoutIndexes(world.databaseUrl, 'users', async () => {
    for (let first = 0; first < PEOPLE; first += PIECE) {
      // Of all people, 1 % are deactivated. The word `late` is only in the last tenth, and the word `early` in the first.
      await run(
        `insert into users (id, username, email, first_name, is_deactivated) overriding system value
       select $1::bigint + n, 'user-' || md5(n::text), 'user' || n || '@example.com',
              case when n % 9999 = 0 then 'Rareword' when n >= 90000 then 'Late' when n < 10000 then 'Early' end, n % 100 = 0
       from generate_series($2::bigint, $3::bigint) n`,
        [FIRST_ID, first, first + PIECE - 1],
      );
    }
  });
  for (let first = 0; first < PEOPLE; first += PIECE) {
    await run(
      `insert into user_roles (user_id, role_id)
       select $1::bigint + n, r.id from generate_series($2::bigint, $3::bigint) n, roles r
       where r.name = 'Viewer' or (r.name = 'Rare' and n % 5000 = 17)`,
      [FIRST_ID, first, first + PIECE - 1],
    );
    await run(
      `insert into user_group_members (group_id, user_id, in_groups, in_tenant_groups)
       select $4::bigint, $1::bigint + n, true, false from generate_series($2::bigint, $3::bigint) n where n % 2 = 0`,
      [FIRST_ID, first, first + PIECE - 1, groupId],
    );
  }
  await run('vacuum (analyze) users, user_roles, user_group_members');
  await client.end();
});
afterAll(() => world.stop());

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
}

/** Runs the list with every statement explained. Returns the rows, and how many rows of tables the statements read. */
async function read(filter: PeopleFilter, afterId: number) {
  let rowsRead = 0;
  const collect = (plan: Plan): void => {
    const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = plan;
    if (plan['Relation Name'])
      rowsRead += (plan['Actual Rows'] + filtered + rechecked) * plan['Actual Loops'];
    plan.Plans?.forEach(collect);
  };
  const { db } = world.server;
  const explaining =
    <Result>(run: (query: Sql) => Promise<Result>) =>
    async (query: Sql) => {
      const { rows } = await db.pool.query(`explain (analyze, format json) ${query.text}`, query.values);
      collect(rows[0]['QUERY PLAN'][0].Plan);
      return run(query);
    };
  const explained = {
    many: explaining((query) => db.many(query)),
    maybeOne: explaining((query) => db.maybeOne(query)),
    run: explaining((query) => db.run(query)),
  };
  const rows = await listPeople(explained as unknown as Queryable, filter, { afterId, limit: PAGE + 1 });
  return { rows, rowsRead };
}

const NONE: PeopleFilter = { search: null, isDeactivated: null, role: null, groupId: null };

/** For each filter: how many of all people match it, if these are few. */
const filters: [string, () => Partial<PeopleFilter>, number?][] = [
  ['no filter', () => ({})],
  ['active people', () => ({ isDeactivated: false })],
  ['deactivated people', () => ({ isDeactivated: true })],
  ['a common role', () => ({ role: 'Viewer' })],
  ['a rare role', () => ({ role: 'Rare' })],
  ['a role that nobody has', () => ({ role: 'Wizard' })],
  ['a group', () => ({ groupId })],
  ['a group and a role', () => ({ groupId, role: 'Viewer' })],
  ['deactivated people of a role', () => ({ isDeactivated: true, role: 'Viewer' }), 1000],
  ['deactivated people of a group', () => ({ isDeactivated: true, groupId }), 1000],
  ['a group and a rare role', () => ({ groupId, role: 'Rare' }), 20],
  ['a word that everybody has', () => ({ search: 'EXAMPLE' })],
  ['a word that nobody has', () => ({ search: 'nobody has this' })],
  ['a rare word', () => ({ search: 'rareword' }), 11],
  ['two letters', () => ({ search: 'er' })],
  ['a word and a group', () => ({ search: 'example.com', groupId })],
  ['a rare word and a group', () => ({ search: 'rareword', groupId }), 11],
];

describe.each([
  ['at the start', 0],
  ['in the middle', FIRST_ID + PEOPLE / 2],
  ['near the end', FIRST_ID + PEOPLE - 60],
])('%s', (_, afterId) => {
  test.each(filters)('with %s', async (_name, filter, matching = 0) => {
    const { rows, rowsRead } = await read({ ...NONE, ...filter() }, afterId);
    // Each row of the page is read with its roles.
    expect(rowsRead).toBeLessThanOrEqual(READ_MAX + 6 * matching);
    expect(rows.every(({ id }) => id > afterId)).toBe(true);
  });
});

/** The first attempt finds too few rows here, so all rows that match are found by their trigrams. */
test.each([
  ['late', 0, FIRST_ID + 90_000],
  ['early', FIRST_ID + 9990, FIRST_ID + 9991],
])('a search for the word %s, which is only in one part of the list', async (search, afterId, firstId) => {
  const { rows, rowsRead } = await read({ ...NONE, search }, afterId);
  expect(rows[0]!.id).toBe(firstId);
  expect(rowsRead).toBeLessThanOrEqual(READ_MAX + 2 * 10_000);
});

test('a page has the people that match, in the order of their ids', async () => {
  const { rows } = await read({ ...NONE, role: 'Rare', groupId }, 0);
  expect(rows).toEqual([]);
  const rare = (await read({ ...NONE, role: 'Rare' }, 0)).rows.map(({ id }) => id - FIRST_ID);
  expect(rare).toEqual(Array.from({ length: 20 }, (_, i) => i * 5000 + 17));
});
