/**
 * Reads the tree of a statement as PostgreSQL's parser returns it. What is not expected is refused: a kind of node that
 * has no reader, and each field of a node that its reader does not name. The parser leaves out fields that are empty,
 * false or zero.
 */
import { type QueryError, queryError } from '../plan/errors.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Node {
  readonly kind: string;
  readonly fields: Fields;
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const unsupported = (message: string): QueryError => queryError('unsupported_query', message);
export const invalid = (message: string): QueryError => queryError('invalid_query', message);

/** A node is an object with one key, which is its kind. */
export function nodeOf(value: unknown): Node {
  if (isObject(value)) {
    const [kind, more] = Object.keys(value);
    const fields = kind === undefined ? undefined : value[kind];
    if (kind !== undefined && more === undefined && isObject(fields)) return { kind, fields };
  }
  throw unsupported('The SQL has a part that cannot be used here.');
}

/** The fields, if there are no others than these. */
export function only<Key extends string>(
  value: unknown,
  what: string,
  keys: readonly Key[],
): { readonly [key in Key]?: unknown } {
  if (!isObject(value)) throw unsupported(`${what} cannot be written like this.`);
  for (const key of Object.keys(value)) {
    if (key !== 'location' && !(keys as readonly string[]).includes(key)) {
      throw unsupported(`${what} cannot have this here: ${WORDS[key] ?? key}.`);
    }
  }
  return value as { readonly [key in Key]?: unknown };
}

/** The fields of a node of this kind. */
export function partOf<Key extends string>(
  value: unknown,
  kind: string,
  what: string,
  keys: readonly Key[],
): { readonly [key in Key]?: unknown } {
  const node = nodeOf(value);
  if (node.kind !== kind) throw unsupported(`This form of ${what} cannot be used.`);
  return only(node.fields, what, keys);
}

/** What the fields are called in SQL. */
const WORDS: Readonly<Record<string, string>> = {
  intoClause: 'INTO',
  lockingClause: 'FOR UPDATE or FOR SHARE',
  valuesLists: 'VALUES',
  windowClause: 'WINDOW; write the window after OVER',
  groupDistinct: 'GROUP BY DISTINCT',
  recursive: 'RECURSIVE',
  search_clause: 'SEARCH',
  cycle_clause: 'CYCLE',
  schemaname: 'a schema before its name',
  catalogname: 'a database before its name',
  colnames: 'names of columns after its alias',
  usingClause: 'USING; write ON',
  isNatural: 'NATURAL; write ON',
  lateral: 'LATERAL',
  func_variadic: 'VARIADIC',
  name: 'a name',
  refname: 'the name of another window',
  setof: 'SETOF',
  arrayBounds: 'an array',
};

export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw unsupported('The SQL has a part that cannot be used here.');
  return value;
}

/** The texts of a list of names, such as the parts of `o.status`. */
export function namesOf(value: unknown): string[] {
  return listOf(value).map((item) => {
    const { kind, fields } = nodeOf(item);
    if (kind !== 'String') throw unsupported('The SQL has a name that cannot be used here.');
    return requireText(only(fields, 'A name', ['sval']).sval);
  });
}

/** An empty text is left out. */
export function requireText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') throw unsupported('The SQL has a part that cannot be used here.');
  return value;
}

export function wordOf<Word extends string>(
  value: unknown,
  what: string,
  words: Readonly<Record<Word, string>>,
): string {
  if (typeof value === 'string' && Object.hasOwn(words, value)) return words[value as Word];
  throw unsupported(`This form of ${what} cannot be used.`);
}
