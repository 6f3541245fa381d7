/** Which tables a request means. */
import type { Table } from '../../engines/engine.ts';
import { ApiError, type Issue } from '../../platform/errors.ts';

export interface NamedTable {
  schema?: string | null;
  name: string;
}

/** In the order of the source. Throws an error that names each table that is missing or not clear. */
export function chosenTables(tables: readonly Table[], wanted: readonly NamedTable[]): Table[] {
  const chosen = new Set<Table>();
  const issues: Issue[] = [];
  for (const [i, { schema, name }] of wanted.entries()) {
    const found = tables.filter(
      (table) => table.name === name && (schema == null || table.schema === schema),
    );
    if (found.length === 1) chosen.add(found[0]!);
    else issues.push({ path: `tables[${i}]`, message: problemOf(found, name) });
  }
  const [first] = issues;
  if (first) throw new ApiError('invalid_reference', { message: `${first.path}: ${first.message}`, issues });
  return tables.filter((table) => chosen.has(table));
}

const problemOf = (found: readonly Table[], name: string) =>
  found.length
    ? `several schemas have a table ${name}: ${found.map(({ schema }) => schema).join(', ')}`
    : `there is no table ${name}`;
