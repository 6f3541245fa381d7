import { describe, expect, test } from 'vitest';
import { fromAddress, toAddress } from './address.ts';
import { type Calculated, errorIn, nameFor } from './calculated.ts';
import {
  addFilter,
  addMember,
  changeFilter,
  combine,
  exploreFrom,
  removeCalculated,
  removeMember,
  setGranularity,
  sortBy,
  toggleMember,
} from './changes.ts';
import { proposalsAt } from './expression-input.tsx';
import { createHistory, redo, STEPS_MAX, step, undo } from './history.ts';
import { createModel, excerptOf, listRows, type Member, type Source, searchMembers } from './members.ts';
import { readPasted } from './paste.tsx';
import {
  columnKeys,
  comparison,
  emptyQuestion,
  type FilterNode,
  fromQuery,
  group,
  isGroup,
  type JsonQuery,
  type Question,
  toQuery,
} from './question.ts';
import { readRange, writeRange } from './ranges.ts';
import { semanticSql } from './semantic-sql.ts';

const QUERY = {
  measures: ['sales.revenue', 'sales.orders'],
  dimensions: ['sales.status'],
  timeDimensions: [
    { dimension: 'sales.ordered_at', granularity: 'month', dateRange: 'last 12 months' },
    { dimension: 'sales.shipped_at', dateRange: ['2026-01-01', '2026-02-01'] },
  ],
  filters: [
    { member: 'sales.revenue', operator: 'gt', values: ['10'] },
    {
      or: [
        { member: 'sales.status', operator: 'equals', values: ['completed', 'ü ,"~.'] },
        {
          and: [
            { member: 'sales.channel', operator: 'set' },
            { member: 'sales.channel', operator: 'contains', values: ['w'] },
          ],
        },
      ],
    },
  ],
  segments: ['sales.big'],
  offset: 20,
  total: true,
  joinHints: [['sales', 'stores']],
  order: [
    ['sales.ordered_at.month', 'asc'],
    ['sales.revenue', 'desc'],
  ],
  limit: 100,
  timezone: 'Europe/Berlin',
};

/** Ids of filters are for the page only. */
const withoutIds = (question: Question) =>
  JSON.parse(JSON.stringify(question, (key, value) => (key === 'id' ? undefined : value)));

test('free ranges of time are read as they are written', () => {
  for (const text of [
    'last 14 days',
    'next 2 quarters',
    'from 14 days ago to 7 days ago',
    'from now to 3 weeks from now',
  ])
    expect(writeRange(readRange(text)!)).toBe(text);
  for (const text of ['last week', 'from 2024-01-01 to now', 'since ever'])
    expect(readRange(text)).toBeUndefined();
});

test('a question as SQL over the model', () => {
  const kinds: Record<string, { kind: string; type: string }> = {
    'sales.revenue': { kind: 'measure', type: 'number' },
    'sales.tier': { kind: 'dimension', type: 'number' },
  };
  const sql = (query: JsonQuery) => semanticSql(query, (member) => kinds[member]);
  expect(
    sql({
      measures: ['sales.revenue'],
      dimensions: ['sales.order'],
      timeDimensions: [
        { dimension: 'sales.at', granularity: 'month', dateRange: ['2024-01-01', '2024-01-31'] },
      ],
      filters: [
        { member: 'sales.order', operator: 'contains', values: ["50% o'clock"] },
        {
          or: [
            { member: 'sales.tier', operator: 'gt', values: ['2'] },
            { member: 'sales.tier', operator: 'notSet' },
          ],
        },
        { member: 'sales.revenue', operator: 'gte', values: ['10'] },
      ],
      order: [['sales.revenue', 'desc']],
      limit: 5,
    }),
  ).toBe(`select date_trunc('month', at),
  "order",
  measure(revenue)
from sales
where at >= '2024-01-01' and at < '2024-02-01'
  and ("order" ilike '%50\\% o''clock%')
  and (tier > 2 or tier is null)
group by 1, 2
having measure(revenue) >= 10
order by 3 desc
limit 5`);
  // What it has no words for is not shown as something else.
  for (const more of [
    { segments: ['sales.large'] },
    { offset: 5 },
    { ungrouped: true },
    { timeDimensions: [{ dimension: 'sales.at', dateRange: 'last 7 days' }] },
    { measures: ['sales.revenue', 'stock.count'] },
    {
      filters: [
        {
          or: [
            { member: 'sales.revenue', operator: 'set' },
            { member: 'sales.tier', operator: 'set' },
          ],
        },
      ],
    },
  ])
    expect(sql({ measures: ['sales.revenue'], ...more })).toBeUndefined();
});

