/** The words of SQL in a model. Texts and comments stay whole, so that nothing in them is taken for an operator. */
import type { Piece, Sql } from './sql.ts';

const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|::\s*[A-Za-z_]\w*(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?|[A-Za-z_][\w.]*|\d+(?:\.\d+)?|\s+|[\s\S]/g;

/** Strings are text of the model; everything else is one operand. */
export const tokensOf = (parts: readonly Piece[]): Piece[] =>
  parts.flatMap((part): Piece[] => (typeof part === 'string' ? (part.match(TOKEN) ?? []) : [part as Sql]));
