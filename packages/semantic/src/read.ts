/**
 * Readers turn a value of a file into what the language says it is. A reader that finds something wrong reports it and
 * returns a value that is good enough to go on, so that one run finds every mistake.
 */
import { definitionOf, type Schema, TEXT_SCHEMA, wordSchema } from './language/schemas.ts';
import type { Json } from './model.ts';
import { didYouMean, listed, nearest, type Problems, type Spot } from './problems.ts';
import { type MapValue, QUOTE_BRACES, shorten, type TextValue, type Value } from './yaml.ts';

export interface Reader<T> {
  (value: Value, problems: Problems): T;
  /** JSON Schema of what it takes, for editors. */
  readonly schema?: Schema;
  /** The words that it takes, if it takes no others. */
  readonly words?: readonly string[];
}

export interface Field<T> {
  readonly read: Reader<T>;
  readonly isNeeded: boolean;
  /** The value if the key is missing. */
  readonly otherwise: T;
  /** A key with nothing after it counts as missing, unless this is set. */
  readonly refusesBlank?: boolean;
}

export const needed = <T>(read: Reader<T>, otherwise: T): Field<T> => ({ read, isNeeded: true, otherwise });
export const optional = <T>(read: Reader<T>): Field<T | undefined> => ({
  read,
  isNeeded: false,
  otherwise: undefined,
});
export const orElse = <T>(read: Reader<T>, otherwise: T): Field<T> => ({ read, isNeeded: false, otherwise });
/**
 * Refuses a blank key. For keys that restrict access: without them everything is open, and nobody means that by a blank
 * one.
 */
export const neverBlank = <T>(field: Field<T>): Field<T> => ({ ...field, refusesBlank: true });

/** Where the object is in its file, and where each of its keys is. */
export interface ObjectPlace {
  readonly spot: Spot;
  /** How much there was to read. */
  readonly characters: number;
  readonly keys: ReadonlyMap<string, Spot>;
}

export type ObjectOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never } & {
  readonly where: ObjectPlace;
};

interface ObjectKind<F> {
  /** What messages call such an object: `a dimension`. */
  readonly what: string;
  readonly fields: F;
  /** Keys of the wider language that this one does not have, with the reason. */
  readonly refused?: Record<string, string>;
  /** Keys of the wider language that change nothing here, with the reason. */
  readonly unused?: Record<string, string>;
  /** Older keys, with those of today. */
  readonly older?: Record<string, keyof F & string>;
}

/** The keys of the language, each with the words that it takes if it takes only those. */
export const LANGUAGE: { readonly what: string; readonly keys: Record<string, readonly string[]> }[] = [];

export const describeKeys = (what: string, keys: Record<string, readonly string[]>) =>
  void LANGUAGE.push({ what, keys });

/** A reader that editors know the form of. */
export const withSchema = <T>(read: Reader<T>, schema: Schema): Reader<T> => Object.assign(read, { schema });