describe('a question', () => {
  test('becomes the query that it was made of, and survives the address', () => {
    const question = fromQuery(QUERY);
    expect(toQuery(question)).toEqual(QUERY);
    const full: Question = {
      ...question,
      compare: { amount: 1, unit: 'year' },
      visualization: { type: 'combo', series: { 'sales.orders': { title: '日本 "x"' } } },
    };
    const address = toAddress(full)!;
    expect(address).toMatch(/^1[\w-]+$/);
    expect(withoutIds(fromAddress(address)!)).toEqual(withoutIds(full));
    expect(toQuery(fromAddress(JSON.stringify(QUERY))!)).toEqual(QUERY);
  });

  test('is read from nothing that is none, and nothing in a link is trusted', () => {
    for (const text of ['', '2abc', '1%%%', '1bnVsbA', `1${btoa('[]')}`, '{', 'x'.repeat(20)])
      expect([undefined, []]).toContainEqual(fromAddress(text)?.measures);
    const hostile = {
      s: 7,
      m: [1, null, {}, 'a.b'],
      t: [['x'], 'y'],
      f: [[1, 2], { a: 'x' }, ['a.b', 'equals', 5]],
      o: 3,
      l: 'x',
      c: [1, 'eon'],
      v: 'x',
      x: { offset: 3, measures: ['c.d'] },
    };
    const read = fromAddress(`1${btoa(JSON.stringify(hostile))}`)!;
    expect(read).toMatchObject({
      measures: ['a.b'],
      times: [],
      order: [],
      limit: undefined,
      compare: undefined,
      visualization: undefined,
      others: { offset: 3 },
    });
    expect(read.filters).toMatchObject([{ member: 'a.b', operator: 'equals', values: [] }]);
    expect(
      toAddress({ ...emptyQuestion(), measures: Array.from({ length: 3000 }, (_, i) => `sales.m${i}`) }),
    ).toBeUndefined();
  });

  test('leaves out filters that say nothing yet', () => {
    const incomplete = [
      comparison('sales.status', 'equals'),
      group('or', [comparison('sales.status', 'contains', [''])]),
    ];
    const question = { ...fromQuery({ measures: ['sales.orders'] }), filters: incomplete };
    expect(toQuery(question)).toEqual({ measures: ['sales.orders'] });
  });

  test('is pasted as JSON, as the body of a request, or as SQL', () => {
    expect(readPasted(JSON.stringify({ query: QUERY }))).toMatchObject({
      question: { measures: QUERY.measures },
    });
    expect(readPasted(' select measure(orders) from sales; ')).toEqual({
      sql: 'select measure(orders) from sales',
    });
    for (const text of ['drop table x', '{}', 'null', '[1]']) expect(readPasted(text)).toBeUndefined();
  });
});

