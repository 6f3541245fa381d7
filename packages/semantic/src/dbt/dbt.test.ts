import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { compileModel, convertDbt, DbtModelError, type DbtSettings } from '../index.ts';
import { columnType } from './types.ts';

/**
 * Made by dbt-core 1.11 and dbt-duckdb from the projects beside them; `npm run test:dbt -- --update` makes them again. That
 * of `market` was made by `dbt parse` of dbt 2.0.0rc196.
 */
const ARTIFACTS = join(import.meta.dirname, '../../../server/test/dbt/artifacts');
const read = (name: string) => JSON.parse(readFileSync(join(ARTIFACTS, `${name}.json`), 'utf8'));

const SETTINGS: DbtSettings = {
  namePrefix: '',
  select: [],
  folder: 'model/cubes/dbt',
  includeSources: false,
  includeSeeds: false,
  includeSnapshots: false,
  targetSchema: undefined,
};

// biome-ignore lint/suspicious/noExplicitAny: tests change whatever part of a manifest they are about
type Any = any;

/** Every conversion must build, with every text where it was put and nowhere else. */
function convert(manifest: unknown, catalog: unknown, settings: Partial<DbtSettings> = {}) {
  const made = convertDbt(manifest, catalog, { ...SETTINGS, ...settings });
  const { model, errors } = compileModel(new Map(made.files.map(({ path, text }) => [path, text])));
  expect(errors).toEqual([]);
  const cubes: Record<string, Any> = {};
  const views: Record<string, Any> = {};
  for (const { text } of made.files) {
    const file = parse(text);
    for (const cube of file.cubes ?? []) cubes[cube.name] = cube;
    for (const view of file.views ?? []) views[view.name] = view;
  }
  return { ...made, cubes, views, model: model! };
}

const convertProject = (project: string, settings?: Partial<DbtSettings>) =>
  convert(read(`${project}.manifest`), read(`${project}.catalog`), settings);

const named = (members: Any[], name: string) => members.find((member) => member.name === name);

test('models become cubes with columns, types, keys, and joins towards the unique side', () => {
  const { cubes, notes, modelCount, counts } = convertProject('shop', { select: ['tag:mart'] });
  expect(Object.keys(cubes).sort()).toEqual(['customers', 'order_items', 'orders']);
  expect(modelCount).toBe(3);
  expect(counts).toMatchObject({ models: 8, sources: 0 });
  const { orders, order_items: items } = cubes;
  expect(orders).toMatchObject({
    sql_table: '"shop"."main"."orders"',
    meta: { owner: 'sales', tier: 1, tags: ['mart'] },
    joins: [
      { name: 'customers', relationship: 'many_to_one', sql: '{CUBE}.customer_id = {customers}.customer_id' },
    ],
  });
  expect(orders.dimensions.map(({ name, type }: Any) => `${name} ${type}`)).toEqual([
    'order_id number',
    'customer_id number',
    'status string',
    'net number',
    'tax number',
    'gross number',
    'ordered_at time',
    'shipped_on time',
    'is_returned boolean',
    'is_large string',
  ]);
  expect(named(orders.dimensions, 'status')).toMatchObject({
    title: 'Status',
    description: 'Where it is: one of the values',
    meta: { label: 'State', accepted_values: ['placed', 'completed', 'returned'] },
  });
  const keys = items.dimensions
    .filter((dimension: Any) => dimension.primary_key)
    .map(({ name }: Any) => name);
  expect(keys).toEqual(['order_id', 'line']);
  expect(items.joins).toMatchObject([{ name: 'orders', relationship: 'many_to_one' }]);
  expect(notes.map(({ resource }) => resource)).not.toContain('model.shop.cents');
});

