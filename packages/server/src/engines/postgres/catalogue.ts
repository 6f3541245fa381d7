/** Reads from PostgreSQL's catalogue which tables there are, as far as the user can read them. */
import type pg from 'pg';
import { EngineError, type ForeignKey, type Table } from '../engine.ts';
import { columnTypeOf } from './texts.ts';

const TABLES_MAX = 2000;
const ENUM = 'e';

interface FoundColumn {
  name: string;
  typeId: number;
  kind: string;
  nativeType: string;
  isNullable: boolean;
}

interface FoundTable {
  schema: string;
  name: string;
  columns: FoundColumn[];
  primaryKey: string[];
  foreignKeys: ForeignKey[];
}

/** The names of the columns with these numbers, in the order of the numbers. */
const names = (table: string, numbers: string) => `(
  select json_agg(a.attname order by n.at)
  from unnest(${numbers}) with ordinality as n (number, at)
  join pg_attribute a on a.attrelid = ${table} and a.attnum = n.number)`;

/** The type of a column that has a domain is the type below the domain. Parts of a partitioned table are left out. */
const TABLES = `
  select s.nspname as schema, c.relname as name,
    coalesce((
      select json_agg(json_build_object(
        'name', a.attname,
        'typeId', coalesce(nullif(t.typbasetype, 0), t.oid)::bigint,
        'kind', t.typtype,
        'nativeType', format_type(a.atttypid, a.atttypmod),
        'isNullable', not a.attnotnull) order by a.attnum)
      from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
        and has_column_privilege(c.oid, a.attnum, 'select')), '[]') as columns,
    coalesce((
      select ${names('c.oid', 'i.indkey')} from pg_index i
      where i.indrelid = c.oid and i.indisprimary), '[]') as "primaryKey",
    coalesce((
      select json_agg(json_build_object(
        'columns', ${names('k.conrelid', 'k.conkey')},
        'toSchema', ts.nspname,
        'toTable', tc.relname,
        'toColumns', ${names('k.confrelid', 'k.confkey')}) order by k.conname)
      from pg_constraint k
      join pg_class tc on tc.oid = k.confrelid
      join pg_namespace ts on ts.oid = tc.relnamespace
      where k.conrelid = c.oid and k.contype = 'f'), '[]') as "foreignKeys"
  from pg_class c join pg_namespace s on s.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
    and s.nspname !~ '^pg_' and s.nspname <> 'information_schema'
    and has_schema_privilege(s.oid, 'usage')
    and (has_table_privilege(c.oid, 'select') or has_any_column_privilege(c.oid, 'select'))
    and not exists (
      select from pg_depend d
      where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by s.nspname, c.relname
  limit ${TABLES_MAX + 1}`;

export async function listTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<FoundTable>(TABLES);
  if (rows.length > TABLES_MAX) {
    throw new EngineError('result_too_large', `There are more than ${TABLES_MAX} tables.`);
  }
  return rows.map((table) => ({
    ...table,
    columns: table.columns.map(({ name, typeId, kind, nativeType, isNullable }) => ({
      name,
      type: kind === ENUM ? 'string' : columnTypeOf(typeId),
      nativeType,
      isNullable,
    })),
  }));
}
