import { expect, test } from 'vitest';
import { errorOf, modelOf, planOf, somebody } from '../../test/plans.ts';
import { type Json, limitsRows, type Operator, type Viewer } from '../index.ts';
import { OPERATORS } from '../language/policies.ts';

const cube = (policies: string, dimensions = '') => `cubes:
  - name: orders
    sql_table: orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
      - { name: secret, sql: secret, type: string, public: false }
      - { name: region_id, sql: region_id, type: number }
      - { name: created_at, sql: created_at, type: time }
      - { name: loose, sql: "{CUBE}.a or b", type: boolean }
      - { name: looser, sql: "{CUBE}.a or {region_id}", type: boolean }
      - { name: active, sql: "{CUBE}.a or {CUBE}.b -- why", type: boolean }
${dimensions}    measures:
      - { name: count, type: count }
    access_policy:
${policies}`;

const rowPolicy = (member: string, operator: string, values: string) =>
  cube(
    `      - group: "*"\n        row_level: { filters: [{ member: ${member}, operator: ${operator}, values: ${values} }] }\n`,
  );
const COUNT = { measures: ['orders.count'] };
const having = (userAttributes: Record<string, Json>): Viewer => ({ ...somebody, userAttributes });
const whereOf = (text: string, viewer: Viewer, query: object = COUNT) =>
  / where (.*)|$/
    .exec(planOf(modelOf(text), query, viewer).statement.sql.replace(/\s+/g, ' '))![0]
    .split(' ) as ')[0]!
    .trim();

test('a viewer whom no policy admits gets no rows, and no hint of the members', () => {
  const model = modelOf(`${cube('      - group: staff\n')}views:
  - name: sales
    cubes: [{ join_path: orders, includes: [status] }]
`);
  const staff: Viewer = { ...somebody, groups: ['staff'] };
  for (const name of ['orders.statu', 'order.status', 'sales.statu', 'sale.status']) {
    const messageFor = (viewer: Viewer) => errorOf(model, { dimensions: [name] }, viewer).message;
    expect(messageFor(staff)).toMatch(/Did you mean/);
    expect(messageFor(somebody)).not.toMatch(/Did you mean/);
  }
  expect(planOf(model, { dimensions: ['orders.status'] }, somebody).statement.sql).toMatch(/false/);
});

test('a viewer whom only the policy of a view does not admit gets no hint of what it includes', () => {
  const model = modelOf(`${cube('      - group: "*"\n')}views:
  - name: sales
    cubes: [{ join_path: orders, includes: [status] }]
    access_policy: [{ group: staff }]
`);
  const staff: Viewer = { ...somebody, groups: ['staff'] };
  for (const name of ['sales.statu', 'sale.status']) {
    const messageFor = (viewer: Viewer) => errorOf(model, { dimensions: [name] }, viewer).message;
    expect(messageFor(staff)).toContain('`sales.status`');
    expect(messageFor(somebody)).not.toContain('`sales.status`');
  }
});

test('a view without a policy does not exist for embed viewers, unless what it includes has one', () => {
  const viewer: Viewer = { ...somebody, seesUnguarded: false };
  const view = `views:
  - name: sales
    cubes: [{ join_path: orders, includes: [status] }]
`;
  const query = { dimensions: ['sales.status'] };
  const unguarded = modelOf(cube('').replace(/ *access_policy:\n/, '') + view);
  expect(planOf(unguarded, query, somebody).statement.sql).toContain('status');
  expect(errorOf(unguarded, query, viewer).code).toBe('unknown_member');
  expect(planOf(modelOf(cube('      - group: "*"\n') + view), query, viewer).statement.sql).toContain(
    'status',
  );
});

