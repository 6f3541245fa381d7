/** What the catalogue of the database says about the things that a backup holds. */
import type pg from 'pg';

export interface StoredTable {
  name: string;
  /** The names of the columns, without generated ones. */
  columns: string[];
}

export interface Partition {
  name: string;
  table: string;
  /** As SQL: `FOR VALUES FROM (…) TO (…)`, or `DEFAULT`. */
  bounds: string;
}

export interface Sequence {
  name: string;
  /** Text, because it may be larger than a number of JavaScript. */
  lastValue: string;
  isCalled: boolean;
}

export interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

const OURS = 'relnamespace = current_schema()::regnamespace';

/** A partitioned table stands for its partitions. A start writes `schema_functions` again, with the functions. */
export async function listTables(client: pg.Client): Promise<StoredTable[]> {
  const { rows } = await client.query(`
    select c.relname as name, (
      select json_agg(a.attname order by a.attnum) from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns
    from pg_class c
    where ${OURS} and relkind in ('r', 'p') and not relispartition and relname <> 'schema_functions'
    order by relname collate "C"`);
  return rows;
}

export async function listPartitions(client: pg.Client): Promise<Partition[]> {
  const { rows } = await client.query(`
    select c.relname as name, p.relname as table, pg_get_expr(c.relpartbound, c.oid) as bounds
    from pg_class c join pg_inherits i on i.inhrelid = c.oid join pg_class p on p.oid = i.inhparent
    where c.${OURS} and c.relispartition and c.relkind = 'r' order by c.relname collate "C"`);
  return rows;
}

/** Lists sequences with their current values, which are at least those of the transaction's snapshot. */
export async function listSequences(client: pg.Client): Promise<Sequence[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class where ${OURS} and relkind = 'S' order by relname collate "C"`,
  );
  const sequences: Sequence[] = [];
  for (const { name } of rows) {
    const { rows: values } = await client.query(
      `select last_value::text as "lastValue", is_called as "isCalled" from ${client.escapeIdentifier(name)}`,
    );
    sequences.push({ name, ...values[0] });
  }
  return sequences;
}

/** Lists the foreign keys, without those that partitions inherit. */
export async function listForeignKeys(client: pg.Client): Promise<ForeignKey[]> {
  const { rows } = await client.query(`
    select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where connamespace = current_schema()::regnamespace and contype = 'f' and conparentid = 0
    order by conrelid, conname`);
  return rows;
}

/** Lists the names of tables with triggers, quoted where SQL needs it. */
export async function listTablesWithTriggers(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query(`
    select distinct tgrelid::regclass::text as name from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where ${OURS} and not tgisinternal`);
  return rows.map(({ name }) => name);
}

/** Extensions may have tables of their own. */
export async function hasTables(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query(`
    select from pg_class c
    where ${OURS} and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
      and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')
    limit 1`);
  return rowCount !== 0;
}
