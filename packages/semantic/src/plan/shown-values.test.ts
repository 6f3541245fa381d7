/** What the measures of rows that are not grouped show, and to whom. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Cell, type Engine, openDuckDb } from '../../test/engines.ts';
import { errorOf, modelOf, NOW, planOf, somebody } from '../../test/plans.ts';
import { createPlanBudget, planQuery, type Viewer } from '../index.ts';

const model = modelOf(`cubes:
  - name: people
    sql_table: people
    joins:
      - { name: firms, relationship: many_to_one, sql: "{CUBE}.firm_id = {firms.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: email, sql: email, type: string }
      - { name: age, sql: age, type: number }
      - { name: old, sql: "{age} >= 40", type: boolean }
      - { name: notes, sql: "lower({CUBE}.note)", type: string, public: false }
      - { name: paid, type: number, sql: '{CUBE}."Paid"' }
      - { name: phone, type: string, sql: "{CUBE}.contact.phone", public: false }
    measures:
      - { name: count, type: count }
      - { name: count_emails, type: count, sql: email }
      - { name: emails, type: count_distinct, sql: "{email}" }
      - { name: about, type: count_distinct_approx, sql: email }
      - { name: old_emails, type: count_distinct, sql: "{email}", filters: [{ sql: "{CUBE}.age >= 40" }] }
      - { name: first, type: min, sql: "{email}" }
      - { name: raw, type: max, sql: "{CUBE}.EMAIL" }
      - { name: bare, type: max, sql: "lower(email)" }
      - { name: cased, type: max, sql: "case when {CUBE}.email is null then 0 else 1 end" }
      - { name: row, type: max, sql: "{CUBE}::text" }
      - { name: star, type: max, sql: "{CUBE}.*" }
      - { name: cut, type: max, sql: "{CUBE}." }
      - { name: named_row, type: max, sql: "people::text" }
      - { name: note, type: max, sql: "{CUBE}.note" }
      - { name: contact, type: max, sql: "{CUBE}.contact" }
      - { name: fax, type: max, sql: "{CUBE}.contact.fax" }
      - { name: ages, type: sum, sql: age }
      - { name: constant, type: sum, sql: "coalesce({age}, 0) * 100" }
      - { name: olds, type: sum, sql: "case when {old} then 1 else 0 end" }
      - { name: score, type: avg, sql: "{CUBE}.score" }
      - { name: per_email, type: number, sql: "1.0 * {ages} / {emails}" }
      - { name: of_first, type: number, sql: "length({first})" }
      - { name: helper, type: sum, sql: age, public: false }
      - { name: of_helper, type: number, sql: "{helper} + 1" }
      - { name: firm, type: max, sql: "{firms.name}" }
      - { name: raw_firm, type: max, sql: "{firms}.name" }
      - { name: paid_sum, type: sum, sql: '{CUBE}."Paid"' }
    access_policy:
      - group: staff
      - group: "*"
        member_level: { excludes: [email, paid] }
      - group: local
        member_level: { excludes: [paid] }
        row_level: { filters: [{ member: age, operator: gt, values: [50] }] }
  - name: firms
    sql_table: firms
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: name, sql: name, type: string }
    measures: [{ name: count, type: count }]
    access_policy:
      - group: "*"
        member_level: { excludes: [name] }
      - group: staff
views:
  - name: everybody
    cubes:
      - { join_path: people, includes: "*" }
      - { join_path: people.firms, prefix: true, includes: "*" }
  - name: few
    cubes: [{ join_path: people, includes: [id, count, emails, ages, first, { name: age, alias: years }] }]
    access_policy:
      - group: "*"
        member_level: { excludes: [years] }
      - group: elders
      - group: near
        row_level: { filters: [{ member: id, operator: equals, values: [7] }] }
`);

let engine: Engine;
beforeAll(async () => {
  engine = await openDuckDb();
  await engine.run(
    'create table people (id bigint, email text, age integer, note text, score integer, "Paid" integer, firm_id bigint)',
  );
  await engine.run(
    "insert into people values (7, 'a@x', 60, 'n', 5, 2, 1), (8, 'b@x', 30, 'm', 6, 3, 1), (9, null, null, null, null, null, null)",
  );
  await engine.run('create table firms (id bigint, name text)');
  await engine.run("insert into firms values (1, 'Acme')");
});
afterAll(() => engine.close());

const staff: Viewer = { ...somebody, groups: ['staff'] };
const local: Viewer = { ...somebody, groups: ['local'] };

const queryOf = (measure: string, owner = 'people') => ({
  dimensions: [`${owner}.id`],
  measures: [`${owner}.${measure}`],
  ungrouped: true,
  order: { [`${owner}.id`]: 'asc' },
});
const valuesOf = async (measure: string, viewer: Viewer, owner?: string): Promise<Cell[]> => {
  const rows = await engine.rows(planOf(model, queryOf(measure, owner), viewer).statement);
  return rows.map(([, value]) => value!);
};
const refusal = (measure: string, viewer: Viewer, owner = 'people') => {
  const { code, message } = errorOf(model, queryOf(measure, owner), viewer);
  return [code, message];
};

test.each([
  ['count', ['1', '1', '1']],
  ['count_emails', ['1', '1', '0']],
  ['emails', ['1', '1', '0']],
  ['about', ['1', '1', '0']],
  ['old_emails', ['1', '0', '0']],
])('%s is 1 in a row that it counts, and 0 in another', async (measure, values) => {
  for (const viewer of [somebody, staff]) expect(await valuesOf(measure, viewer)).toEqual(values);
});

test.each([
  ['first', ['a@x', 'b@x', null]],
  ['raw', ['a@x', 'b@x', null]],
  ['bare', ['a@x', 'b@x', null]],
  ['cased', ['1', '1', '0']],
  ['score', ['5', '6', null]],
  ['of_first', ['3', '3', null]],
  ['firm', ['Acme', 'Acme', null]],
  ['raw_firm', ['Acme', 'Acme', null]],
  ['paid_sum', ['2', '3', null]],
])(
  '%s shows its values to those who may query what its SQL names, and is refused to others',
  async (measure, values) => {
    for (const owner of ['people', 'everybody']) {
      expect(await valuesOf(measure, staff, owner)).toEqual(values);
      expect(refusal(measure, somebody, owner)).toEqual([
        'invalid_query',
        `ungrouped: \`${owner}.${measure}\` would show values of single rows that this query cannot use, so the query cannot be ungrouped.`,
      ]);
    }
  },
);

test.each(['row', 'star', 'cut', 'named_row', 'note', 'contact', 'fax', 'of_helper'])(
  '%s is refused to everybody: something of it is not public',
  (measure) => {
    refusal(measure, somebody);
    refusal(measure, staff);
  },
);

test.each([
  ['ages', ['60', '30', null]],
  ['constant', ['6000', '3000', '0']],
  ['olds', ['1', '0', '0']],
  // By one, and not by an address; there is nothing to divide by where it is missing.
  ['per_email', ['60', '30', null]],
])('%s shows what everybody may query', async (measure, values) => {
  expect(await valuesOf(measure, somebody)).toEqual(values);
});

describe('a policy that does not open what is shown', () => {
  test('opens no rows, although another one opens the member for some of them', async () => {
    expect(await valuesOf('emails', local)).toEqual(['1', '1', '0']);
    expect(await valuesOf('first', local)).toEqual(['a@x']);
    expect(await valuesOf('raw', local, 'everybody')).toEqual(['a@x']);
  });

  test('of a view hides it there, whatever the cube opens', async () => {
    expect(await valuesOf('emails', somebody, 'few')).toEqual(['1', '1', '0']);
    refusal('ages', somebody, 'few');
    expect(await valuesOf('ages', { ...somebody, groups: ['elders'] }, 'few')).toEqual(['60', '30', null]);
  });

  test('of a view opens no rows either', async () => {
    const near = { ...somebody, groups: ['near'] };
    expect(await valuesOf('emails', near, 'few')).toEqual(['1', '1', '0']);
    expect(await valuesOf('ages', near, 'few')).toEqual(['60']);
  });
});

describe('the name of a hidden column is found', () => {
  const HIDDEN: Record<string, string> = {
    like_a_type: 'lower(text)',
    like_a_type_beside: "coalesce(date, 'none')",
    like_a_unit: 'coalesce(precision, 0) + coalesce(interval, 0) + coalesce(between, 0)',
    like_the_end_of_a_type: 'coalesce(precision, 0)',
    like_a_part: "extract(text, '.')",
    before_from: 'substring(text from 2)',
    of_a_table_that_is_called_extract: '(select extract.text from people as extract)',
    beside_a_column_that_is_called_extract: 'substring(extract - text from 1)',
    after_a_column_that_is_called_double: 'coalesce(double precision, 0)',
    after_another_type: 'cast(id as text precision)',
    after_a_type_of_one_word: 'coalesce(id::double text, 0)',
    like_a_keyword: 'lower(end)',
    beside_a_type: "coalesce(text, cast('x' as text))",
    in_another_script: 'lower(名前)',
    in_another_script_of_the_table: '{CUBE}.名前',
    in_quotes: 'coalesce(\'x\', "text")',
    of_a_joined_cube: 'concat({firms.id}, secret)',
    of_a_joined_cube_that_has_it_too: 'concat({firms.id}, day)',
    of_a_cube_joined_by_a_dimension: 'concat({firm}, secret)',
    of_a_cube_on_the_way: 'concat({firms.towns.id}, secret)',
    row_of_a_joined_cube: 'concat({firms.id}, firms)',
    of_a_column_that_is_open_in_part: '{CUBE}.mail',
    in_another_case: '{CUBE}.email',
    of_a_column_that_another_cube_has_too: '{CUBE}.code',
  };
  const OPEN: Record<string, string> = {
    cast: 'cast({CUBE}.id as text)',
    cast_short: '{CUBE}.id::text',
    precise: 'cast(id as double precision) + id::double precision',
    keywords:
      "case when id is not null and id between 1 and 2 or id not in (3) then date '2024-01-01' else null end",
    in_brackets: 'case when (id) between 1 and 2 then 1 end',
    part: 'extract(year from {day})',
    texts: "coalesce('text', 'date') || id -- text",
    joined: 'concat({firms.id}, {CUBE}.id)',
    bare: 'concat({firms.id}, id)',
    // Its cube is not joined, but computed apart.
    beside_a_sub_query: 'concat({firm_count}, day)',
  };
  const measures = Object.entries({ ...HIDDEN, ...OPEN }).map(
    ([name, sql]) => `      - { name: ${name}, type: max, sql: ${JSON.stringify(sql)} }\n`,
  );
  const named = modelOf(`cubes:
  - name: people
    sql_table: people
    joins: [{ name: firms, relationship: many_to_one, sql: "{CUBE}.firm_id = {firms.id}" }]
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: day, sql: "{CUBE}.day", type: time }
      - { name: firm, sql: "{firms.id}", type: number }
      - { name: firm_code, sql: "{firms}.code", type: string }
      - { name: words, sql: text, type: string }
      - { name: since, sql: date, type: string }
      - { name: many, sql: "{CUBE}.precision + {CUBE}.interval + {CUBE}.between", type: number }
      - { name: until, sql: "{CUBE}.end", type: string }
      - { name: namae, sql: "{CUBE}.名前", type: string }
      - { name: domain, sql: "split_part({CUBE}.mail, '@', 2)", type: string }
      - { name: email, sql: email, type: string }
      - { name: other_email, sql: '{CUBE}."Email"', type: string }
      - { name: code, sql: "lower({CUBE}.code)", type: string }
      - { name: double, sql: double, type: number }
      - { name: extract, sql: extract, type: string }
      - { name: firm_count, sql: "{firms.count}", type: number, sub_query: true }
    measures:
${measures.join('')}    access_policy:
      - group: "*"
        member_level: { excludes: [words, since, many, until, namae, other_email, code] }
      - group: staff
  - name: firms
    sql_table: firms
    joins: [{ name: towns, relationship: many_to_one, sql: "{CUBE}.town_id = {towns.id}" }]
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: code, sql: code, type: string }
      - { name: secret, sql: secret, type: string }
      - { name: day, sql: day, type: time }
    measures: [{ name: count, type: count }]
    access_policy: [{ group: "*", member_level: { excludes: [secret, day] } }, { group: staff }]
  - name: towns
    sql_table: towns
    dimensions: [{ name: id, sql: id, type: number, primary_key: true, public: true }]
    access_policy: [{ group: "*" }]
`);

  test.each(Object.keys(HIDDEN))('%s', (measure) => {
    expect(errorOf(named, queryOf(measure)).message).toContain('would show values of single rows');
    planOf(named, queryOf(measure), staff);
  });

  test.each(Object.keys(OPEN))('%s names nothing that is hidden', (measure) => {
    planOf(named, queryOf(measure));
  });
});

describe('what is looked at to know what a measure shows', () => {
  const repeat = (text: string) => Array.from({ length: 100 }, () => text).join(', ');
  const wide = modelOf(`cubes:
  - name: rows
    sql_table: rows
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
${Array.from({ length: 60 }, (_, i) => `      - { name: d${i}, sql: d${i}, type: string }\n`).join('')}    measures:
      - { name: row, type: max, sql: "{CUBE}::text" }
      - { name: row_often, type: max, sql: "concat(${repeat('{CUBE}')})" }
      - { name: column_often, type: max, sql: "concat(${repeat('{CUBE}.d1')})" }
      - { name: member_often, type: max, sql: "concat(d1, ${repeat('{d2}')})" }
`);
  const plan = (measure: string, pieces: number, ungrouped = true) => {
    const budget = createPlanBudget({ pieces });
    const query = { measures: [`rows.${measure}`], ungrouped };
    return planQuery(wide, query, somebody, { dialect: 'duckdb', now: NOW, budget }).plans;
  };

  test.each(['row', 'column_often', 'member_often'])('is taken from the budget: %s', (measure) => {
    expect(plan(measure, 50, false)).toHaveLength(1);
    expect(() => plan(measure, 50)).toThrow('too large together');
    expect(plan(measure, 300)).toHaveLength(1);
  });

  test('is each member once, however often the SQL names the whole row', () => {
    expect(plan('row_often', 300)).toHaveLength(1);
  });
});