test('a cube without a policy does not exist for embed viewers, also not between others', () => {
  const named = (
    name: string,
    to: readonly string[],
    policy = '    access_policy: [{ group: "*" }]\n',
  ) => `  - name: ${name}
    sql_table: ${name}
    joins: [${to.map((other) => `{ name: ${other}, relationship: many_to_one, sql: "{CUBE}.x = {${other}}.y" }`).join(', ')}]
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
    measures: [{ name: count, type: count }]
${policy}`;
  const model = modelOf(
    `cubes:\n${named('sales', ['days', 'shops', 'bare'])}${named('visits', ['days', 'shops'])}${named('days', [])}${named('shops', [])}${named('bare', ['towns'], '')}${named('towns', [])}`,
  );
  const viewer: Viewer = { ...somebody, seesUnguarded: false };
  const through = { measures: ['sales.count'], dimensions: ['towns.id'] };
  const hinted = (cube: string) => ({ ...through, joinHints: [['sales', cube, 'towns']] });
  expect(planOf(model, hinted('bare')).statement.sql).toContain('join bare');
  expect(planOf(model, { dimensions: ['bare.id'] }).statement.sql).toContain('from bare');
  expect(errorOf(model, through, viewer)).toMatchObject({
    code: 'no_join_path',
    message: 'No joins lead from `towns` to `sales`.',
  });
  for (const query of [hinted, (cube: string) => ({ dimensions: [`${cube}.id`] })])
    expect(errorOf(model, query('bare'), viewer).message).toBe(
      errorOf(model, query('none'), viewer).message.replaceAll('none', 'bare'),
    );
  // Two ways lead from one fact to the other, and the query needs neither.
  const apart = { measures: ['sales.count', 'visits.count'], dimensions: ['days.id'] };
  expect(planOf(model, apart, viewer).cubes).toEqual(expect.arrayContaining(['sales', 'visits', 'days']));
});

test.each<[string, string, object, boolean]>([
  ['no policy', '', COUNT, false],
  ['a policy for all rows', '      - group: "*"\n', COUNT, false],
  ['no policy for the viewer', '      - group: staff\n', COUNT, true],
  [
    'a policy for some rows',
    '      - group: "*"\n        row_level: { filters: [{ member: status, operator: set }] }\n',
    COUNT,
    true,
  ],
  [
    'a policy for all rows beside one for some',
    '      - group: "*"\n        row_level: { filters: [{ member: status, operator: set }] }\n      - group: "*"\n',
    COUNT,
    false,
  ],
  [
    'a policy for all rows that does not open a member, beside one for some',
    '      - group: "*"\n        row_level: { filters: [{ member: status, operator: set }] }\n      - group: "*"\n        member_level: { excludes: [status] }\n',
    { dimensions: ['orders.status'] },
    true,
  ],
])('an answer says whether rows may be hidden: %s', (_, policies, query, isLimited) => {
  const text = policies ? cube(policies) : cube('').replace(/ *access_policy:\n/, '');
  const view = (filters: string) => `views:
  - name: sales
    cubes: [{ join_path: orders, includes: [count, status] }]
    access_policy: [{ group: "*"${filters} }]
`;
  const limits = (model: ReturnType<typeof modelOf>, asked: object) =>
    limitsRows(model, somebody, planOf(model, asked));
  expect(limits(modelOf(text), query)).toBe(isLimited);
  const ofView = JSON.parse(JSON.stringify(query).replaceAll('orders.', 'sales.'));
  expect(limits(modelOf(text + view('')), ofView)).toBe(isLimited);
  const some = ', row_level: { filters: [{ member: status, operator: set }] }';
  expect(limits(modelOf(text + view(some)), ofView)).toBe(true);
});

test('members that are hidden and members that do not exist get the same error', () => {
  const model = modelOf(cube('      - group: "*"\n        member_level: { excludes: [region_id] }\n'));
  const messages = ['id', 'secret', 'region_id', 'nothing'].map((name) => {
    const { code, message } = errorOf(model, { dimensions: [`orders.${name}`] });
    return [code, message.replaceAll(name, 'x')];
  });
  expect(new Set(messages.map(String)).size).toBe(1);
  expect(messages[0]![0]).toBe('unknown_member');
  const other = errorOf(model, { dimensions: ['nowhere.x'] });
  expect(other.message).toBe(messages[0]![1]!.replace('orders', 'nowhere'));
});

