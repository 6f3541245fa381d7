/**
 * Puts rows into every table of a database with any version of the schema. It uses the catalogue of the database, and the
 * rules below for columns whose values depend on something else.
 */
import type pg from 'pg';

/** Triggers and migrations write these tables. */
const KEPT_BY_OTHERS = new Set([
  'schema_migrations',
  'schema_functions',
  'report_counts',
  'external_user_count',
]);

type Row = Record<string, unknown>;

/** Changes rows so that constraints and triggers accept them, by table. */
const MENDED: Record<string, (row: Row, isFull: boolean) => Row> = {
  users: (row, isFull) => ({
    ...row,
    email: `${row.username}@example.com`,
    embed_tenant: isFull ? row.embed_tenant : null,
  }),
  // One of each cloud.
  oidc_token_configs: (row) => ({ ...row, audience_type: 'CUSTOM' }),
  git_installations: (row) => ({
    ...row,
    app_installation_id: row.kind === 'github_app' ? row.id : null,
  }),
  folders: (row) => ({ ...row, path: [row.id], parent_id: null }),
  reports: (row, isFull) => ({ ...row, ...(isFull ? { folder_id: null } : {}) }),
};

/** Makes values, by column. No row is marked as deleted, so none has an heir. */
const VALUES: Record<string, (n: number, newest: NewestValue) => unknown> = {
  deleted_at: () => null,
  heir_id: () => null,
  deployment_id: (n, newest) => newest('deployments', 'id') ?? n,
  embed_tenant: (_, newest) => newest('embed_tenants', 'name') ?? null,
};

interface Table {
  name: string;
  columns: {
    name: string;
    type: string;
    isNullable: boolean;
    hasDefault: boolean;
    references: [string, string] | null;
  }[];
  checks: string[];
}

/** Larger than the ids of rows that migrations insert. */
const FIRST_ID = 1000;

/** A value of the row that was added to another table, for the same kind of row. */
type NewestValue = (table: string, column: string) => unknown;

/** Two rows for each table: one with a value in every column, and one with as few as possible. */
export async function fill(client: pg.Client, n: number): Promise<void> {
  const full = new Map<string, Row>();
  const sparse = new Map<string, Row>();
  for (const table of await listTables(client)) {
    if (KEPT_BY_OTHERS.has(table.name)) continue;
    for (const added of [full, sparse]) {
      const isFull = added === full;
      const newest: NewestValue = (other, column) => added.get(other)?.[column];
      const row = rowOf(table, FIRST_ID + 2 * n + (isFull ? 0 : 1), isFull, newest);
      const names = Object.keys(row);
      const { rows } = await client.query(
        `insert into ${table.name} (${names.map((name) => `"${name}"`).join(', ')}) overriding system value
         values (${names.map((_, i) => `$${i + 1}`).join(', ')})
         ${table.columns.some(({ name }) => name === 'singleton') ? 'on conflict do nothing' : ''} returning *`,
        Object.values(row),
      );
      if (rows[0]) added.set(table.name, rows[0]);
    }
  }
}

function rowOf(table: Table, n: number, isFull: boolean, newest: NewestValue): Row {
  const row: Row = {};
  const oneOf = table.checks.flatMap(
    (check) => /num_nonnulls\((.+)\) = 1/.exec(check)?.[1]?.split(', ') ?? [],
  );
  const chosen = oneOf[n % oneOf.length];
  for (const column of table.columns) {
    if (oneOf.includes(column.name) && column.name !== chosen) row[column.name] = null;
    else if (!isFull && column.isNullable && column.name !== chosen) row[column.name] = null;
    else if (!isFull && column.hasDefault && column.name !== 'id') continue;
    else row[column.name] = valueFor(table, column, n, newest);
  }
  const mended = Object.entries(MENDED[table.name]?.(row, isFull) ?? row);
  return Object.fromEntries(mended.filter(([name]) => table.columns.some((column) => column.name === name)));
}

function valueFor(
  table: Table,
  { name, type, references }: Table['columns'][number],
  n: number,
  newest: NewestValue,
) {
  if (references && references[0] !== table.name) return newest(...references) ?? null;
  if (references) return null;
  if (VALUES[name]) return VALUES[name](n, newest);
  const allowed = table.checks
    .map((check) => check.match(`\\(${name} = ANY \\(ARRAY\\[(.+)\\]\\)`)?.[1])
    .find(Boolean);
  if (allowed) {
    const values = [...allowed.matchAll(/'([^']*)'/g)].map(([, value]) => value);
    return values[n % values.length];
  }
  return sampleOf(type, name, n);
}

function sampleOf(type: string, name: string, n: number): unknown {
  if (type.endsWith('[]')) return [sampleOf(type.slice(0, -2), name, n)];
  switch (type) {
    case 'text':
      return `${name}-${n}`;
    case 'bigint':
    case 'integer':
    case 'smallint':
      return n;
    case 'double precision':
      return n + 0.5;
    case 'boolean':
      return true;
    case 'json':
    case 'jsonb':
      return JSON.stringify({ n });
    case 'bytea':
      return Buffer.from(`${name}-${n}`);
    case 'uuid':
      return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
    case 'date':
      return new Date(Date.UTC(2026, 0, 1) + n * 86_400_000).toISOString().slice(0, 10);
    case 'xid8':
      return String(n);
    case 'timestamp with time zone':
      return new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
    default:
      throw new Error(`say in fill.ts what a column of type ${type} may hold, such as ${name}`);
  }
}

/** Each table comes after the tables that it refers to. */
async function listTables(client: pg.Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select c.relname as name,
      (select json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
          'isNullable', not a.attnotnull, 'hasDefault', a.atthasdef,
          'references', (select json_build_array(f.confrelid::regclass::text, fa.attname)
             from pg_constraint f join pg_attribute fa on fa.attrelid = f.confrelid and fa.attnum = f.confkey[1]
             where f.conrelid = c.oid and f.contype = 'f' and f.conkey = array[a.attnum])) order by a.attnum)
       from pg_attribute a
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      array(select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype = 'c') as checks
    from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`);
  const sorted: Table[] = [];
  const add = (table: Table | undefined, below: Table[] = []) => {
    if (!table || sorted.includes(table) || below.includes(table)) return;
    for (const { references } of table.columns) {
      add(
        rows.find(({ name }) => name === references?.[0]),
        [...below, table],
      );
    }
    sorted.push(table);
  };
  for (const name of FIRST) add(rows.find((table) => table.name === name));
  for (const table of rows) add(table);
  return sorted;
}

/** The tables to fill first: others refer to them without a foreign key. */
const FIRST = ['embed_tenants', 'deployments'];

/** All rows, by table and then by their key. */
export async function readRows(client: pg.Client): Promise<Map<string, Map<string, Row>>> {
  const { rows: tables } = await client.query<{ name: string; key: string[] | null }>(`
    select c.relname as name, (
      select json_agg(a.attname order by a.attnum) from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
      where i.indrelid = c.oid and i.indisprimary) as key
    from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`);
  const all = new Map<string, Map<string, Row>>();
  for (const { name, key } of tables) {
    const { rows } = await client.query<{ row: Row }>(`select to_jsonb(t) as row from ${name} t`);
    // The key of a partitioned table has a column more, although the id alone identifies a row.
    const columns = key?.includes('id') ? ['id'] : key;
    const keyOf = (row: Row) => JSON.stringify(columns ? columns.map((column) => row[column]) : row);
    all.set(name, new Map(rows.map(({ row }) => [keyOf(row), row])));
  }
  return all;
}
