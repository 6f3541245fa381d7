/**
 * SQL that writes JSON as text, field by field: functions that write whole rows as JSON look up types for each row, which
 * is slow. `concat` leaves out what is null, so a field without a value would make invalid JSON. Only the functions of
 * this file make a `JsonText`, and each of them writes `null` for it.
 */
import { join, raw, type Sql, sql } from './sql.ts';

declare const written: unique symbol;
/** SQL whose value is the text of a JSON value, and is never null itself. */
export type JsonText = Sql & { [written]: true };

const orNull = (text: Sql) => sql`coalesce(${text}, 'null')` as JsonText;

/** A text. */
export const jsonString = (value: Sql) => orNull(sql`to_json(${value})::text`);
/** A number, a boolean, or stored JSON. */
export const jsonPlain = (value: Sql) => orNull(sql`(${value})::text`);
/** A time, as callers see times. */
export const jsonTime = (value: Sql) =>
  orNull(sql`to_char(${value} at time zone 'UTC', '"\\""YYYY-MM-DD"T"HH24:MI:SS.MS"Z\\""')`);

/** The fields of an object without its braces, as arguments of `concat`. The names are our own. */
export const jsonFields = (fields: Record<string, JsonText>): Sql =>
  join(
    Object.entries(fields).map(([name, value], i) => sql`${raw(`'${i ? ',' : ''}"${name}":'`)}, ${value}`),
    ', ',
  );
/** A list whose elements are stored as JSON texts, in an array. A null array becomes an empty list. */
export const jsonList = (texts: Sql) => sql`concat('[', array_to_string(${texts}, ','), ']')` as JsonText;
/** The elements of a list without its brackets, as arguments of `concat_ws(',', …)`. */
export const jsonElements = (elements: JsonText[]): Sql => join(elements, ', ');