test('a hidden member is refused wherever a query names it', () => {
  const model = modelOf(
    cube('      - group: "*"\n        member_level: { excludes: [region_id, created_at] }\n'),
  );
  const queries = [
    { dimensions: ['orders.region_id'] },
    { ...COUNT, filters: [{ or: [{ and: [{ member: 'orders.region_id', operator: 'set' }] }] }] },
    { ...COUNT, timeDimensions: [{ dimension: 'orders.created_at', dateRange: 'today' }] },
    { dimensions: ['orders.created_at.day'] },
  ];
  for (const query of queries) expect(errorOf(model, query).code).toBe('unknown_member');
});

const WITH_VALUES = (Object.keys(OPERATORS) as Operator[]).filter((name) => OPERATORS[name][1] > 0);
test.each(WITH_VALUES)(
  '%s matches no row if the attribute is missing, null, empty or no value',
  (operator) => {
    const member = operator.includes('Date') ? 'created_at' : 'status';
    const text = rowPolicy(member, operator, '["{ userAttributes.a }"]');
    for (const attributes of [
      {},
      { a: null },
      { a: [] },
      { a: [null] },
      { a: {} },
      { a: [[]] },
      { b: 'x' },
    ] as Record<string, Json>[]) {
      expect(whereOf(text, having(attributes)), JSON.stringify(attributes)).toBe('where false');
    }
  },
);

test.each(['contains', 'notContains', 'startsWith', 'notStartsWith', 'endsWith', 'notEndsWith'])(
  '%s matches no row if the attribute is an empty text',
  (operator) => {
    const text = rowPolicy('status', operator, '["{ userAttributes.a }"]');
    for (const a of ['', [''], ['x', '']]) expect(whereOf(text, having({ a }))).toBe('where false');
    expect(whereOf(text, having({ a: 'x' }))).not.toBe('where false');
  },
);

test('a value of the viewer that does not fit the column matches no row', () => {
  const text = rowPolicy('region_id', 'notEquals', '["{ userAttributes.a }"]');
  for (const a of ['x', '1; drop', true, '', 2 ** 53, '1e999'])
    expect(whereOf(text, having({ a }))).toBe('where false');
  expect(whereOf(text, having({ a: ['1', 'x'] }))).toBe('where false');
  expect(whereOf(text, having({ a: '9007199254740993' }))).toBe('where "orders".region_id <> $1::bigint');
});

test.each([
  ['region_id', 'gt', ['1'], ['1', '2']],
  ['created_at', 'beforeDate', ['2024-01-01'], ['2024-01-01', '2024-02-01']],
  ['created_at', 'inDateRange', ['2024-01-01', '2024-02-01'], ['2024-01-01', '2024-02-01', '2024-03-01']],
  ['created_at', 'inDateRange', ['2024-01-01'], ['2024-01-01', 5]],
])('%s %s matches no row if the viewer has more values than it takes', (member, operator, some, many) => {
  const text = rowPolicy(member, operator, '["{ userAttributes.a }"]');
  expect(whereOf(text, having({ a: some }))).toMatch(/"orders"/);
  expect(whereOf(text, having({ a: many }))).toBe('where false');
});

test('what every object has is no attribute', () => {
  for (const path of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const text = rowPolicy('status', 'notEquals', `["{ userAttributes.${path} }"]`);
    expect(whereOf(text, somebody)).toBe('where false');
  }
  const inherited = having(Object.create({ a: 'x' }));
  expect(whereOf(rowPolicy('status', 'notEquals', '["{ userAttributes.a }"]'), inherited)).toBe(
    'where false',
  );
  const text = rowPolicy('status', 'notEquals', '["{ securityContext.list.length }"]');
  for (const list of [['a'], 'a', null])
    expect(whereOf(text, { ...somebody, securityContext: { list } })).toBe('where false');
});

test('an attribute that is an empty text equals empty texts, and one without end equals nothing', () => {
  const text = rowPolicy('status', 'equals', '["{ userAttributes.a }"]');
  expect(whereOf(text, having({ a: '' }))).toContain('= $1::varchar');
  expect(whereOf(text, having({ a: Number.POSITIVE_INFINITY }))).toBe('where false');
});

test('values inside of the security context are found, and lists become several values', () => {
  const text = rowPolicy('region_id', 'equals', '["{ securityContext.customer.ids }"]');
  const securityContext = { customer: { ids: ['1', '2'] } };
  expect(whereOf(text, { ...somebody, securityContext })).toBe(
    'where "orders".region_id in ($1::bigint, $2::bigint)',
  );
});

