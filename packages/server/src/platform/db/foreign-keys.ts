/** A foreign key, as the catalogue of the database describes it. */
import { isForeignKeyViolation, type Queryable, violatedConstraint } from './database.ts';
import { sql } from './sql.ts';

interface ForeignKey {
  table: string;
  name: string;
  column: string;
  /** The table that it refers to. */
  target: string;
}

/** Returns the row that is missing, if that is why a statement failed. */
export type MissingReference = (error: unknown) => { table: string; id: number } | undefined;

/** Reads the foreign keys that have one column. The schema must be up to date. */
export async function readForeignKeys(db: Queryable): Promise<MissingReference> {
  const keys = await db.many<ForeignKey>(sql`
    select k.conrelid::regclass::text as table, k.conname::text as name, a.attname::text as column,
           k.confrelid::regclass::text as target
    from pg_constraint k join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
    where k.contype = 'f' and cardinality(k.conkey) = 1`);
  return missingReference(keys);
}

export function missingReference(keys: readonly ForeignKey[]): MissingReference {
  const byName = new Map(keys.map((key) => [`${key.table} ${key.name}`, key]));
  return (error) => {
    if (!isForeignKeyViolation(error)) return undefined;
    const { table, detail = '' } = error as { table?: string; detail?: string };
    const key = byName.get(`${table} ${violatedConstraint(error)}`);
    // The text of the detail depends on the language of the database, but columns and values do not.
    const [, id] = (key && new RegExp(`\\(${key.column}\\)=\\((\\d+)\\)`).exec(detail)) ?? [];
    return key && id !== undefined ? { table: key.target, id: Number(id) } : undefined;
  };
}
