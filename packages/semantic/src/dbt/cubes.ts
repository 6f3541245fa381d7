/** Tables of dbt as cubes: names, columns, keys, and joins between them. */
import { modelName, sqlName, takeName } from '../drafts/names.ts';
import type { DimensionType } from '../model.ts';
import { list, text, texts } from './json.ts';
import type { Catalog, DbtConstraint, DbtNode, DbtTest, Manifest } from './manifest.ts';
import { type DbtSettings, isSelected } from './settings.ts';
import { columnName } from './sql.ts';
import { columnType, typeByName, typeOfValues } from './types.ts';

export interface Note {
  /** The id of the resource of dbt. */
  readonly resource: string;
  /** `left_out`: the model does not have it. `changed`: it means something else than in dbt. */
  readonly kind: 'left_out' | 'changed';
  readonly message: string;
}
export type AddNote = (kind: Note['kind'], resource: string, message: string) => void;

export interface CubeColumn {
  readonly name: string;
  /** As SQL, without the cube before it. */
  readonly sql: string;
  readonly type: DimensionType;
  readonly description: string | undefined;
  readonly meta: Readonly<Record<string, unknown>>;
}

export interface CubeJoin {
  readonly to: CubePlan;
  readonly relationship: 'many_to_one' | 'one_to_one';
  readonly columns: readonly string[];
  readonly toColumns: readonly string[];
}

export interface CubePlan {
  readonly node: DbtNode;
  readonly name: string;
  readonly table: string;
  /** By their names in small letters, because most data sources do not tell cases apart. */
  readonly columns: Map<string, CubeColumn>;
  /** Names of columns in small letters. */
  key: readonly string[];
  /** Sets of columns, each of which has no value twice. */
  readonly uniques: (readonly string[])[];
  readonly joins: CubeJoin[];
}

const small = (name: string) => name.toLowerCase();
const isSame = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((item) => other.includes(item));

const isIncluded = ({ resource }: DbtNode, settings: DbtSettings) =>
  resource === 'model' ||
  (resource === 'source' && settings.includeSources) ||
  (resource === 'seed' && settings.includeSeeds) ||
  (resource === 'snapshot' && settings.includeSnapshots);

const TABLE_PART = /[A-Za-z_][A-Za-z0-9_$]*|"[^"\\\p{Cc}]+"|`[^`\\\p{Cc}]+`/uy;

/** The parts of a name in SQL, as they are written; undefined if a model cannot write it. */
function tableParts(relation: string): string[] | undefined {
  const parts: string[] = [];
  for (let at = 0; ; ) {
    TABLE_PART.lastIndex = at;
    const part = TABLE_PART.exec(relation)?.[0];
    if (part === undefined || parts.length === 4) return undefined;
    parts.push(part);
    at += part.length;
    if (at === relation.length) return parts;
    if (relation[at++] !== '.') return undefined;
  }
}

function tableOf(relation: string, { targetSchema }: DbtSettings): string | undefined {
  const parts = tableParts(relation);
  if (!parts || targetSchema === undefined) return parts?.join('.');
  return `${sqlName(targetSchema)}.${parts.at(-1)}`;
}

