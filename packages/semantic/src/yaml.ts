/**
 * Reads YAML into a small tree with offsets. Anchors and aliases share values, within bounds. What a model does not need is
 * refused: tags, several documents, deep nesting, and a key that is given twice.
 */
import {
  type Alias,
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
import type { ProblemCode, Problems, Source } from './problems.ts';

export type Value = MapValue | ListValue | TextValue | NothingValue;

interface LocatedNode {
  readonly source: Source;
  readonly offset: number;
  /** The cost of reading the node in characters, with what aliases repeat. */
  readonly characters: number;
}
export interface Entry {
  readonly key: string;
  readonly offset: number;
  readonly value: Value;
}
export interface MapValue extends LocatedNode {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
}
export interface ListValue extends LocatedNode {
  readonly kind: 'list';
  readonly items: readonly Value[];
}
export interface TextValue extends LocatedNode {
  readonly kind: 'text';
  readonly text: string;
  /** Written without quotes, so that it may be a number or a boolean. */
  readonly isPlain: boolean;
  /** Where it ends in the source. */
  readonly end: number;
}
export interface NothingValue extends LocatedNode {
  readonly kind: 'nothing';
}

/** A model needs about twelve levels, and `meta` may need some more. */
const DEPTH_MAX = 50;
const TOO_DEEP = `This is nested more than ${DEPTH_MAX} levels deep.`;

/** The beginning of a template in a line that is not a comment. */
const TEMPLATE = /^(?![ \t]*#).*?\{[{%]/m;

/** How much the aliases of a model may repeat, all together. */
export const ALIASED_CHARACTERS_MAX = 2 * 1024 * 1024;
/** The characters that each value counts on top: short values take time to read too. */
const VALUE_CHARACTERS = 20;

/** What aliases may still repeat. */
export interface RepeatBudget {
  charactersLeft: number;
}

/** Returns nothing if the file is empty or cannot be read. */
export function readYaml(source: Source, problems: Problems, repeats: RepeatBudget): Value | undefined {
  if (hasTemplate(source, problems)) return undefined;
  const documents = compose(source, problems);
  const [first, second] = documents;
  if (second) {
    const spot = { source, offset: second.range[0] };
    problems.add(spot, 'unsupported', 'A file holds one YAML document.', 'Remove the line `---`.');
  }
  if (!first?.contents || documents.some(({ errors }) => errors.length > 0)) return undefined;
  return createValues(source, problems, repeats)(first.contents);
}

function hasTemplate(source: Source, problems: Problems): boolean {
  const match = TEMPLATE.exec(source.text);
  if (!match) return false;
  problems.add(
    { source, offset: match.index + match[0].length - 2 },
    'template',
    `\`${match[0].slice(-2)}\` looks like a template. Models have no templates, because a model cannot run code.`,
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
      problems.add({ source, offset: parser.offset }, 'too_deep', TOO_DEEP);
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

/** A value, with how many levels it has. */
interface MeasuredValue {
  readonly value: Value;
  readonly height: number;
}

const heightOf = (parts: readonly MeasuredValue[]) =>
  1 + parts.reduce((most, { height }) => Math.max(most, height), 0);
const charactersOf = (parts: readonly MeasuredValue[]) =>
  parts.reduce((sum, { value }) => sum + value.characters, VALUE_CHARACTERS);

/**
 * Creates the function that turns nodes into values. It returns nothing if an alias cannot be read, because the values
 * around that alias cannot be judged.
 */
function createValues(
  source: Source,
  problems: Problems,
  repeats: RepeatBudget,
): (node: unknown) => Value | undefined {
  const anchors = new Map<string, MeasuredValue>();
  let isWhole = true;
  const nothingAt = (node: unknown): MeasuredValue => {
    const [offset] = (node as { range?: [number, number] } | null)?.range ?? [0];
    return { value: { kind: 'nothing', source, offset, characters: VALUE_CHARACTERS }, height: 1 };
  };
  const refused = (node: unknown, ...problem: [code: ProblemCode, message: string, hint?: string]) => {
    const nothing = nothingAt(node);
    problems.add(nothing.value, ...problem);
    return nothing;
  };

  /** The values of an alias are those of its anchor, so nothing is copied; but each is read where it stands. */
  function aliased(node: Alias): MeasuredValue {
    const found = anchors.get(node.source);
    // An anchor is known once its value has ended, so no value can hold itself.
    if (!found) {
      isWhole = false;
      const message = `There is no anchor \`&${shorten(node.source)}\` that ends before this alias.`;
      return refused(node, 'invalid_yaml', message);
    }
    repeats.charactersLeft -= found.value.characters;
    if (repeats.charactersLeft >= 0) return found;
    isWhole = false;
    return refused(
      node,
      'too_large',
      'The aliases of the model repeat more than 2 MB.',
      'Repeat less by aliases.',
    );
  }

  function measure(node: unknown): MeasuredValue {
    if (node === null || node === undefined) return nothingAt(node);
    if (isAlias(node)) return aliased(node);
    const { anchor, tag } = node as { anchor?: string; tag?: string };
    if (tag !== undefined) {
      return refused(
        node,
        'unsupported',
        'A tag is not supported in a model.',
        'Write the value itself here.',
      );
    }
    const made = measureOwn(node);
    if (made.height > DEPTH_MAX) return refused(node, 'too_deep', TOO_DEEP);
    if (anchor !== undefined) anchors.set(anchor, made);
    return made;
  }

  function measureOwn(node: unknown): MeasuredValue {
    const nothing = nothingAt(node);
    const { offset } = nothing.value;
    const parts: MeasuredValue[] = [];
    if (isMap(node)) {
      const entries = entriesOf(node, parts);
      const value: MapValue = { kind: 'map', source, offset, characters: charactersOf(parts), entries };
      return { value, height: heightOf(parts) };
    }
    if (isSeq(node)) {
      for (const item of node.items) parts.push(measure(item));
      const items = parts.map(({ value }) => value);
      const value: ListValue = { kind: 'list', source, offset, characters: charactersOf(parts), items };
      return { value, height: heightOf(parts) };
    }
    if (!isScalar(node) || typeof node.value !== 'string') return nothing;
    const { value: text, range } = node;
    const isPlain = node.type === 'PLAIN';
    if (isPlain && /^(~|null|Null|NULL)?$/.test(text)) return nothing;
    const characters = VALUE_CHARACTERS + text.length;
    const end = range![1];
    return { value: { kind: 'text', source, offset, end, characters, text, isPlain }, height: 1 };
  }

  function entriesOf(map: YAMLMap, parts: MeasuredValue[]): Entry[] {
    const seen = new Set<string>();
    const entries: Entry[] = [];
    const merged: Entry[] = [];
    for (const { key, value } of map.items) {
      const offset = (key as { range?: [number, number] } | null)?.range?.[0] ?? map.range![0];
      const name = isScalar(key) && typeof key.value === 'string' ? key.value : undefined;
      if (name === undefined)
        problems.add({ source, offset }, 'invalid_yaml', 'A key must be a text.', QUOTE_BRACES);
      else if (seen.has(name))
        problems.add({ source, offset }, 'duplicate_key', `The key \`${shorten(name)}\` is given twice.`);
      else {
        const made = measure(value);
        parts.push(made);
        if (name === MERGE) for (const entry of entriesToMerge(made.value)) merged.push(entry);
        else entries.push({ key: name, offset, value: made.value });
      }
      if (name !== undefined) seen.add(name);
    }
    // A key of the map itself wins over merged keys, and the first merged key over later ones.
    for (const entry of merged) {
      if (seen.has(entry.key)) continue;
      seen.add(entry.key);
      entries.push(entry);
    }
    return entries;
  }

  function entriesToMerge(value: Value): readonly Entry[] {
    if (value.kind === 'map') return value.entries;
    if (value.kind === 'list' && value.items.every(({ kind }) => kind === 'map')) {
      return value.items.flatMap(entriesToMerge);
    }
    problems.add(value, 'bad_value', '`<<` takes an alias of keys and values, or a list of such aliases.');
    return [];
  }

  return (node) => {
    const { value } = measure(node);
    return isWhole ? value : undefined;
  };
}

/** Takes over the keys of another map. */
const MERGE = '<<';

/** Shortens a text for a message, so that a long text does not fill it. */
export const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 57)}…` : text);
