/** What the types of data sources are in a model. */
import type { DimensionType } from '../model.ts';

/** Columns of other types, such as lists, cannot be dimensions. */
export type ColumnType = DimensionType | 'other';

const WORDS: Record<ColumnType, RegExp> = {
  number:
    /^(u?(tiny|small|medium|big|huge)?int(eger)?\d*|u(tinyint|smallint|integer|bigint|hugeint)|byteint|(big|small)?serial|float\d*|double( precision)?|real|fixed|decimal\d*|(big)?numeric|number|bignumeric|bigdecimal|(small)?money)( unsigned)?$/,
  time: /^(date(32)?|(small)?datetime(2|64|offset)?|timestamp(_?(ntz|ltz|tz|s|ms|us|ns))?( with(out)?( local)? time zone)?)$/,
  boolean: /^(bool(ean)?|bit|logical)$/,
  string:
    /^(n?(var)?char(acter)?2?|n?(char|character) varying|bpchar|n?text|(tiny|medium|long)text|string|fixedstring|uuid|uniqueidentifier|guid|enum\d*|citext|name|n?clob|time(tz)?( with(out)? time zone)?|inet|cidr)$/,
  other:
    /^(jsonb?|variant|object|array|list|struct|record|map|row|tuple|nested|geography|geometry|point|bytes|bytea|blob|(var)?binary|image|super|hllsketch|vector|interval( .*)?|xml|hstore|tsvector|union)$/,
};

const WRAPPED = /^(?:nullable|lowcardinality)\((.*)\)$/;

/** Returns the type of a column; undefined for an unknown type. */
export function columnType(written: string): ColumnType | undefined {
  let type = written.slice(0, 1000).trim().toLowerCase();
  for (let inner = WRAPPED.exec(type); inner; inner = WRAPPED.exec(type)) type = inner[1]!.trim();
  if (/\[\d*\]$/.test(type) || /^(array|list|struct|map|row|tuple|nested|record)\s*[<(]/.test(type))
    return 'other';
  const word = type
    .replace(/\([^()]*\)/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return (Object.keys(WORDS) as ColumnType[]).find((known) => WORDS[known].test(word));
}

/** Guesses the type of a column from its name, where no file says the type. */
export function typeByName(name: string): DimensionType {
  const word = name.toLowerCase();
  if (/^(is|has|was|can)_/.test(word)) return 'boolean';
  if (/(^|_)(at|on|date|datetime|time|timestamp)$/.test(word)) return 'time';
  return 'string';
}

/** What values that a test allows say about the type of their column. */
export function typeOfValues(values: readonly unknown[], isQuoted: boolean): DimensionType | undefined {
  if (!values.length || isQuoted) return undefined;
  if (values.every((value) => typeof value === 'boolean')) return 'boolean';
  return values.every((value) => typeof value === 'number') ? 'number' : undefined;
}