test('metrics become measures, saved queries become views, and what cannot be said is listed with the reason', () => {
  const { cubes, views, notes } = convertProject('shop');
  const measure = (name: string) => named(cubes.orders.measures, name);
  expect(measure('revenue')).toEqual({
    name: 'revenue',
    title: 'Revenue',
    description: 'Net amount of orders that were not returned',
    sql: 'net',
    type: 'sum',
    filters: [{ sql: "{status} <> 'returned'" }],
  });
  expect(measure('northern_revenue').filters).toEqual([
    { sql: "{customers.region} = 'north'" },
    { sql: "{ordered_at.month} >= '2025-01-01'" },
  ]);
  expect(measure('returned_orders').sql).toBe('case when {CUBE}.is_returned then 1 else 0 end');
  expect(measure('return_rate')).toMatchObject({ type: 'number', sql: '{returned_orders} / {orders_total}' });
  expect(measure('large_share').sql).toBe('{large_share_numerator} / {orders_total}');
  expect(measure('large_share_numerator')).toMatchObject({
    public: false,
    filters: [{ sql: "{is_large} = 'large'" }],
  });
  expect(measure('revenue_per_buyer').sql).toBe('{revenue} / nullif({buyers_total}, 0)');
  expect(measure('running_revenue').rolling_window).toEqual({ trailing: 'unbounded' });
  expect(measure('weekly_revenue').rolling_window).toEqual({ trailing: '7 day' });
  expect(named(cubes.order_items.dimensions, 'item_time').sql).toBe('(current_date)');
  expect(views.sales_by_region.cubes).toEqual([
    { join_path: 'orders', includes: ['revenue', 'orders_total', 'ordered_at'] },
    { join_path: 'orders.customers', includes: ['region'] },
  ]);
  const leftOut = notes.filter(({ kind }) => kind === 'left_out').map(({ resource }) => resource);
  expect(leftOut).toEqual([
    'model.shop.cents',
    'model.shop.metricflow_time_spine',
    'metric.shop.month_to_date',
    'metric.shop.revenue_growth',
    'metric.shop.typical_order',
    'semantic_model.shop.orders',
  ]);
  for (const name of ['month_to_date', 'revenue_growth', 'typical_order', 'typical', 'last_net'])
    expect(measure(name)).toBeUndefined();
});

test('constraints, aliases, schemas of their own, seeds, snapshots and sources are as dbt resolved them', () => {
  const { cubes } = convertProject('accounts', {
    includeSeeds: true,
    includeSnapshots: true,
    includeSources: true,
    namePrefix: 'dbt_',
  });
  expect(Object.keys(cubes).sort()).toEqual([
    'dbt_account_history',
    'dbt_dim_accounts',
    'dbt_fct_invoices',
    'dbt_landing_raw_invoices',
    'dbt_plans',
    'dbt_raw_accounts',
    'dbt_raw_invoices',
  ]);
  expect(cubes.dbt_fct_invoices).toMatchObject({
    sql_table: '"accounts"."core"."invoices"',
    joins: [{ name: 'dbt_dim_accounts', relationship: 'many_to_one' }],
  });
  expect(cubes.dbt_dim_accounts.joins).toMatchObject([{ name: 'dbt_plans', relationship: 'many_to_one' }]);
  const moved = convertProject('accounts', { targetSchema: 'Prod' });
  expect(moved.cubes.fct_invoices.sql_table).toBe('"Prod"."invoices"');
  // The seed that the join leads to is not part of it.
  expect(moved.cubes.dim_accounts.joins).toBeUndefined();
  expect(moved.notes).toMatchObject([
    { kind: 'left_out', message: expect.stringContaining('seed.accounts.plans') },
  ]);
});

test('texts of a project mean nothing but themselves, and odd names are quoted', () => {
  const { cubes, model, files, notes } = convertProject('events');
  expect(Object.keys(cubes).sort()).toEqual([
    'events_hits_by_page',
    'events_hits_by_page_2',
    'hits',
    'visits',
    'visits_v1',
  ]);
  expect(model.cubes.get('hits')!.description).toContain(
    '{not a reference}, {{ not a template }}, # not a comment',
  );
  expect(model.cubes.get('hits')!.dimensions.get('ms')!.meta).toEqual({ unit: '{ms}' });
  expect(named(cubes.hits.dimensions, 'visitor_id')).toMatchObject({
    sql: '{CUBE}."Visitor Id"',
    description: '"} - { name: x',
  });
  expect(named(cubes.hits.dimensions, 'group').sql).toBe('{CUBE}."group"');
  expect(cubes.visits.sql_table).toBe('"events"."main"."visits_v2"');
  expect(notes).toMatchObject([{ message: expect.stringContaining('INTEGER[]') }]);
  const hostile = read('events.manifest');
  const node = hostile.nodes['model.events.hits'];
  for (const text of [
    '{{ x }}\n---\ncubes: []',
    '{% x %}',
    '"',
    "'",
    '- a',
    '!!js x',
    '&a *a',
    '\u0000\u2028\ud800',
    '{',
    '}',
  ]) {
    node.description = text;
    node.columns.ms.description = text;
    node.meta = { [text]: text, __proto__: 1 };
    node.tags = [text];
    const { model: again } = convert(hostile, undefined, { select: ['hits'] });
    expect(again.cubes.size).toBe(1);
    expect(again.cubes.get('hits')!.description).toBe(text.toWellFormed().trim());
    expect(again.cubes.get('hits')!.meta).toMatchObject({ tags: [text.toWellFormed()] });
  }
  // The same project always becomes the same files.
  expect(convertProject('events').files).toEqual(files);
});

