/** Reads and writes sealed values of any table, to replace the secret that they were sealed with. */
import type { Queryable, Tx } from '../db/database.ts';
import { raw, sql } from '../db/sql.ts';
import type { BoxedColumn } from './box.ts';

const names = ({ table, column, keyColumn }: BoxedColumn) => ({
  table: raw(table),
  column: raw(column),
  key: raw(keyColumn),
});

/**
 * Returns the next values that do not begin with this header, and locks their rows until the end of the transaction.
 */
export function lockOutdated(tx: Tx, place: BoxedColumn, header: Buffer, after: string | null, rows: number) {
  const { table, column, key } = names(place);
  return tx.many<{ key: string; sealed: Buffer }>(sql`
    select ${key}::text as key, ${column} as sealed from ${table}
    where length(${column}) > 0 and substring(${column} from 1 for ${header.length}) <> ${header}
      and (${after}::text is null or ${key}::text collate "C" > ${after})
    order by ${key}::text collate "C" limit ${rows} for update`);
}

export function updateSealed(tx: Tx, place: BoxedColumn, rowKey: string, sealed: Buffer) {
  const { table, column, key } = names(place);
  return tx.run(sql`update ${table} set ${column} = ${sealed} where ${key}::text = ${rowKey}`);
}

/** Finds a sealed value that has none of these headers. Returns its header. */
export function findForeign(db: Queryable, place: BoxedColumn, mark: Buffer, headers: readonly Buffer[]) {
  const { table, column } = names(place);
  const length = headers[0]!.length;
  return db.maybeOne<{ header: Buffer }>(sql`
    select substring(${column} from 1 for ${length}) as header from ${table}
    where substring(${column} from 1 for ${mark.length}) = ${mark}
      and substring(${column} from 1 for ${length}) <> all (${headers}::bytea[])
    limit 1`);
}