export function planCubes(
  manifest: Manifest,
  catalog: Catalog | undefined,
  settings: DbtSettings,
  taken: Set<string>,
  note: AddNote,
): CubePlan[] {
  const cubes: CubePlan[] = [];
  const wanted = manifest.nodes.filter((node) => isIncluded(node, settings) && isSelected(node, settings));
  const counts = new Map<string, number>();
  for (const node of wanted) counts.set(plainName(node), (counts.get(plainName(node)) ?? 0) + 1);
  for (const node of wanted) {
    if (node.isEphemeral) {
      note('left_out', node.id, 'An ephemeral model has no table.');
      continue;
    }
    if (node.isTimeSpine) {
      note('left_out', node.id, 'A time spine is a calendar for dbt, and nothing to query.');
      continue;
    }
    const table = node.relation === undefined ? undefined : tableOf(node.relation, settings);
    if (table === undefined) {
      const why = node.relation === undefined ? 'has no table' : 'has a table whose name no model can write';
      note('left_out', node.id, `The ${node.resource} ${why}.`);
      continue;
    }
    const isAlone = counts.get(plainName(node)) === 1;
    const whole = isAlone ? plainName(node) : modelName(`${node.package}_${plainName(node)}`);
    const name = takeName(prefixed(settings.namePrefix, whole), taken);
    cubes.push({ node, name, table, columns: new Map(), key: [], uniques: [], joins: [] });
  }
  const byId = new Map(cubes.map((cube) => [cube.node.id, cube]));
  const tests = testsByNode(manifest.tests);
  for (const cube of cubes) {
    addColumns(cube, catalog?.get(cube.node.id) ?? [], tests.get(cube.node.id) ?? [], note);
    findKeys(cube, tests.get(cube.node.id) ?? [], note);
  }
  addJoins(cubes, byId, tests, note);
  return cubes;
}

/** The newest version of a model has the model's name. */
const plainName = ({ name, sourceName, resource, version, isLatestVersion }: DbtNode) =>
  modelName(
    resource === 'source' && sourceName !== undefined
      ? `${sourceName}_${name}`
      : isLatestVersion
        ? name
        : `${name}_v${version}`,
  );

export const prefixed = (prefix: string, name: string) => modelName(`${prefix}${name}`);

function testsByNode(tests: readonly DbtTest[]): Map<string, DbtTest[]> {
  const byNode = new Map<string, DbtTest[]>();
  for (const test of tests) {
    if (!byNode.has(test.node)) byNode.set(test.node, []);
    byNode.get(test.node)!.push(test);
  }
  return byNode;
}

function addColumns(
  { node, columns }: CubePlan,
  stored: readonly { name: string; type: string; comment: string | undefined }[],
  tests: readonly DbtTest[],
  note: AddNote,
) {
  const written = new Map(node.columns.map((column) => [small(column.name), column]));
  const accepted = new Map(
    tests
      .filter(({ name, column }) => name === 'accepted_values' && column !== undefined)
      .map((test) => [small(test.column!), test]),
  );
  const stated = new Map(
    tests
      .filter(({ name }) => name === 'dbt_expectations.expect_column_values_to_be_of_type')
      .map(({ column, arguments: given }) => [small(column ?? ''), text(given.column_type)]),
  );
  const guessed: string[] = [];
  const all = stored.length
    ? stored.map(({ name }) => ({ name, isExact: true }))
    : node.columns.map(({ name, isQuoted }) => ({ name, isExact: isQuoted }));
  const types = new Map(stored.map(({ name, type }) => [small(name), type]));
  const comments = new Map(stored.map(({ name, comment }) => [small(name), comment]));
  for (const { name, isExact } of all) {
    const key = small(name);
    if (columns.has(key)) continue;
    const column = written.get(key);
    const test = accepted.get(key);
    const values = test ? list(test.arguments.values) : [];
    const dataType = types.get(key) || column?.dataType || stated.get(key);
    const known = dataType ? columnType(dataType) : typeOfValues(values, test?.arguments.quote === true);
    if (known === 'other') {
      note(
        'left_out',
        node.id,
        `The column \`${name}\` is of a type that no dimension can have: ${dataType}.`,
      );
      continue;
    }
    if (known === undefined) guessed.push(name);
    columns.set(key, {
      name,
      sql: columnName(name, { isExact }),
      type: known ?? typeByName(name),
      description: column?.description ?? comments.get(key),
      meta: {
        ...column?.meta,
        ...(column?.tags.length && { tags: column.tags }),
        ...(values.length && { accepted_values: values }),
      },
    });
  }
  if (guessed.length) {
    const named =
      guessed.slice(0, 10).join(', ') + (guessed.length > 10 ? ` and ${guessed.length - 10} more` : '');
    const message = `Nothing says which types these columns have, so they were guessed from the names: ${named}. Upload catalog.json too, or write \`data_type\`.`;
    note('changed', node.id, message);
  }
  if (!columns.size) {
    const message = 'No columns are known. Upload catalog.json too, or describe the columns in the project.';
    note('changed', node.id, message);
  }
}