export function object<F extends Record<string, Field<unknown>>>({
  what,
  fields,
  refused = {},
  unused = {},
  older = {},
}: ObjectKind<F>): Reader<ObjectOf<F>> {
  const known = Object.keys(fields);
  const keyMeant = (given: string): string => {
    if (Object.hasOwn(fields, given)) return given;
    const word = snakeCase(given);
    return Object.hasOwn(older, word) ? older[word]! : word;
  };
  describeKeys(what, Object.fromEntries(known.map((key) => [key, fields[key]!.read.words ?? []])));
  const schema = definitionOf({ what, fields, unused, older });
  return withSchema((value, problems) => {
    const keys = new Map<string, Spot>();
    const misspelt = new Set<string>();
    const read: Record<string, unknown> = { where: { spot: value, characters: value.characters, keys } };
    for (const key of known) read[key] = fields[key]!.otherwise;
    if (value.kind !== 'map') {
      const hint = value.kind === 'list' ? undefined : `It has the keys ${listed(known)}.`;
      problems.add(value, 'bad_value', `${capital(what)} must have keys and values.`, hint);
      return read as ObjectOf<F>;
    }
    for (const { key: written, offset, value: given } of value.entries) {
      const spot = { source: value.source, offset };
      const key = keyMeant(written);
      if (Object.hasOwn(fields, key)) {
        if (key !== written) noteOlderWord(problems, spot, written, key);
        if (keys.has(key)) {
          problems.add(spot, 'duplicate_key', `\`${shorten(written)}\` and \`${key}\` are the same key.`);
          continue;
        }
        keys.set(key, spot);
        if (given.kind !== 'nothing') read[key] = fields[key]!.read(given, problems);
        else if (fields[key]!.refusesBlank) refuseBlank(spot, key);
        else keys.delete(key);
      } else if (Object.hasOwn(unused, key)) {
        if (given.kind !== 'nothing') problems.note(spot, 'not_used', unused[key]!);
      } else if (given.kind !== 'nothing' || mayRestrict(key))
        refuseKey(spot, Object.hasOwn(refused, key) ? key : written);
    }
    for (const key of known) {
      if (fields[key]!.isNeeded && !keys.has(key) && !misspelt.has(key)) {
        problems.add(value, 'missing_key', `${capital(what)} needs the key \`${key}\`.`);
      }
    }
    return read as ObjectOf<F>;

    /** An unknown key without a value is ignored, unless it may be the misspelling of a key that restricts access. */
    function mayRestrict(key: string) {
      const meant = Object.hasOwn(refused, key) ? undefined : nearest(key, known);
      return meant !== undefined && fields[meant]!.refusesBlank === true;
    }

    function refuseBlank(spot: Spot, key: string) {
      const hint = 'Write a value after it, or remove the key.';
      problems.add(spot, 'bad_value', `\`${key}\` has no value.`, hint);
    }

    function refuseKey(spot: Spot, key: string) {
      if (Object.hasOwn(refused, key)) return problems.add(spot, 'unsupported', refused[key]!);
      const meant = nearest(key, known);
      if (meant !== undefined) misspelt.add(meant);
      const hint = meant === undefined ? `It has the keys ${listed(known)}.` : `Did you mean \`${meant}\`?`;
      problems.add(spot, 'unknown_key', `\`${shorten(key)}\` is not a key of ${what}.`, hint);
    }
  }, schema);
}

/** `sqlTable` becomes `sql_table`. */
const snakeCase = (word: string) =>
  /^[a-z]+([A-Z][a-z]+)+$/.test(word) ? word.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : word;

const noteOlderWord = (problems: Problems, spot: Spot, written: string, word: string) =>
  problems.note(
    spot,
    'older_word',
    `\`${shorten(written)}\` is an older word for \`${word}\`.`,
    `Write \`${word}\`.`,
  );

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

export const list = <T>(
  what: string,
  read: Reader<T>,
  { max = Number.POSITIVE_INFINITY, min = 0 } = {},
): Reader<readonly T[]> =>
  withSchema(
    (value, problems) => {
      if (value.kind !== 'list') {
        problems.add(value, 'bad_value', `${capital(what)} must be a list.`, 'Begin each item with `-`.');
        return [];
      }
      if (value.items.length > max)
        problems.add(value, 'too_large', `${capital(what)} can be at most ${max}.`);
      if (value.items.length < min)
        problems.add(value, 'bad_value', `${capital(what)} cannot be an empty list.`);
      return value.items.slice(0, max).map((item) => read(item, problems));
    },
    {
      type: 'array',
      items: read.schema ?? {},
      ...(min > 0 && { minItems: min }),
      ...(max < Number.POSITIVE_INFINITY && { maxItems: max }),
    },
  );

const textValue = (value: Value, problems: Problems): TextValue | undefined => {
  if (value.kind === 'text') return value;
  problems.add(value, 'bad_value', 'This must be a text.', value.kind === 'map' ? QUOTE_BRACES : undefined);
  return undefined;
};

export const text = (max: number): Reader<string> =>
  withSchema(
    (value, problems) => {
      const given = textValue(value, problems);
      if (!given) return '';
      if (given.text.trim() === '') problems.add(value, 'bad_value', 'This text is empty.');
      if (given.text.length > max)
        problems.add(value, 'too_large', `This text has more than ${max} characters.`);
      return given.text;
    },
    { ...TEXT_SCHEMA, maxLength: max },
  );

export const truth: Reader<boolean> = withSchema(
  (value, problems) => {
    const given = value.kind === 'text' && value.isPlain ? value.text.toLowerCase() : undefined;
    if (given !== 'true' && given !== 'false') {
      problems.add(value, 'bad_value', 'This must be `true` or `false`.', 'Write it without quotes.');
    }
    return given === 'true';
  },
  { type: 'boolean' },
);

/**
 * Reads one of these words. Words in `older` are understood too; for words in `meant`, the error proposes the right
 * one.
 */
