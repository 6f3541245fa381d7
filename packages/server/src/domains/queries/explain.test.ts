import { compileModel, createPlanBudget, type Viewer } from '@oriel/semantic';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createShop, shopWith } from '../../../test/shops.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';
import { access, explain as explainFor, toOwn } from './explain.ts';

const ANALYSTS = unique('analysts');
const POLICIES = `    access_policy:
      - groups: [${ANALYSTS}, "role:Admin"]
        row_level: { allow_all: true }
      - group: partners
        member_level: { excludes: [name] }
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.region }"] }] }
`;

let world: World;
let deploymentId: number;
beforeAll(async () => {
  world = await createWorld();
  deploymentId = await createShop(world, shopWith(POLICIES));
});
afterAll(() => world.stop());

const QUERY = { measures: ['orders.count'], dimensions: ['customers.region'] };
const explain = (viewer: object | undefined, query: object = QUERY) =>
  world.admin.explainQuery({ deploymentId, body: { query, viewer } });

test('an explanation says which policies apply to a query, why, and with which values', async () => {
  const { plans, viewer, error } = await explain({
    groups: ['partners'],
    userAttributes: { region: 'EMEA' },
  });
  expect(error).toBeUndefined();
  expect(viewer).toMatchObject({ groups: ['partners'], roles: [] });
  expect(plans[0]).toMatchObject({
    dataSource: 'default',
    dbType: 'duckdb',
    values: expect.arrayContaining(['EMEA']),
  });
  expect(plans[0]!.sql).not.toContain('EMEA');
  expect(plans[0]!.reads).toEqual([
    { name: 'orders', kind: 'cube', rows: 'all', policies: [expect.objectContaining({ counts: true })] },
    {
      name: 'customers',
      kind: 'cube',
      rows: 'filtered',
      policies: [
        {
          groups: [ANALYSTS, 'role:Admin'],
          matchedGroups: [],
          counts: false,
          why: 'The viewer belongs to none of its groups.',
        },
        {
          groups: ['partners'],
          matchedGroups: ['partners'],
          counts: true,
          why: 'It admits the viewer, and opens every member that the query names.',
          filter: { and: [{ member: 'region', operator: 'equals', values: ['EMEA'] }] },
        },
      ],
    },
  ]);
});

test('an explanation says what a viewer lacks, and that no policy admits them', async () => {
  const lacking = await explain({ groups: ['partners'] });
  expect(lacking.plans[0]!.reads[1]!.policies[1]).toMatchObject({
    filter: { and: [{ member: 'region', values: [], missing: ['userAttributes.region'] }] },
  });
  const nobody = await explain({});
  expect(nobody.plans[0]!.reads[1]).toMatchObject({ name: 'customers', rows: 'none' });
});

test('an explanation says that a policy does not open a member that the query names', async () => {
  const query = { dimensions: ['customers.name'] };
  const { plans } = await explain({ groups: [ANALYSTS, 'partners'] }, query);
  expect(plans[0]!.reads[0]).toMatchObject({
    name: 'customers',
    rows: 'all',
    policies: [
      { counts: true },
      { counts: false, why: 'It does not open name, which the query names.', matchedGroups: ['partners'] },
    ],
  });
});

test('an explanation names hidden members, also if the query asks for one', async () => {
  const query = { dimensions: ['customers.name'] };
  const { hiddenMembers, plans, error } = await explain({ groups: ['partners'] }, query);
  expect(hiddenMembers).toEqual([
    { member: 'customers.id', why: 'It is not public.' },
    { member: 'customers.name', why: 'Policies admit the viewer, but none of them opens it.' },
  ]);
  expect(plans).toEqual([]);
  expect(error).toMatchObject({ code: 'unknown_member' });
});

