/**
 * Reads YAML into a small tree with offsets. What a model does not need is refused: anchors and aliases (which could
 * expand without end), tags, several documents, deep nesting, and a key that is given twice.
 */
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  Parser,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import type { Problems, Source } from './problems.ts';

export type Value = MapValue | ListValue | TextValue | NothingValue;

interface Located {
  readonly source: Source;
  readonly offset: number;
}
export interface Entry {
  readonly key: string;
  readonly offset: number;
  readonly value: Value;
}
export interface MapValue extends Located {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
}
export interface ListValue extends Located {
  readonly kind: 'list';
  readonly items: readonly Value[];
}
export interface TextValue extends Located {
  readonly kind: 'text';
  readonly text: string;
  /** Written without quotes, so that it may be a number or a boolean. */
  readonly isPlain: boolean;
  /** Where it ends in the source. */
  readonly end: number;
}
export interface NothingValue extends Located {
  readonly kind: 'nothing';
}

/** A model needs about twelve levels, and `meta` may need some more. */
const DEPTH_MAX = 50;

/** In a line that is not a comment. */
const TEMPLATE = /^(?![ \t]*#).*?\{[{%]/m;

/** Returns nothing if the file is empty or can not be read. */
export function readYaml(source: Source, problems: Problems): Value | undefined {
  if (hasTemplate(source, problems)) return undefined;
  const documents = compose(source, problems);
  const [first, second] = documents;
  if (second) {
    const spot = { source, offset: second.range[0] };
    problems.add(spot, 'unsupported', 'A file holds one YAML document.', 'Remove the line `---`.');
  }
  if (!first?.contents || documents.some(({ errors }) => errors.length > 0)) return undefined;
  return toValue(first.contents, source, problems);
}

function hasTemplate(source: Source, problems: Problems): boolean {
  const match = TEMPLATE.exec(source.text);
  if (!match) return false;
  problems.add(
    { source, offset: match.index + match[0].length - 2 },
    'template',
    `\`${match[0].slice(-2)}\` looks like a template. Models have no templates, because a model can not run code.`,
    'Write the text that the template would make. A reference has single braces: `{CUBE}.amount`.',
  );
  return true;
}

/** The parser's stack is checked at each token, because the composer calls itself for each level. */
function compose(source: Source, problems: Problems): Document.Parsed[] {
  const parser = new Parser();
  const tokens = [];
  for (const lexeme of new Lexer().lex(source.text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > DEPTH_MAX) {
      const message = `This is nested more than ${DEPTH_MAX} levels deep.`;
      problems.add({ source, offset: parser.offset }, 'too_deep', message);
      return [];
    }
  }
  for (const token of parser.end()) tokens.push(token);
  // The check of the library for keys given twice compares each key with every other.
  const composer = new Composer({ schema: 'failsafe', uniqueKeys: false });
  const documents = [...composer.compose(tokens, false, source.text.length)] as Document.Parsed[];
  for (const { errors } of documents) {
    // Of several errors at one place, only the first one helps.
    const helpful = errors.filter(({ pos }, i) => pos[0] !== errors[i - 1]?.pos[0]);
    for (const error of helpful.slice(0, 5)) {
      const { message, hint } = inPlainWords(error, source);
      problems.add({ source, offset: error.pos[0] }, 'invalid_yaml', message, hint);
    }
  }
  return documents;
}

function inPlainWords({ code, message, pos }: YAMLParseError, source: Source) {
  if (code === 'BLOCK_AS_IMPLICIT_KEY') {
    return {
      message: 'Another key begins inside this value.',
      hint: 'Put a text that has a colon and a space into quotes: `title: "Orders: all"`. Write each key in a line of its own, with the same indentation as the keys beside it.',
    };
  }
  return { message: `${message}.`.replace('..', '.'), hint: hintFor(source, pos[0]) };
}

/** In YAML a brace begins a map, so `sql: {CUBE}.amount` is not what it seems to be. */
function hintFor({ text }: Source, offset: number): string | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const line = text.slice(start, start + 1000).split('\n', 1)[0]!;
  return /(:|-)\s+\{\s*[A-Za-z_]/.test(line) ? QUOTE_BRACES : undefined;
}

export const QUOTE_BRACES = 'A text that begins with a brace needs quotes: `"{CUBE}.amount"`.';

function toValue(node: unknown, source: Source, problems: Problems): Value {
  const offset = (node as { range?: [number, number] } | null)?.range?.[0] ?? 0;
  const nothing: NothingValue = { kind: 'nothing', source, offset };
  if (node === null || node === undefined) return nothing;
  if (isAlias(node)) return refused('An alias', nothing, problems);
  const { anchor, tag } = node as { anchor?: string; tag?: string };
  if (anchor !== undefined) return refused('An anchor', nothing, problems);
  if (tag !== undefined) return refused('A tag', nothing, problems);
  if (isMap(node)) return { kind: 'map', source, offset, entries: entriesOf(node, source, problems) };
  if (isSeq(node)) {
    return { kind: 'list', source, offset, items: node.items.map((item) => toValue(item, source, problems)) };
  }
  if (!isScalar(node) || typeof node.value !== 'string') return nothing;
  const isPlain = node.type === 'PLAIN';
  if (isPlain && /^(~|null|Null|NULL)?$/.test(node.value)) return nothing;
  return { kind: 'text', source, offset, text: node.value, isPlain, end: node.range![1] };
}

function refused(what: string, value: NothingValue, problems: Problems): NothingValue {
  problems.add(value, 'unsupported', `${what} is not supported in a model.`, 'Write the value itself here.');
  return value;
}

function entriesOf(map: YAMLMap, source: Source, problems: Problems): Entry[] {
  const seen = new Set<string>();
  const entries: Entry[] = [];
  for (const { key, value } of map.items) {
    const offset = (key as { range?: [number, number] } | null)?.range?.[0] ?? map.range![0];
    const name = isScalar(key) && typeof key.value === 'string' ? key.value : undefined;
    if (name === undefined)
      problems.add({ source, offset }, 'invalid_yaml', 'A key must be a text.', QUOTE_BRACES);
    else if (seen.has(name))
      problems.add({ source, offset }, 'duplicate_key', `The key \`${shorten(name)}\` is given twice.`);
    else entries.push({ key: name, offset, value: toValue(value, source, problems) });
    if (name !== undefined) seen.add(name);
  }
  return entries;
}

/** For messages, so that a long text does not fill them. */
export const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);
