/** Drafts of cubes for tables of a data source: a first model that answers queries, which people then change. */
import { stringify } from 'yaml';
import { type DraftJoin, joinsOf, keyOf } from './keys.ts';
import { columnOf, columnSql, modelName, sqlName, takeName } from './names.ts';
import type { DraftColumn, DraftTable } from './tables.ts';

export interface Draft<Table extends DraftTable> {
  readonly table: Table;
  /** The name of its cube. */
  readonly cube: string;
  readonly path: string;
  readonly text: string;
}

/** Tables whose names no model can write are left out. Joins are drafted between these tables only. */
export function draftCubes<Table extends DraftTable>(
  tables: readonly Table[],
  { dataSource }: { dataSource?: string } = {},
): Draft<Table>[] {
  const cubes = cubeNamesOf(tables.filter(canBeNamed));
  const joins = joinsOf(cubes);
  return [...cubes].map(([table, cube]) => ({
    table,
    cube,
    path: `model/cubes/${cube}.yml`,
    text: stringify({ cubes: [cubeOf(table, cube, joins.get(table) ?? [], dataSource)] }, { lineWidth: 0 }),
  }));
}

const canBeNamed = ({ schema, name, columns }: DraftTable) =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a model refuses
  [schema, name].every((part) => /^[^"\\\u0000-\u001f]+$/.test(part)) && columns.length > 0;

/** Tables of the same name in two schemas have the schema in the name of their cube. */
function cubeNamesOf<Table extends DraftTable>(tables: readonly Table[]): Map<Table, string> {
  const counts = new Map<string, number>();
  for (const { name } of tables) counts.set(modelName(name), (counts.get(modelName(name)) ?? 0) + 1);
  const taken = new Set<string>();
  return new Map(
    tables.map((table) => {
      const name = modelName(table.name);
      const whole = counts.get(name) === 1 ? name : modelName(`${table.schema}_${table.name}`);
      return [table, takeName(whole, taken)];
    }),
  );
}

function cubeOf(table: DraftTable, cube: string, joins: readonly DraftJoin[], dataSource?: string) {
  const key = new Set(keyOf(table));
  const taken = new Set<string>();
  const count = { name: takeName('count', taken), type: 'count' };
  const columns = table.columns.filter(({ type }) => type !== 'other');
  const dimensions = columns.map(({ name, type }) => ({
    name: takeName(modelName(name), taken),
    sql: columnSql(name),
    type,
    ...(key.has(name) && { primary_key: true }),
  }));
  const measures = columns
    .filter((column) => isQuantity(table, column, key))
    .flatMap(({ name }) =>
      (['sum', 'avg'] as const).map((type) => ({
        name: takeName(`${type === 'sum' ? 'total' : 'average'}_${modelName(name)}`, taken),
        sql: columnSql(name),
        type,
      })),
    );
  return {
    name: cube,
    sql_table: `${sqlName(table.schema)}.${sqlName(table.name)}`,
    ...(dataSource !== undefined && { data_source: dataSource }),
    ...(joins.length > 0 && { joins: joins.map(joinOf) }),
    dimensions,
    measures: [count, ...measures],
  };
}

const joinOf = ({ cube, relationship, columns, toColumns }: DraftJoin) => ({
  name: cube,
  relationship,
  sql: columns
    .map((column, i) => `${columnOf('CUBE', column)} = ${columnOf(cube, toColumns[i]!)}`)
    .join(' and '),
});

/** Numbers that name or place something mean nothing if they are added up. */
const NAMES =
  /(^|_)(id|ids|key|no|nr|number|code|zip|year|month|day|hour|week|quarter|lat|latitude|lng|lon|longitude)$/;

const isQuantity = ({ foreignKeys }: DraftTable, { name, type }: DraftColumn, key: ReadonlySet<string>) =>
  type === 'number' &&
  !key.has(name) &&
  !NAMES.test(modelName(name)) &&
  !foreignKeys.some(({ columns }) => columns.includes(name));