test('a query of a data source that is not configured has no explanation', async () => {
  const far =
    'cubes: [{ name: far, data_source: warehouse, sql_table: t, measures: [{ name: count, type: count }] }]';
  const id = await createShop(world, { 'model/far.yml': far });
  const asked = world.admin.explainQuery({ deploymentId: id, body: { query: { measures: ['far.count'] } } });
  await expect(asked).rejects.toMatchObject({ status: 409, code: 'source_not_configured' });
});

test('an explanation is of the caller by default, and only for who may read the schema', async () => {
  const { viewer, plans } = await explain(undefined);
  expect(viewer).toMatchObject({ roles: ['Admin'] });
  expect(plans[0]!.reads[1]).toMatchObject({ rows: 'all' });
  const reader = await world.person({ roles: ['Viewer'] });
  const refused = reader.client.explainQuery({ deploymentId, body: { query: QUERY } });
  await expect(refused).rejects.toMatchObject({ status: 403 });
  const { client } = await world.embedded({ deploymentId, externalId: unique('viewer') });
  const embedded = client.explainQuery({ deploymentId, body: { query: QUERY } });
  await expect(embedded).rejects.toMatchObject({ status: 403 });
});

test('the access of a viewer is explained for every cube: rows, members, and which policy did not match', async () => {
  const body = { viewer: { groups: ['partners'], userAttributes: { region: 'EMEA' } } };
  const { cubes, viewer, isComplete } = await world.admin.explainAccess({ deploymentId, body });
  expect([viewer.groups, isComplete]).toEqual([['partners'], true]);
  expect(cubes.find(({ name }) => name === 'customers')).toMatchObject({
    kind: 'cube',
    rows: 'filtered',
    policies: [
      { counts: false, why: 'The viewer belongs to none of its groups.' },
      { counts: true, filter: { and: [{ member: 'region', operator: 'equals', values: ['EMEA'] }] } },
    ],
    hiddenMembers: expect.arrayContaining([
      { member: 'customers.name', why: 'Policies admit the viewer, but none of them opens it.' },
    ]),
  });
  const lost = await world.admin.explainAccess({ deploymentId, body: { viewer: {} } });
  expect(lost.cubes.find(({ name }) => name === 'customers')).toMatchObject({ rows: 'none' });
});

test('who a person is, with groups and attributes, is told to admins and to the person', async () => {
  const person = await world.person({ roles: ['Developer'] });
  const group = await world.admin.createUserGroup({ body: { name: ANALYSTS } });
  await world.admin.addUserGroupMembers({ id: group.id, body: { userIds: [person.userId] } });
  const asked = { deploymentId, body: { userId: person.userId } };
  for (const client of [world.admin, person.client]) {
    const { viewer, cubes } = await client.explainAccess(asked);
    expect(viewer).toMatchObject({ groups: [ANALYSTS], roles: ['Developer'] });
    expect(cubes.find(({ name }) => name === 'customers')).toMatchObject({ rows: 'all' });
  }
  const other = await world.person({ roles: ['Developer'] });
  await expect(other.client.explainAccess(asked)).rejects.toMatchObject({ status: 403 });
  const both = world.admin.explainAccess({ deploymentId, body: { userId: person.userId, viewer: {} } });
  await expect(both).rejects.toMatchObject({ status: 400, code: 'invalid_request' });
  // What a viewer in a page of a host sees depends on the session.
  const { client } = await world.embedded({ deploymentId, externalId: unique('viewer') });
  const { user } = await client.getEmbedSession();
  for (const userId of [2 ** 40, user.id]) {
    const unknown = world.admin.explainAccess({ deploymentId, body: { userId } });
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'user_not_found' });
  }
});

/** What is made for one viewer of a model, whose text is that of its cubes. */
const contextOf = (cubes: string, viewer: Partial<Viewer>) => ({
  model: compileModel(new Map([['model/cubes.yml', `cubes:\n${cubes}`]])).model!,
  viewer: {
    ...{
      groups: [],
      tenantGroups: [],
      roles: [],
      userAttributes: {},
      securityContext: null,
      seesUnguarded: true,
    },
    ...viewer,
  },
  typeOf: () => 'duckdb' as const,
  now: new Date(),
  budget: createPlanBudget(),
});
const times = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i)).join('');

