/** Keys and joins of drafts: those that the data source declares, or those that the names suggest. */
import { modelName, singularsOf } from './names.ts';
import type { DraftForeignKey, DraftTable } from './tables.ts';

export interface DraftJoin {
  /** The cube that is joined. */
  readonly cube: string;
  readonly relationship: 'many_to_one' | 'one_to_one';
  readonly columns: readonly string[];
  readonly toColumns: readonly string[];
}

/** The columns that identify a row. Without a declared key, a column `id`, or `order_id` in a table of orders. */
export function keyOf({ name, columns, primaryKey, isChosen }: DraftTable): readonly string[] {
  const shown = new Set(columns.filter(({ type }) => type !== 'other').map((column) => column.name));
  if (primaryKey.length) return primaryKey.every((column) => shown.has(column)) ? primaryKey : [];
  if (isChosen) return [];
  const likely = ['id', ...singularsOf(modelName(name)).map((singular) => `${singular}_id`)];
  for (const wanted of likely) {
    const found = columns.find((column) => shown.has(column.name) && modelName(column.name) === wanted);
    if (found) return [found.name];
  }
  return [];
}

/** The tables with the keys and joins that a draft of them has, for people to look at and to change. */
export const proposeKeys = <Table extends DraftTable>(tables: readonly Table[]) =>
  tables.map((table) => ({
    ...table,
    primaryKey: keyOf(table),
    foreignKeys: referencesOf(table, tables),
    isChosen: true as const,
  }));

/** Between two cubes there is one join at most: two would make every query on both ambiguous. */
export function joinsOf<Table extends DraftTable>(
  cubes: ReadonlyMap<Table, string>,
): Map<Table, DraftJoin[]> {
  const tables = [...cubes.keys()];
  const joined = new Set<string>();
  return new Map(
    tables.map((table) => {
      const joins: DraftJoin[] = [];
      for (const { columns, toSchema, toTable, toColumns } of referencesOf(table, tables)) {
        const to = tables.find((other) => other.schema === toSchema && other.name === toTable);
        // A cube that is joined needs a key, so that its rows count once.
        if (!to || to === table || !keyOf(table).length || !keyOf(to).length) continue;
        const [cube, pair] = [cubes.get(to)!, [cubes.get(table)!, cubes.get(to)!].sort().join()];
        if (joined.has(pair) || !hasColumns(table, columns) || !hasColumns(to, toColumns)) continue;
        joined.add(pair);
        const isOne = sameColumns(columns, keyOf(table));
        joins.push({ cube, relationship: isOne ? 'one_to_one' : 'many_to_one', columns, toColumns });
      }
      return [table, joins];
    }),
  );
}

const hasColumns = ({ columns }: DraftTable, names: readonly string[]) =>
  names.every((name) => columns.some((column) => column.name === name));

const sameColumns = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((column) => other.includes(column));

/** Files declare no keys. There `customer_id` means the key of the table `customer` or `customers`. */
function referencesOf(table: DraftTable, tables: readonly DraftTable[]): readonly DraftForeignKey[] {
  if (table.isChosen || table.foreignKeys.length || table.primaryKey.length) return table.foreignKeys;
  return table.columns.flatMap((column): DraftForeignKey[] => {
    const [, what] = /^(.+)_id$/.exec(modelName(column.name)) ?? [];
    if (what === undefined || keyOf(table).includes(column.name)) return [];
    const to = tables.find(
      (other) =>
        other.schema === table.schema && other !== table && singularsOf(modelName(other.name)).includes(what),
    );
    const [key, ...more] = to ? keyOf(to) : [];
    if (!to || key === undefined || more.length) return [];
    const isSameType = to.columns.some(({ name, type }) => name === key && type === column.type);
    if (!isSameType) return [];
    return [{ columns: [column.name], toSchema: to.schema, toTable: to.name, toColumns: [key] }];
  });
}
