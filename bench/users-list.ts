/** The list of users in a large account: late pages and searches, against the first page. */
import pg from 'pg';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { type Connection, type Oriel, startOriel } from './harness/oriel.ts';
import { type Action, type Answer, compareLatencies, fetchText, type Ratio } from './reports/latency.ts';

const ROWS = 100_000;
/** Small, so that a hundred thousand users have ten thousand pages. */
const PAGE = 10;
const CALLS = 15;
/** All people have ids from here on. Most external users have lower ids. */
const FIRST_ID = 1_000_000;
const EXTERNAL_SHARE = 0.1;

const RARE_WORD = 'zyxomma';
/** The domain of every email. */
const COMMON_WORD = 'example';

export const usersList: Benchmark = {
  name: 'users-list',
  description: 'GET users among a hundred thousand: late pages and searches, against the first page',
  run,
};

async function run(options: RunOptions) {
  const oriel = await startOriel();
  const rows = options.rows ?? ROWS;
  const groupId = await loadPeople(oriel.connection, rows);
  const ratios = [...(await latePages(oriel, rows, groupId)), ...searches(oriel)];
  const { measured, comparisons } = await compareLatencies(ratios, { rounds: options.rounds, calls: CALLS });
  const external = Math.floor(rows * EXTERNAL_SHARE);
  return { measured, comparisons, facts: { people: String(rows), external: `${external} external users` } };
}

/** One percent is deactivated, half are in a group, and one in a thousand has the role `Rare`. Returns the group. */
async function loadPeople(connection: Connection, rows: number): Promise<number> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(`insert into embed_tenants (name) values ('bench-tenant')`);
    await client.query(
      `insert into users (id, embed_tenant, external_id, username) overriding system value
       select 1000 + n, 'bench-tenant', 'v' || n, 'v' || n from generate_series(1, $1::bigint) n`,
      [Math.floor(rows * EXTERNAL_SHARE)],
    );
    await client.query(
      `insert into users (id, username, email, first_name, is_deactivated) overriding system value
       select $1::bigint + n, 'user-' || md5(n::text), 'user' || n || '@example.com',
              case when n % 5000 = 0 then '${RARE_WORD}' else 'Person ' || n end, n % 100 = 0
       from generate_series(0, $2::bigint - 1) n`,
      [FIRST_ID, rows],
    );
    await client.query(`insert into roles (name, actions) values ('Rare', '{}')`);
    await client.query(
      `insert into user_roles (user_id, role_id)
       select u.id, r.id from users u, roles r
       where u.id >= $1 and (r.name = 'Viewer' or (r.name = 'Rare' and u.id % 1000 = 7))`,
      [FIRST_ID],
    );
    const { rows: groups } = await client.query(
      `insert into user_groups (name) values ('half') returning id::int as id`,
    );
    await client.query(
      `insert into user_group_members (group_id, user_id, in_groups, in_tenant_groups)
       select $1, id, true, false from users where id >= $2 and id % 2 = 0`,
      [groups[0].id, FIRST_ID],
    );
    // The state in which autovacuum leaves the tables.
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
    return groups[0].id;
  } finally {
    await client.end();
  }
}

type Query = Record<string, string | number>;

const urlOf = ({ url }: Pick<Oriel, 'url'>, query: Query) =>
  `${url}/api/v1/users?${new URLSearchParams(
    Object.entries({ first: PAGE, ...query }).map(([name, value]): [string, string] => [name, String(value)]),
  )}`;

const action = (oriel: Oriel, name: string, query: Query): Action => {
  const url = urlOf(oriel, query);
  return { name, act: () => fetchText(url, oriel.headers) };
};

/** The cursor after the person with this number. */
async function cursorAt(oriel: Oriel, n: number): Promise<string> {
  const found = await fetchText(urlOf(oriel, { search: `user${n}@example.com` }), oriel.headers);
  return (JSON.parse(found) as Answer).pageInfo!.endCursor;
}

/** Every filter, near the end of the list. */
async function latePages(oriel: Oriel, rows: number, groupId: number): Promise<Ratio[]> {
  const page = Math.floor(rows / PAGE);
  // Filtered lists have fewer rows, so their late page begins earlier. All lists have the same order and cursors.
  const [late, end] = [
    await cursorAt(oriel, Math.floor(rows * 0.95)),
    await cursorAt(oriel, rows - PAGE - 1),
  ];
  const filters: [string, Query][] = [
    ['', {}],
    [' of active people', { state: 'active' }],
    [' of deactivated people', { state: 'deactivated' }],
    [' of a role', { role: 'Viewer' }],
    [' of a rare role', { role: 'Rare' }],
    [' of a group', { groupId }],
    [' of deactivated people of a group', { groupId, state: 'deactivated' }],
    [` with ${COMMON_WORD}`, { search: COMMON_WORD }],
    [` with ${COMMON_WORD} of a group`, { search: COMMON_WORD, groupId }],
  ];
  return filters.map(([name, filter]) => {
    const isWhole = Object.keys(filter).length === 0;
    return {
      subject: action(oriel, `${isWhole ? `page ${page}` : 'a late page'}${name}`, {
        ...filter,
        after: isWhole ? end : late,
      }),
      anchor: action(oriel, `page 1${name}`, filter),
      anchorDoes:
        'Oriel itself, the first page of the same list. Shows how paging scales, not how fast it is.',
      asked: { atMost: 1.5 },
    };
  });
}

function searches(oriel: Oriel): Ratio[] {
  const anchor = action(oriel, 'page 1 of all', {});
  const anchorDoes =
    'Oriel itself, the first page of all users. Shows how lists compare, not how fast they are.';
  return [RARE_WORD, COMMON_WORD, 'nobody has this'].map((search) => ({
    subject: action(oriel, `search for ${search}`, { search }),
    anchor,
    anchorDoes,
    asked: { atMost: 5 },
  }));
}