describe('changes', () => {
  test('members come and go with what refers to them', () => {
    let question = addMember(emptyQuestion(), 'sales.ordered_at', 'time');
    question = addMember(question, 'sales.revenue', 'measure');
    question = sortBy(question, 'sales.ordered_at.month', { first: 'asc', beside: false });
    question = setGranularity(question, 'sales.ordered_at', 'week');
    expect(question).toMatchObject({ source: 'sales', order: [['sales.ordered_at.week', 'asc']] });
    expect(removeMember(question, 'sales.ordered_at')).toMatchObject({
      times: [],
      order: [],
      measures: ['sales.revenue'],
    });
    expect(
      toggleMember(toggleMember(question, 'sales.status', 'dimension'), 'sales.status', 'dimension'),
    ).toEqual(question);
  });

  test('a column is ordered one way, the other way, and not at all', () => {
    const orders: unknown[] = [];
    let question = addMember(emptyQuestion(), 'sales.revenue', 'measure');
    for (let i = 0; i < 3; i++) {
      question = sortBy(question, 'sales.revenue', { first: 'desc', beside: false });
      orders.push(question.order);
    }
    expect(orders).toEqual([[['sales.revenue', 'desc']], [['sales.revenue', 'asc']], []]);
  });

  test('filters get alternatives, and empty groups go', () => {
    const [first, second] = [
      comparison('sales.status', 'equals', ['a']),
      comparison('sales.status', 'equals', ['b']),
    ];
    let question = addFilter(addMember(emptyQuestion(), 'sales.orders', 'measure'), first);
    question = combine(question, first.id, 'or', second);
    const or = question.filters[0] as FilterNode;
    expect(isGroup(or) && or.join).toBe('or');
    expect(toQuery(question).filters).toEqual([
      { or: [first, second].map(({ member, operator, values }) => ({ member, operator, values })) },
    ]);
    // As deep as somebody needs: an alternative of two filters that both must be true.
    const third = comparison('sales.channel', 'equals', ['c']);
    question = combine(question, second.id, 'and', third);
    const said = ({ member, operator, values }: typeof first) => ({ member, operator, values });
    expect(toQuery(question).filters).toEqual([{ or: [said(first), { and: [said(second), said(third)] }] }]);
    const again = combine(question, third.id, 'and', comparison('sales.channel', 'equals', ['d']));
    expect(JSON.stringify(toQuery(again).filters).match(/"and"/g)).toHaveLength(1);
    question = changeFilter(question, third.id, () => undefined);
    for (const { id } of [first, second]) question = changeFilter(question, id, () => undefined);
    expect(question.filters).toEqual([]);
  });

  test('one can go on from a row', () => {
    const question = exploreFrom(
      fromQuery({
        measures: ['sales.orders'],
        dimensions: ['sales.status', 'sales.channel'],
        timeDimensions: QUERY.timeDimensions.slice(0, 1),
      }),
      [
        ['sales.status', 'completed'],
        ['sales.channel', null],
      ],
      [['sales.ordered_at', ['2026-03-01', '2026-03-31']]],
      { member: 'sales.country', kind: 'dimension' },
    );
    expect(toQuery(question)).toEqual({
      measures: ['sales.orders'],
      dimensions: ['sales.country'],
      timeDimensions: [{ dimension: 'sales.ordered_at', dateRange: ['2026-03-01', '2026-03-31'] }],
      filters: [
        { member: 'sales.status', operator: 'equals', values: ['completed'] },
        { member: 'sales.channel', operator: 'notSet' },
      ],
    });
  });
});

test('undo goes back through everything, and typing is one step', () => {
  const first = emptyQuestion('sales');
  let history = createHistory(first);
  history = step(history, 'add', (question) => addMember(question, 'sales.orders', 'measure'));
  history = step(history, 'nothing', (question) => ({ ...question }));
  for (const limit of [1, 10, 100])
    history = step(history, 'limit', (question) => ({ ...question, limit }), 'limit');
  history = step(history, 'chart', (question) => ({ ...question, visualization: { type: 'pie' } }));
  expect(history.done.map(({ name }) => name)).toEqual(['add', 'limit', 'chart']);
  const last = history.state;
  for (let i = 0; i < 3; i++) history = undo(history);
  expect(history.state).toEqual(first);
  expect(undo(history)).toEqual(history);
  for (let i = 0; i < 3; i++) history = redo(history);
  expect(history.state).toEqual(last);
  for (let i = 0; i < STEPS_MAX + 50; i++)
    history = step(history, 'n', (question) => ({ ...question, limit: i + 1000 }));
  expect(history.done).toHaveLength(STEPS_MAX);
});