test('without a catalog, types come from data tests, contracts and names, and the guesses are listed', () => {
  const manifest = read('shop.manifest');
  const { columns } = manifest.nodes['model.shop.orders'];
  columns.is_gift = { name: 'is_gift' };
  columns.score = { name: 'score' };
  manifest.nodes['test.score'] = {
    resource_type: 'test',
    attached_node: 'model.shop.orders',
    test_metadata: {
      name: 'accepted_values',
      kwargs: { column_name: 'score', values: [1, 2], quote: false },
    },
  };
  const { cubes, notes } = convert(manifest, undefined, { select: ['orders', 'order_items'] });
  const types = Object.fromEntries(cubes.orders.dimensions.map(({ name, type }: Any) => [name, type]));
  expect(types).toMatchObject({ ordered_at: 'time', is_gift: 'boolean', score: 'number', net: 'string' });
  expect(named(cubes.order_items.dimensions, 'quantity').type).toBe('number');
  expect(notes).toContainEqual({
    kind: 'changed',
    resource: 'model.shop.orders',
    message: expect.stringContaining('order_id, customer_id, status, net, ordered_at, is_gift'),
  });
  for (const [type, expected] of Object.entries({
    'NUMBER(38,0)': 'number',
    'TIMESTAMP_NTZ(9)': 'time',
    'timestamp with time zone': 'time',
    INT64: 'number',
    'Nullable(LowCardinality(String))': 'string',
    'LowCardinality(Nullable(String))': 'string',
    'DateTime64(3)': 'time',
    'character varying(20)': 'string',
    'STRUCT(a INTEGER, b VARCHAR)': 'other',
    'ARRAY<STRING>': 'other',
    'double precision': 'number',
    BOOL: 'boolean',
    'my.own_type': undefined,
  }))
    expect([type, columnType(type)]).toEqual([type, expected]);
});

test('a join to columns that may repeat, a second one, one to itself, and a test of a part of the rows are no joins or keys', () => {
  const manifest = read('shop.manifest');
  const relation = (column: string, to: string, field: string) => ({
    resource_type: 'test',
    attached_node: 'model.shop.orders',
    depends_on: { nodes: [`model.shop.${to}`, 'model.shop.orders'] },
    test_metadata: { name: 'relationships', kwargs: { column_name: column, to: `ref('${to}')`, field } },
  });
  manifest.nodes['test.z1'] = relation('status', 'customers', 'region');
  manifest.nodes['test.z2'] = relation('order_id', 'customers', 'customer_id');
  manifest.nodes['test.z3'] = relation('order_id', 'orders', 'order_id');
  const { cubes, notes } = convert(manifest, read('shop.catalog'), { select: ['tag:mart'] });
  expect(cubes.orders.joins).toHaveLength(1);
  expect(notes.filter(({ resource }) => resource.startsWith('test.z')).map(({ message }) => message)).toEqual(
    [
      expect.stringContaining('nothing says that region is unique'),
      expect.stringContaining('there is a join between the two already'),
      expect.stringContaining('joined to itself'),
    ],
  );
  for (const [id, node] of Object.entries<Any>(manifest.nodes))
    if (id.includes('unique_customers')) node.config = { where: 'region is not null' };
  manifest.nodes['model.shop.customers'].primary_key = [];
  manifest.semantic_models = {};
  const partial = convert(manifest, read('shop.catalog'), { select: ['tag:mart'] });
  expect(partial.cubes.orders.joins).toBeUndefined();
  expect(partial.cubes.customers.dimensions.some((dimension: Any) => dimension.primary_key)).toBe(false);
});

test('metrics that are made of themselves, hostile filters and metrics of newer versions are said or left out', () => {
  const manifest = read('shop.manifest');
  const add = (name: string, metric: object) => {
    manifest.metrics[`metric.shop.${name}`] = { name, ...metric };
  };
  const ratio = (numerator: string, denominator: string) => ({
    type: 'ratio',
    type_params: { numerator: { name: numerator }, denominator: { name: denominator } },
  });
  add('a', ratio('b', 'revenue'));
  add('b', ratio('a', 'revenue'));
  const filtered = (filter: string) => ({
    type: 'simple',
    type_params: { measure: 'net_total' },
    filter: { where_filters: [{ where_sql_template: filter }] },
  });
  add('open_quote', filtered("{{ Dimension('order__status') }} = 'x"));
  add('in_quote', filtered("status = '{{ Dimension('order__status') }}'"));
  add('code', filtered('{{ env_var("HOME") }} = 1'));
  add('statement', filtered("{{ Dimension('order__status') }} = 'a'; drop table x"));
  add('nowhere', filtered("{{ Dimension('warehouse__city') }} = 'a'"));
  add('braces', filtered("{{ Dimension('order__status') }} = '{CUBE}' or {{ Entity('customer') }} = 1"));
  add('newer', {
    type: 'simple',
    type_params: {
      metric_aggregation_params: { semantic_model: 'orders', agg: 'average', expr: 'net + tax' },
    },
  });
  add('across', ratio('units_sold', 'orders_total'));
  const { cubes, notes } = convert(manifest, read('shop.catalog'));
  const left = notes.filter(({ kind, resource }) => kind === 'left_out' && resource.startsWith('metric.'));
  expect(left.map(({ resource }) => resource.slice('metric.shop.'.length)).sort()).toEqual([
    'a',
    'b',
    'code',
    'in_quote',
    'month_to_date',
    'nowhere',
    'open_quote',
    'revenue_growth',
    'statement',
    'typical_order',
  ]);
  expect(named(cubes.orders.measures, 'braces').filters).toEqual([
    { sql: "{status} = '\\{CUBE\\}' or {CUBE}.customer_id = 1" },
  ]);
  expect(named(cubes.orders.measures, 'newer')).toMatchObject({
    type: 'avg',
    sql: '{CUBE}.net + {CUBE}.tax',
  });
  expect(named(cubes.order_items.measures, 'across').sql).toBe('{units_sold} / {orders.orders_total}');
});

