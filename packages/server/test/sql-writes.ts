/** Finds the tables that SQL writes to, in TypeScript sources and in files of functions. */
import { parseAst, transformWithEsbuild } from 'vite';

export interface Write {
  /** The name of the table, or undefined if the text does not contain it. */
  table: string | undefined;
  /** Some words of the statement, for messages. */
  text: string;
}

/** A placeholder for values that are inserted at run time. */
const UNKNOWN = '¤';

/** The writes in all texts of a source: templates, strings, and texts that esbuild joins. */
export async function writesOfSource(source: string, file: string): Promise<Write[]> {
  const { code } = await transformWithEsbuild(source, file, { loader: 'ts', target: 'esnext' });
  return textsOf(parseAst(code)).flatMap(writesOfSql);
}

interface Node {
  type: string;
  value?: unknown;
  quasis?: { value: { cooked: string | null } }[];
}

function textsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(textsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value, quasis } = node as Node;
  const own =
    type === 'TemplateLiteral'
      ? [quasis!.map((quasi) => quasi.value.cooked ?? '').join(UNKNOWN)]
      : type === 'Literal' && typeof value === 'string'
        ? [value]
        : [];
  return [...own, ...Object.values(node).flatMap(textsOf)];
}

export function writesOfSql(text: string): Write[] {
  const { words, quoted } = wordsOf(text);
  const own = words.flatMap((_, i) => {
    const target = targetsAt(words, i);
    const said = words.slice(Math.max(0, i - 1), i + 5).join(' ');
    return target.map((table) => ({ table, text: said.replaceAll(UNKNOWN, '…') }));
  });
  // A function may build a statement as a text and execute it, so texts inside texts are searched too.
  return [...own, ...quoted.flatMap(writesOfSql)];
}

const TOKEN =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\$\w*\$|'(?:[^']|'')*'|"[^"]+"(?:\s*\.\s*"[^"]+")*|[a-z_][\w$]*(?:\s*\.\s*[a-z_"][\w$"]*)*|\S/gi;

function wordsOf(text: string) {
  const words: string[] = [];
  const quoted: string[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.startsWith('--') || token.startsWith('/*') || /^\$\w*\$$/.test(token)) continue;
    if (token.startsWith("'")) quoted.push(token.slice(1, -1).replaceAll("''", "'"));
    else words.push(token.replaceAll(/["\s]/g, '').toLowerCase());
  }
  return { words, quoted };
}

/** After one of these words, `update` does not begin a statement, as in `for update` and `do update`. */
const NO_STATEMENT = new Set(['for', 'key', 'do', 'on', 'after', 'before', 'or', 'of', 'no', '.']);
const isName = (word: string | undefined) => word !== undefined && /^[a-z_][\w$.]*$/.test(word);
/** Removes the schema from the name. */
const nameAt = (words: string[], i: number) =>
  isName(words[i]) ? words[i]!.slice(words[i]!.lastIndexOf('.') + 1) : undefined;

/** The tables that a statement beginning with this word writes to; none if no such statement begins here. */
function targetsAt(words: string[], i: number): (string | undefined)[] {
  const next = words[i + 1];
  const skipOnly = (at: number) => (words[at] === 'only' ? at + 1 : at);
  switch (words[i]) {
    case 'insert':
    case 'merge':
      return next === 'into' ? [nameAt(words, skipOnly(i + 2))] : next === UNKNOWN ? [undefined] : [];
    case 'delete':
      return next === 'from' ? [nameAt(words, skipOnly(i + 2))] : next === UNKNOWN ? [undefined] : [];
    case 'update': {
      if (NO_STATEMENT.has(words[i - 1] ?? '')) return [];
      const at = skipOnly(i + 1);
      if (words[at] === UNKNOWN) return [undefined];
      // In an English sentence, no `set` follows.
      return isName(words[at]) && words.slice(at + 1, at + 4).includes('set') ? [nameAt(words, at)] : [];
    }
    case 'truncate': {
      const targets: (string | undefined)[] = [];
      let at = next === 'table' ? i + 2 : i + 1;
      for (at = skipOnly(at); ; at += 2) {
        if (words[at] === undefined || words[at] === ';') return targets;
        targets.push(nameAt(words, at));
        if (words[at + 1] !== ',') return targets;
      }
    }
    case 'copy': {
      const from = words.indexOf('from', i);
      return from > i && !words.slice(i, from).includes('to') && (isName(next) || next === UNKNOWN)
        ? [nameAt(words, i + 1)]
        : [];
    }
    default:
      return [];
  }
}
