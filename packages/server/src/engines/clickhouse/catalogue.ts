/** Reads from ClickHouse's catalogue which tables there are, as far as the user can see them. */
import { EngineError, type Table } from '../engine.ts';
import { columnTypeOf, isNullable, type Value } from './texts.ts';

const TABLES_MAX = 2000;

/** Views that keep their rows have them in a table whose name begins with a dot. */
const TABLES = `
  select database, name, engine, primary_key
  from system.tables
  where lower(database) not in ('system', 'information_schema') and not is_temporary and not startsWith(name, '.')
  order by database, name
  limit ${TABLES_MAX + 1}`;

const COLUMNS = `
  select database, table, name, type
  from system.columns
  where (database, table) in (select database, name from (${TABLES})) and default_kind <> 'EPHEMERAL'
  order by database, table, position`;

/** The engines with unique keys. In other tables, any number of rows can have the same primary key. */
const WITH_UNIQUE_KEYS = /Replacing|RocksDB|KeeperMap/;

export async function listTables(read: (sql: string) => Promise<Value[][]>): Promise<Table[]> {
  const found = await read(TABLES);
  if (found.length > TABLES_MAX) {
    throw new EngineError('result_too_large', `There are more than ${TABLES_MAX} tables.`);
  }
  const tables = new Map(
    found.map((row): [string, Table] => {
      const [schema, name, engine, key] = row.map(String) as [string, string, string, string];
      const primaryKey = WITH_UNIQUE_KEYS.test(engine) ? columnsOf(key) : [];
      return [JSON.stringify([schema, name]), { schema, name, columns: [], primaryKey, foreignKeys: [] }];
    }),
  );
  for (const row of await read(COLUMNS)) {
    const [schema, table, name, nativeType] = row.map(String) as [string, string, string, string];
    tables.get(JSON.stringify([schema, table]))?.columns.push({
      name,
      type: columnTypeOf(nativeType),
      nativeType,
      isNullable: isNullable(nativeType),
    });
  }
  return [...tables.values()];
}

/** None if a part of the key is an expression. */
function columnsOf(key: string): string[] {
  const parts = key.split(',').map((part) => part.trim());
  return parts.every((part) => /^\w+$/.test(part)) ? parts : [];
}