test('members are found among thousands, titles first', () => {
  const many = (kind: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      name: `wide.${kind}_${i}`,
      title: '',
      shortTitle: `${kind} ${i}`,
      type: kind === 'time' ? 'time' : 'string',
    }));
  const source: Source = {
    name: 'wide',
    title: 'Wide',
    type: 'view',
    measures: [
      ...many('amount', 2500),
      {
        name: 'wide.x',
        title: '',
        shortTitle: 'Net worth',
        type: 'number',
        description: 'revenue less costs',
      },
    ],
    dimensions: [
      ...many('label', 2500),
      { name: 'wide.revenue_group', title: '', shortTitle: 'Group', type: 'string' },
      { name: 'wide.r', title: '', shortTitle: 'Revenue', type: 'number' },
    ],
    segments: [],
  };
  const model = createModel([source]);
  const members = model.bySource.get('wide')!;
  expect(searchMembers(members, 'reven').map(({ member, why }) => [member.name, why])).toEqual([
    ['wide.r', 'title'],
    ['wide.revenue_group', 'name'],
    ['wide.x', 'description'],
  ]);
  expect(searchMembers(members, 'amount 12').length).toBeGreaterThan(10);
  const chosen = [model.members.get('wide.r')!];
  const state = { source: undefined, members, chosen, text: '', values: new Map() };
  const rows = listRows({ ...state, closed: new Set(['measure']) });
  expect(rows.slice(0, 3)).toMatchObject([
    { id: 'chosen' },
    { isChosen: true },
    { id: 'measure', count: 2501 },
  ]);
  expect(rows).toHaveLength(2 + 1 + 1 + 2502);
});

test('folders and hierarchies show members together, values stand below their member, and a search says why', () => {
  const described = (name: string, more = {}) => ({
    name: `s.${name}`,
    title: name,
    shortTitle: name,
    type: 'string',
    ...more,
  });
  const source: Source = {
    name: 's',
    title: 'S',
    type: 'view',
    measures: [described('count', { type: 'number' })],
    dimensions: [
      described('country'),
      described('city', { description: 'Where the customer who has ordered it lives, in our own words' }),
      described('kind'),
    ],
    segments: [],
    hierarchies: [{ name: 's.places', title: 'Places', levels: ['s.country', 's.city'] }],
    nestedFolders: [{ name: 'Main', members: ['s.count', { name: 'Inside', members: ['s.kind'] }] }],
  };
  const { bySource } = createModel([source]);
  const members = bySource.get('s')!;
  const state = { source, members, chosen: [], text: '', closed: new Set<string>(), values: new Map() };
  const shown = (more = {}) =>
    listRows({ ...state, ...more }).map((row) =>
      row.kind === 'heading'
        ? `${row.depth} ${row.title ?? row.id}:`
        : `${row.depth} ${row.kind === 'member' ? row.member.title : row.kind === 'value' ? row.value : row.text}`,
    );
  expect(shown()).toEqual([
    ...['0 Main:', '1 count', '1 Inside:', '2 kind'],
    ...['0 dimension:', '0 country', '0 city', '0 Places:', '1 country', '1 city'],
  ]);
  expect(shown({ closed: new Set(['f/Main', 'dimension', 'y-s.places']) })).toEqual([
    '0 Main:',
    '0 dimension:',
    '0 Places:',
  ]);
  const values = new Map<string, string[] | undefined>([
    ['s.kind', ['a', 'b']],
    ['s.country', undefined],
    ['s.city', []],
  ]);
  expect(shown({ values })).toEqual(
    expect.arrayContaining(['2 kind', '3 a', '3 b', '0 country', '1 loading', '0 city', '1 noValues']),
  );
  const [hit] = searchMembers(members, 'ordered');
  expect(hit).toMatchObject({ why: 'description', member: { name: 's.city' } });
  expect(excerptOf(hit!.member.description!, ['ordered'], 32)).toEqual([
    ['…who has ', false],
    ['ordered', true],
    [' it lives, in our…', false],
  ]);
  expect(excerptOf('A.B', ['.'], 10)).toEqual([
    ['A', false],
    ['.', true],
    ['B', false],
  ]);
});

