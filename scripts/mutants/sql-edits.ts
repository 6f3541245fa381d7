/** Changes of one place in SQL text: a conjunct, an argument of `least` or a lock less, an overlap in place of a containment. */

export interface SqlEdit {
  operator: 'conjunct of SQL' | 'argument of least' | 'containment' | 'lock';
  /** The part of the text that goes away or changes. */
  start: number;
  end: number;
  replacement: string;
}

/** The words that end a conjunct, beside another `and` and a bracket. */
const BOUNDARY =
  /^(where|on|having|when|then|else|end|order|group|limit|offset|returning|union|except|intersect|for|left|right|inner|cross|join|window|set|from|do|filter|using|or)\b/;

interface Word {
  text: string;
  start: number;
  end: number;
  depth: number;
}

/** The words and brackets of the text, without what stands in quotes or comments; `is distinct from` is one word. */
function wordsOf(text: string): Word[] {
  const found: Word[] = [];
  const pattern =
    /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|is\s+(?:not\s+)?distinct\s+from\b|[a-z_]\w*|[()]|<@|@>|,/gi;
  let depth = 0;
  for (const { 0: raw, index: start } of text.matchAll(pattern)) {
    if (/^('|--|\/\*)/.test(raw)) continue;
    if (raw === ')') depth--;
    found.push({ text: raw.toLowerCase(), start, end: start + raw.length, depth });
    if (raw === '(') depth++;
  }
  return found;
}

export function editsOfSql(text: string): SqlEdit[] {
  const words = wordsOf(text);
  return [...conjuncts(text, words), ...extremes(text, words), ...containments(words), ...locks(text)];
}

function conjuncts(text: string, words: Word[]): SqlEdit[] {
  const edits: SqlEdit[] = [];
  const add = (start: number, end: number) => {
    // A fragment may begin or end with its `and`, and then holds what another text adds to.
    if (
      text
        .slice(start, end)
        .replace(/\band\b/i, '')
        .trim()
    )
      edits.push({ operator: 'conjunct of SQL', start, end, replacement: ' ' });
  };
  words.forEach((word, i) => {
    if (word.text !== 'and' || endsBetween(words, i)) return;
    const ends = (one: Word) =>
      one.depth < word.depth || (one.depth === word.depth && (one.text === 'and' || BOUNDARY.test(one.text)));
    const next = words.slice(i + 1).find((one, j) => ends(one) && !endsBetween(words, i + 1 + j));
    add(word.start, next?.start ?? text.length);
    const before = words.slice(0, i).findLast((one, j) => {
      if (one.depth < word.depth) return true;
      if (one.depth > word.depth || endsBetween(words, j)) return false;
      return one.text === 'and' || BOUNDARY.test(one.text);
    });
    // The conjunct before the first `and`. That before another `and` follows one too.
    if (before && before.text !== 'and') add(before.end, word.end);
    else if (!before) add(0, word.end);
  });
  return edits;
}

/** Whether this `and` belongs to a `between`. */
function endsBetween(words: Word[], at: number): boolean {
  const { text, depth } = words[at]!;
  if (text !== 'and') return false;
  for (let i = at - 1; i >= 0; i--) {
    const one = words[i]!;
    if (one.depth < depth) return false;
    if (one.depth > depth) continue;
    if (one.text === 'between') return true;
    if (one.text === 'and' || BOUNDARY.test(one.text)) return false;
  }
  return false;
}

function extremes(text: string, words: Word[]): SqlEdit[] {
  return words.flatMap((word, i) => {
    const open = words[i + 1];
    if (!/^(least|greatest)$/.test(word.text) || open?.text !== '(') return [];
    const close = words.findIndex((one, j) => j > i && one.text === ')' && one.depth === open.depth);
    if (close < 0) return [];
    const commas = words.slice(i, close).filter((one) => one.text === ',' && one.depth === open.depth + 1);
    if (!commas.length) return [];
    const [first, last] = [open.end, words[close]!.start];
    const cuts = [first, ...commas.map(({ start }) => start), last];
    return cuts.slice(0, -1).map((start, n): SqlEdit => {
      // The first one goes with the comma behind it, another one with the comma before it.
      const end = n === 0 ? commas[0]!.end : cuts[n + 1]!;
      return { operator: 'argument of least', start, end, replacement: text.slice(start, start) };
    });
  });
}

const containments = (words: Word[]): SqlEdit[] =>
  words
    .filter(({ text }) => text === '<@' || text === '@>')
    .map(({ start, end }) => ({ operator: 'containment', start, end, replacement: '&&' }));

const LOCK = /\bfor (?:no key update|update|share|key share)\b(?: of \w+)?(?: skip locked| nowait)?/gi;

const locks = (text: string): SqlEdit[] =>
  [...text.matchAll(LOCK)].map(({ 0: lock, index }) => ({
    operator: 'lock',
    start: index,
    end: index + lock.length,
    replacement: '',
  }));