/** Finds keys in constraints first, then in tests, then in what dbt itself has found. */
function findKeys(cube: CubePlan, tests: readonly DbtTest[], note: AddNote) {
  const { node, columns, uniques } = cube;
  const declared = [
    ...node.constraints.filter(({ type }) => type === 'primary_key').map((constraint) => constraint.columns),
    node.columns
      .filter(({ constraints }) => constraints.some(({ type }) => type === 'primary_key'))
      .map(({ name }) => name),
  ].filter((key) => key.length > 0);
  const testedBy = (name: string) =>
    tests.flatMap((test) =>
      test.name === name && test.column && !test.isPartial ? [small(test.column)] : [],
    );
  const filled = new Set([
    ...testedBy('not_null'),
    ...node.columns
      .filter(({ constraints }) => constraints.some(({ type }) => type === 'not_null'))
      .map(({ name }) => small(name)),
  ]);
  const single = [
    ...testedBy('unique'),
    ...node.columns
      .filter(({ constraints }) => constraints.some(({ type }) => type === 'unique'))
      .map(({ name }) => small(name)),
  ];
  const combined = tests
    .filter(({ name, isPartial }) => name === 'dbt_utils.unique_combination_of_columns' && !isPartial)
    .map(({ arguments: given }) => texts(given.combination_of_columns).map(small));
  const candidates = [
    ...declared.map((key) => key.map(small)),
    ...single.filter((name) => filled.has(name)).map((name) => [name]),
    ...combined,
    node.primaryKey.map(small),
  ].filter((key) => key.length > 0);
  const key = candidates.find((names) => names.every((name) => ensureColumn(cube, name)));
  cube.key = key ?? [];
  uniques.push(...declared.map((names) => names.map(small)), ...single.map((name) => [name]), ...combined);
  if (key) uniques.push(key);
  else if (candidates.length && columns.size)
    note('left_out', node.id, 'Its primary key has a column of a type that no dimension can have.');
}

/** Columns of keys are there, also if nobody has described them. */
function ensureColumn({ node, columns }: CubePlan, name: string): boolean {
  if (columns.has(name)) return true;
  if (node.columns.some((column) => small(column.name) === name)) return false;
  const sql = columnName(name, { isExact: false });
  columns.set(name, { name, sql, type: typeByName(name), description: undefined, meta: {} });
  return true;
}

interface WantedJoin {
  readonly id: string;
  readonly from: CubePlan;
  readonly to: CubePlan;
  readonly columns: readonly string[];
  readonly toColumns: readonly string[];
}

function addJoins(
  cubes: readonly CubePlan[],
  byId: ReadonlyMap<string, CubePlan>,
  tests: ReadonlyMap<string, readonly DbtTest[]>,
  note: AddNote,
) {
  const find = createFinder(cubes);
  for (const from of cubes) {
    const { node } = from;
    const constraints: (readonly [DbtConstraint, readonly string[]])[] = [
      ...node.constraints.map((constraint) => [constraint, constraint.columns] as const),
      ...node.columns.flatMap(({ name, constraints }) => constraints.map((item) => [item, [name]] as const)),
    ];
    for (const [{ type, to, toColumns }, columns] of constraints) {
      if (type !== 'foreign_key') continue;
      const target = to === undefined ? undefined : find(to);
      if (!target) {
        const message = 'A foreign key leads to a table that is not part of this sync, so it is no join.';
        note('left_out', node.id, message);
        continue;
      }
      const there = toColumns.length ? toColumns : target.key;
      addJoin({ id: node.id, from, to: target, columns, toColumns: there }, note);
    }
    for (const test of tests.get(node.id) ?? []) {
      if (test.name !== 'relationships') continue;
      const field = text(test.arguments.field);
      const id = test.dependsOn.find((other) => other !== node.id) ?? node.id;
      const to = byId.get(id);
      if (!to || field === undefined || test.column === undefined) {
        if (id !== node.id && !to) {
          const message = `${node.name}.${test.column ?? '?'} leads to ${id}, which is not part of this sync.`;
          note('left_out', test.id, message);
        }
        continue;
      }
      addJoin({ id: test.id, from, to, columns: [test.column], toColumns: [field] }, note);
    }
  }
}