test('the access to a model of many cubes is explained for the first thousand', () => {
  const cubes = (count: number) =>
    access(
      {},
      contextOf(
        times(count, (i) => `  - { name: c${i}, sql_table: t }\n`),
        {},
      ),
    );
  expect(cubes(1000)).toMatchObject({ isComplete: true, cubes: { length: 1000 } });
  expect(cubes(1001)).toMatchObject({ isComplete: false, cubes: { length: 1000 } });
});

test('the access to a model is explained within 4 MB, in which policies and hidden members count', () => {
  const explained = (policies: number, hidden: number) => {
    const policy =
      '{ group: "*", row_level: { filters: [{ member: a, operator: equals, values: ["{ userAttributes.long }"] }] } }';
    const cube = (i: number) => `  - name: c${i}
    sql_table: t
    dimensions: [{ name: a, sql: a, type: string }${i === 0 ? times(hidden, (n) => `, { name: ${'h'.repeat(90)}${n}, sql: a, type: string, public: false }`) : ''}]
${i < policies ? `    access_policy: [${policy}]\n` : ''}`;
    return access({}, contextOf(times(40, cube), { userAttributes: { long: 'x'.repeat(100_000) } }));
  };
  // About 4.0 MB of 4.2 MB, 0.9 MB, and both together.
  expect(explained(40, 0)).toMatchObject({ isComplete: true, cubes: { length: 40 } });
  expect(explained(0, 5001)).toMatchObject({ isComplete: true, cubes: { length: 40 } });
  expect(explained(40, 5001)).toMatchObject({ isComplete: false });
  // No more hidden members are listed, and all are counted.
  const [first] = explained(0, 5001).cubes;
  expect([first!.hiddenCount, first!.hiddenMembers.length]).toEqual([5001, 5000]);
});

const SECRET = {
  groups: ['secret'],
  matchedGroups: [],
  counts: false,
  why: 'The viewer belongs to none of its groups.',
};
type Rows = 'all' | 'filtered' | 'none';
test.each<[string, named: [string, Rows][], others: [string, Rows][], shown: Rows[]]>([
  ['no cube hides', [['orders', 'all']], [['customers', 'all']], ['all']],
  [
    'a cube that it does not name hides',
    [
      ['orders', 'all'],
      ['items', 'all'],
    ],
    [['customers', 'filtered']],
    ['filtered', 'all'],
  ],
  [
    'a cube that it does not name hides wholly',
    [['orders', 'all']],
    [
      ['customers', 'filtered'],
      ['regions', 'none'],
    ],
    ['none'],
  ],
  [
    'a cube that it names hides',
    [
      ['orders', 'all'],
      ['items', 'filtered'],
    ],
    [['customers', 'none']],
    ['all', 'filtered'],
  ],
  ['only cubes that it does not name hide', [], [['customers', 'none']], []],
])('who may not know the model learns that %s rows, and nothing else', (_, named, others, shown) => {
  const query = { dimensions: named.map(([name]) => `${name}.id`) };
  const reads = [...others, ...named].map(([name, rows]) => ({
    name,
    rows,
    kind: 'cube' as const,
    policies: [SECRET],
  }));
  const explained = {
    ...explainFor(
      { measures: ['none.count'] },
      contextOf('  - { name: none, sql_table: t, measures: [{ name: count, type: count }] }', {}),
    ),
    hiddenMembers: [{ member: 'orders.secret', why: 'It is not public.' }],
  };
  const [plan] = explained.plans;
  const own = toOwn({ ...explained, plans: [{ ...plan!, reads }] }, query, false);
  expect(own).toMatchObject({ hiddenMembers: [], plans: [{ sql: '', values: [] }] });
  expect(own.plans[0]!.reads).toEqual(
    named.map(([name], i) => ({ name, rows: shown[i], kind: 'cube', policies: [] })),
  );
});