export const oneOf = <Word extends string>(
  words: readonly Word[],
  {
    meant = {},
    older = {},
    instead = {},
  }: {
    meant?: Record<string, Word>;
    older?: Record<string, Word>;
    /** What to write for words that there are elsewhere. */
    instead?: Record<string, string>;
  } = {},
): Reader<Word> => {
  const read: Reader<Word> = (value, problems) => {
    const given = textValue(value, problems);
    const wanted = given && snakeCase(given.text);
    const word = wanted !== undefined && Object.hasOwn(older, wanted) ? older[wanted] : wanted;
    const found = words.find((one) => one === given?.text) ?? words.find((one) => one === word);
    if (given && found && found !== given.text) noteOlderWord(problems, value, given.text, found);
    if (given && !found) {
      const same = Object.hasOwn(meant, given.text) ? `Did you mean \`${meant[given.text]}\`?` : undefined;
      const other = Object.hasOwn(instead, wanted!) ? instead[wanted!] : undefined;
      const hint = same ?? other ?? didYouMean(given.text, words);
      problems.add(value, 'bad_value', `\`${shorten(given.text)}\` is not ${listed(words)}.`, hint);
    }
    return found ?? words[0]!;
  };
  return Object.assign(read, { words, schema: wordSchema(words, Object.keys(older)) });
};

export interface Name {
  /** The name; empty if the value is not a name. */
  readonly text: string;
  readonly spot: Spot;
}

const NAME_MAX = 128;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const RESERVED = ['CUBE', 'FILTER_PARAMS', 'SECURITY_CONTEXT', 'userAttributes', 'securityContext'];

/** The name of something that this file defines. */
export const name: Reader<Name> = withSchema(
  (value, problems) => {
    const given = textValue(value, problems)?.text ?? '';
    const wrong = (message: string, hint?: string) => {
      problems.add(value, 'bad_value', message, hint);
      return { text: '', spot: value };
    };
    if (value.kind !== 'text') return { text: '', spot: value };
    if (!NAME.test(given)) {
      const rule = 'A name has letters, digits and `_`, and does not begin with a digit.';
      return wrong(`\`${shorten(given)}\` is not a name.`, rule);
    }
    if (given.length > NAME_MAX) return wrong(`A name has at most ${NAME_MAX} characters.`);
    if (RESERVED.includes(given)) return wrong(`\`${given}\` has a meaning of its own and cannot be a name.`);
    return { text: given, spot: value };
  },
  { type: 'string', pattern: NAME.source, maxLength: NAME_MAX },
);

/** The name of something that is defined elsewhere, perhaps with dots. */
export const mention: Reader<Name> = withSchema(
  (value, problems) => ({ text: textValue(value, problems)?.text ?? '', spot: value }),
  { type: 'string' },
);

/** `*`, or a list. */
export const allOr = <T>(what: string, read: Reader<T>): Reader<readonly T[] | '*'> =>
  withSchema(
    (value, problems) => {
      if (value.kind === 'text' && value.text === '*') return '*';
      if (value.kind === 'list') return list(what, read)(value, problems);
      problems.add(value, 'bad_value', `${capital(what)} must be a list, or "*" for all.`);
      return [];
    },
    { anyOf: [{ const: '*' }, list(what, read).schema!] },
  );

const META_MAX = 64 * 1024;
const NUMBER = /^[-+]?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;

/** Free data for those who use the model. It must fit in 64 KB of JSON. */
export const meta: Reader<Json> = withSchema(
  (value, problems) => {
    const json = toJson(value);
    if (value.kind !== 'map') problems.add(value, 'bad_value', '`meta` must have keys and values.');
    if (JSON.stringify(json).length > META_MAX)
      problems.add(value, 'too_large', '`meta` is larger than 64 KB.');
    return json;
  },
  { type: 'object' },
);

function toJson(value: Value): Json {
  if (value.kind === 'nothing') return null;
  if (value.kind === 'list') return value.items.map(toJson);
  if (value.kind === 'map') return mapToJson(value);
  const { text, isPlain } = value;
  if (!isPlain) return text;
  if (/^(true|True|TRUE|false|False|FALSE)$/.test(text)) return text.toLowerCase() === 'true';
  // A number that JavaScript would round stays a text.
  return NUMBER.test(text) && String(Number(text)) === text ? Number(text) : text;
}

/** A key such as `__proto__` is a key like any other. */
const mapToJson = ({ entries }: MapValue): Json =>
  Object.fromEntries(entries.map(({ key, value }) => [key, toJson(value)]));

/** Reports a problem at a key of an object, or at the object if the key is missing. */
export const atKey = ({ where }: { where: ObjectPlace }, key: string): Spot =>
  where.keys.get(key) ?? where.spot;