/** Finds the cube of a relation, or of a call such as `ref('customers')` or `source('landing', 'orders')`. */
function createFinder(cubes: readonly CubePlan[]): (to: string) => CubePlan | undefined {
  const plain = (relation: string) => relation.replace(/["`]/g, '').toLowerCase();
  const byRelation = new Map(cubes.map((cube) => [plain(cube.node.relation ?? ''), cube]));
  const byName = new Map(cubes.map((cube) => [cube.node.name, cube]));
  return (to) => {
    const [, call, args] = /^\s*(ref|source)\s*\(([^()]*)\)\s*$/.exec(to) ?? [];
    const names = [...(args ?? '').matchAll(/['"]([^'"]+)['"]/g)].map(([, name]) => name!);
    if (call === 'source')
      return cubes.find(({ node }) => node.sourceName === names[0] && node.name === names[1]);
    return call === 'ref' ? byName.get(names.at(-1) ?? '') : byRelation.get(plain(to));
  };
}

/** Adds a join, or notes why it is none. */
export function addJoin(wanted: WantedJoin, note: AddNote): void {
  const { id, from, to } = wanted;
  const columns = wanted.columns.map(small);
  const toColumns = wanted.toColumns.map(small);
  const known = [
    ...from.joins.filter((join) => join.to === to),
    ...to.joins
      .filter((join) => join.to === from)
      .map((join) => ({ columns: join.toColumns, toColumns: join.columns })),
  ];
  if (known.some((join) => isSame(join.columns, columns) && isSame(join.toColumns, toColumns))) return;
  const isOne = from.uniques.some((unique) => isSame(unique, columns));
  const why =
    problemOf({ from, to, columns, toColumns }, isOne) ??
    (known.length ? 'there is a join between the two already, and two would be ambiguous' : undefined);
  if (why === undefined)
    from.joins.push({ to, relationship: isOne ? 'one_to_one' : 'many_to_one', columns, toColumns });
  else {
    const shown = `${from.node.name}.${columns.join(', ')} → ${to.node.name}.${toColumns.join(', ')}`;
    note('left_out', id, `${shown} is no join: ${why}.`);
  }
}

/** The columns there must tell rows apart, or rows of the other cube would be counted twice. */
function problemOf(
  { from, to, columns, toColumns }: Omit<WantedJoin, 'id'>,
  isOne: boolean,
): string | undefined {
  if (from === to) return 'a cube cannot be joined to itself';
  if (columns.length === 0 || columns.length !== toColumns.length)
    return 'the two sides have different numbers of columns';
  if (!to.uniques.some((unique) => isSame(unique, toColumns)))
    return `nothing says that ${toColumns.join(', ')} is unique there (a \`unique\` test would)`;
  if (!to.key.length) return 'nothing says what identifies a row there (`unique` and `not_null` would)';
  return isOne && !from.key.length ? 'nothing says what identifies a row here' : undefined;
}

/** A column of the cube as SQL, also if it is not known. */
export const columnOfCube = ({ columns }: CubePlan, name: string) =>
  columns.get(name)?.sql ?? columnName(name, { isExact: false });
