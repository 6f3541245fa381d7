/** SQL of dbt as SQL of a model: columns get the cube before them, and braces that are no references are escaped. */
import { sqlName } from '../drafts/names.ts';
import { problemIn } from '../sql-texts.ts';

const LENGTH_MAX = 16 * 1024;

/** SQL of dbt that the language of models cannot express; the message says why. */
export class NotExpressibleError extends Error {}

/** Texts, names in quotes, comments, numbers, names and single characters. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\d[\w.]*|[A-Za-z_][\w$]*|[\s\S]/g;
const NAME = /^[A-Za-z_]/;
const QUOTED = /^["`]/;

/** What a name in SQL becomes; undefined if it stays as it is. */
export type NameMapper = (name: string) => string | undefined;

/** Parts of SQL: texts, and references that are written already. */
export type SqlPart = string | { readonly reference: string };

/** Rewrites the names in the texts. Throws `NotExpressibleError` if the whole is not SQL that a model can hold. */
export function rewriteSql(parts: readonly SqlPart[], rename: NameMapper): string {
  const length = parts.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 0), 0);
  if (length > LENGTH_MAX) throw new NotExpressibleError('its SQL is too long');
  const problem = problemIn(parts);
  if (problem !== undefined)
    throw new NotExpressibleError('its SQL has a quote, comment or bracket that is not closed, or a `;`');
  const written = parts
    .map((part) => (typeof part === 'string' ? rewriteText(part, rename) : part.reference))
    .join('')
    .trim();
  if (written === '') throw new NotExpressibleError('its SQL is empty');
  return written;
}

function rewriteText(sql: string, rename: NameMapper): string {
  if (/\{[{%#]/.test(sql)) throw new NotExpressibleError('its SQL has a template');
  const tokens = sql.match(TOKEN) ?? [];
  return tokens
    .map((token, i) => {
      const isQuoted = QUOTED.test(token);
      if (!isQuoted && !NAME.test(token)) return escapeBraces(token);
      // After a dot it belongs to another name, before one it is a table, before a bracket a function, before a text a type.
      const after = nextTo(tokens, i, 1);
      if (nextTo(tokens, i, -1) === '.' || after === '.' || after === '(' || after?.startsWith("'")) {
        return escapeBraces(token);
      }
      const name = isQuoted ? token.slice(1, -1).replaceAll('""', '"') : token;
      return rename(name) ?? escapeBraces(token);
    })
    .join('');
}

function nextTo(tokens: readonly string[], from: number, step: 1 | -1): string | undefined {
  let i = from + step;
  while (i >= 0 && i < tokens.length && tokens[i]!.trim() === '') i += step;
  return tokens[i];
}

export const escapeBraces = (sql: string) => sql.replace(/[{}]/g, '\\$&');

/** Names of columns that need no quotes in any case of letters. */
const IN_ANY_CASE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A column as SQL. Names that only dbt's files write, without quotes, mean whatever the data source makes of them. */
export const columnName = (name: string, { isExact }: { isExact: boolean }) => {
  const quoted = sqlName(isExact ? name : name.toLowerCase());
  if (isExact || !IN_ANY_CASE.test(name)) return escapeBraces(sqlName(name));
  return escapeBraces(quoted.startsWith('"') ? quoted : name);
};