test('another filter may still be true beside one without its attribute', () => {
  const text = cube(`      - group: "*"
        row_level:
          filters:
            - or:
                - { member: status, operator: equals, values: ["{ userAttributes.a }"] }
                - { member: region_id, operator: equals, values: [7] }
`);
  expect(whereOf(text, somebody)).toBe('where "orders".region_id = $1::bigint');
});

const grouped = (group: string) => cube(`      - group: "${group}"\n`);

test.each<[string, Partial<Viewer>, boolean]>([
  ['sales', { groups: ['sales'] }, true],
  ['sales', { tenantGroups: ['sales'], roles: ['sales'] }, false],
  ['tenant:sales', { tenantGroups: ['sales'] }, true],
  ['tenant:sales', { groups: ['tenant:sales', 'sales'], roles: ['sales'] }, false],
  ['role:Admin', { roles: ['Admin'] }, true],
  ['role:Admin', { groups: ['role:Admin', 'Admin'], tenantGroups: ['Admin'] }, false],
  ['*', {}, true],
])('a policy for %s admits %j: %s', (group, viewer, isAdmitted) => {
  expect(whereOf(grouped(group), { ...somebody, ...viewer })).toBe(isAdmitted ? '' : 'where false');
});

test('a policy counts only if it opens every member that the query names', () => {
  const text = cube(`      - group: "*"
        row_level: { filters: [{ member: status, operator: equals, values: [a] }] }
        member_level: { includes: [count, status] }
      - group: "*"
        row_level: { filters: [{ member: region_id, operator: equals, values: [1] }] }
        member_level: { includes: [count, region_id] }
`);
  expect(whereOf(text, somebody)).toContain(' or ');
  expect(whereOf(text, somebody, { ...COUNT, dimensions: ['orders.status'] })).toContain(
    'status)::varchar = $1::varchar group',
  );
  expect(whereOf(text, somebody, { dimensions: ['orders.status', 'orders.region_id'] })).toContain(
    'where false',
  );
});

/** 26 hours lie between the first and the last. */
const ZONES = ['UTC', 'Asia/Tokyo', 'Pacific/Kiritimati', 'Etc/GMT+12', 'Etc/GMT-14'];

test.each<[string, string, Record<string, Json>]>([
  ['afterOrOnDate', '["2024-01-01"]', {}],
  ['equals', '["2024-01-01"]', {}],
  ['inDateRange', '["2024-01-01", "2024-01-31"]', {}],
  ['inDateRange', '["{ userAttributes.range }"]', { range: 'last 7 days' }],
  ['beforeDate', '["{ userAttributes.range }"]', { range: 'today' }],
])('the time zone of a query does not move the policy %s %s', (operator, values, attributes) => {
  const model = modelOf(rowPolicy('created_at', operator, values));
  const statements = ZONES.map(
    (timezone) => planOf(model, { ...COUNT, timezone }, having(attributes)).statement,
  );
  expect(statements[0]!.sql).not.toContain('where false');
  for (const statement of statements) expect(statement).toEqual(statements[0]);
  if (values.includes('2024')) expect(statements[0]!.parameters[0]).toBe('2024-01-01T00:00:00.000000Z');
});

test('the time zone of a query moves no dimension that a policy compares, and no join', () => {
  const day = '      - { name: day, sql: "{created_at.day}", type: time }\n';
  const policies =
    '      - group: "*"\n        row_level: { filters: [{ member: day, operator: equals, values: ["2024-01-01"] }] }\n';
  const model = modelOf(cube(policies, day));
  const plans = ZONES.map((timezone) => planOf(model, { ...COUNT, timezone }).statement);
  for (const plan of plans) expect(plan).toEqual(plans[0]);
  expect(plans[0]!.parameters).toContain('UTC');

  const joined =
    modelOf(`${cube(policies, day).replace('    dimensions:', '    joins:\n      - { name: days, relationship: many_to_one, sql: "{created_at.day} = {days}.day" }\n    dimensions:')}
  - name: days
    sql_table: days
    dimensions:
      - { name: day, sql: day, type: time, primary_key: true }
      - { name: is_open, sql: is_open, type: boolean }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: is_open, operator: equals, values: [true] }] }
`);
  const query = { ...COUNT, dimensions: ['days.is_open'] };
  const joins = ZONES.map((timezone) => planOf(joined, { ...query, timezone }).statement);
  for (const plan of joins) expect(plan).toEqual(joins[0]);
});