test('metrics that dbt 2 has in its models become measures, and columns have no tags of their table', () => {
  const { cubes, notes } = convert(read('market.manifest'), undefined);
  const { orders } = cubes;
  expect(orders.meta).toEqual({ owner: 'sales', tags: ['mart'] });
  expect(orders.joins).toMatchObject([{ name: 'buyers', relationship: 'many_to_one' }]);
  expect(orders.dimensions.map(({ name, meta }: Any) => [name, meta])).toEqual([
    ['order_id', undefined],
    ['buyer_id', undefined],
    ['status', { hint: 'of the order', tags: ['seen'] }],
    ['net', undefined],
    ['ordered_on', undefined],
    ['is_large', undefined],
  ]);
  const filters = [{ sql: "{status} <> 'returned'" }];
  for (const measure of [
    { name: 'revenue', title: 'Revenue', sql: 'net', type: 'sum', filters },
    { name: 'northern_revenue', sql: 'net', type: 'sum', filters: [{ sql: "{buyers.region} = 'north'" }] },
    { name: 'orders_total', type: 'count' },
    { name: 'revenue_per_order', sql: '{revenue} / {orders_total}', type: 'number' },
    { name: 'weekly_revenue', sql: 'net', type: 'sum', filters, rolling_window: { trailing: '7 day' } },
    { name: 'double_revenue', sql: '{revenue} * 2', type: 'number' },
  ])
    expect(named(orders.measures, measure.name)).toEqual(measure);
  expect(notes.filter(({ kind }) => kind === 'left_out').map(({ resource }) => resource)).toEqual([
    'metric.market.last_net',
    'metric.market.month_to_date',
    'metric.market.typical',
  ]);
});

test('what is no manifest, has another version or selects nothing is refused', () => {
  const manifest = read('shop.manifest');
  const refused = (value: unknown, settings: Partial<DbtSettings> = {}, catalog?: unknown) => {
    try {
      convertDbt(value, catalog, { ...SETTINGS, ...settings });
    } catch (error) {
      expect(error).toBeInstanceOf(DbtModelError);
      return (error as Error).message;
    }
    return undefined;
  };
  for (const value of [null, 1, 'x', [], {}, { metadata: {} }, { nodes: [] }])
    expect(refused(value)).toContain('not the manifest.json');
  expect(refused(read('shop.catalog'))).toContain('catalog/v1.json');
  const versioned = (version: string) => ({
    ...manifest,
    metadata: { dbt_schema_version: `https://schemas.getdbt.com/dbt/manifest/${version}.json` },
  });
  expect(refused(versioned('v9'))).toContain('version 9');
  expect(refused(versioned('v10'))).toBeUndefined();
  expect(refused(versioned('v11'))).toBeUndefined();
  // A newer one is read, and the result says so.
  const newer = convertDbt(versioned('v20'), undefined, SETTINGS);
  expect(newer.files).toEqual(convertDbt(manifest, undefined, SETTINGS).files);
  expect(newer.notes[0]).toMatchObject({ resource: 'manifest.json', message: expect.stringContaining('20') });
  expect(refused(manifest, {}, manifest)).toContain('not the catalog.json');
  expect(refused(manifest, { select: ['tag:nothing'] })).toContain('tag:nothing selects');
  expect(refused({ ...manifest, nodes: {} })).toContain('no table');
  const odd = {
    ...manifest,
    nodes: {
      a: null,
      b: [],
      c: { resource_type: 'model' },
      d: {
        resource_type: 'model',
        name: 'd',
        relation_name: 'x.d',
        columns: { e: null, f: { name: 7 } },
        constraints: [null, 1],
        tags: 5,
        config: [],
      },
    },
  };
  expect(refused(odd)).toBeUndefined();
});