test('calculated fields are columns, go with the columns that they name, and are asked for with all that they need', () => {
  const fields: Calculated[] = [
    { name: 'share', kind: 'shareOfTotal', of: 'sales.revenue', within: ['sales.ordered_at.month'] },
    { name: 'twice', kind: 'expression', expression: "if('share' = 'x', 1, share) * 2" },
    { name: 'other', kind: 'rank', of: 'sales.revenue', direction: 'asc' },
  ];
  const first = fromQuery({ ...QUERY, calculated: fields, order: [['share', 'desc']] });
  expect(columnKeys(first)).toEqual(expect.arrayContaining(['share', 'twice', 'other']));
  expect(toQuery(first)).toMatchObject({ calculated: fields, order: [['share', 'desc']] });
  expect(fromAddress(toAddress(first)!)).toMatchObject({ calculated: fields });
  // Another granularity is another column.
  expect(setGranularity(first, 'sales.ordered_at', 'week').calculated[0]!.within).toEqual([
    'sales.ordered_at.week',
  ]);
  expect(removeMember(first, 'sales.ordered_at').calculated[0]).toEqual({
    name: 'share',
    kind: 'shareOfTotal',
    of: 'sales.revenue',
  });
  // What is computed from a field goes with it, and so does the order.
  const without = removeCalculated(first, 'share');
  expect(without.calculated.map(({ name }) => name)).toEqual(['other']);
  expect(without.order).toEqual([]);
  // A link may come from anybody.
  const wrong = [
    null,
    7,
    { name: 'a b', kind: 'rank' },
    { name: 'x', kind: 'eval' },
    { name: 'y', kind: 'rank', of: 3 },
  ];
  expect(fromQuery({ ...QUERY, calculated: wrong }).calculated).toEqual([{ name: 'y', kind: 'rank' }]);
  expect(nameFor('Größe (%)', [])).toBe('gro_e');
  expect(nameFor('Share', fields)).toBe('share_2');
  expect(nameFor('順位', [])).toBe('field');
});

test('an expression proposes what fits there, and an error knows its place', () => {
  const member = (name: string, kind: Member['kind'], title: string) =>
    ({ name, kind, title, type: 'number' }) as Member;
  const members = [
    member('sales.revenue', 'measure', 'Revenue'),
    member('sales.price', 'dimension', 'Price'),
    member('sales.status', 'dimension', 'Status'),
  ];
  const proposed = (text: string) =>
    proposalsAt(
      text,
      text.length,
      members,
      [{ name: 'pr', title: 'Profit' }],
      ['sales.status'],
    ).proposals.map((one) => one.text);
  expect(proposed('rev')).toEqual(['sales.revenue']);
  expect(proposed('1 + pr')).toEqual([]);
  expect(proposed('1 + pro')).toEqual(['pr']);
  expect(proposed('sum(pri')).toEqual(['sales.price']);
  expect(proposed('stat')).toEqual(['sales.status']);
  expect(proposed("if(a = 'rev")).toEqual([]);
  expect(errorIn('calculated[1].expression[4..9]: No.', 1)).toEqual({ message: 'No.', from: 4, to: 9 });
  expect(errorIn('calculated[1].of: Not this.', 1)).toEqual({ message: 'Not this.' });
  expect(errorIn('calculated[0].of: Not this.', 1)).toEqual({ message: 'calculated[0].of: Not this.' });
});