test('an `or` or a comment in the SQL of a dimension cannot weaken a policy', () => {
  const where = whereOf(rowPolicy('active', 'equals', '[true]'), somebody);
  expect(where).toMatch(/^where \("orders"\.a or "orders"\.b +\) = \$1::boolean$/);
  for (const [member, condition] of [
    ['loose', 'b'],
    ['looser', '"orders".region_id'],
  ] as const)
    expect(whereOf(rowPolicy(member, 'equals', '[true]'), somebody)).toBe(
      `where ("orders".a or ${condition}) = $1::boolean`,
    );
});

/** Puts a text at every place of a query where a text is, one after the other. */
function* injections(value: unknown, text: string): Generator<unknown> {
  if (typeof value === 'string') yield text;
  else if (Array.isArray(value)) {
    for (const [i, item] of value.entries())
      for (const made of injections(item, text)) yield value.with(i, made);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value))
      for (const made of injections(item, text)) yield { ...value, [key]: made };
  }
}

test('no text of a query or a viewer becomes part of the SQL', () => {
  const model = modelOf(rowPolicy('status', 'notEquals', '["{ userAttributes.a }"]'));
  const query = {
    measures: ['orders.count'],
    dimensions: ['orders.status'],
    timeDimensions: [
      { dimension: 'orders.created_at', granularity: 'day', dateRange: ['2024-01-01', '2024-01-31'] },
    ],
    filters: [
      {
        or: [
          { member: 'orders.status', operator: 'contains', values: ['x'] },
          { member: 'orders.region_id', operator: 'equals', values: ['1'] },
        ],
      },
    ],
    segments: [],
    order: [['orders.count', 'desc']],
    timezone: 'UTC',
  };
  const texts = ["x' or 1=1 --", '"; drop table orders; --', '$1', "\\'; --", '{CUBE}', '%', 'INJECTED'];
  let planned = 0;
  let refused = 0;
  for (const text of texts) {
    for (const made of injections(query, text)) {
      for (const dialect of ['duckdb', 'postgres'] as const) {
        try {
          const { statement } = planOf(model, made as object, having({ a: text }), dialect);
          planned++;
          expect(statement.sql.replace(/\$\d+::/g, '')).not.toContain(text);
          expect(
            statement.parameters.some(
              (parameter) => parameter.includes(text.replace(/[\\%_]/g, '\\$&')) || parameter.includes(text),
            ),
          ).toBe(true);
        } catch (error) {
          if ((error as Error).name !== 'QueryError') throw error;
          refused++;
        }
      }
    }
  }
  expect(planned).toBe(texts.length * 2);
  expect(refused).toBeGreaterThan(100);
});

test('policies of a cube that lies only between two facts apply to both, with or without rows of it', () => {
  const fact = (name: string) => `  - name: ${name}
    sql_table: ${name}
    joins:
      - { name: accounts, relationship: many_to_one, sql: "{CUBE}.account_id = {accounts}.id" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: count, type: count }
`;
  const model = modelOf(`cubes:
  - name: accounts
    sql_table: accounts
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: region, sql: region, type: string }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.region }"] }] }
${fact('orders')}${fact('tickets')}`);
  const query = { measures: ['orders.count', 'tickets.count'] };
  const sqlFor = (viewer: Viewer) => planOf(model, query, viewer).statement.sql;
  expect(sqlFor(having({ region: 'EMEA' })).match(/"accounts"\)?\.region/g)).toHaveLength(2);
  expect(sqlFor(somebody).match(/where\s+false/g)).toHaveLength(2);
  // Alone, a fact does not pass through the other cube.
  expect(planOf(model, { measures: ['orders.count'] }, somebody).cubes).toEqual(['orders']);
});
