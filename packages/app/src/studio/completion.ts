/** What can be written at the cursor: keys and words of the language, cubes, members, tables and columns. */
import { type JsonSchema, keysAt, type Suggestion, wordsAt } from './language.ts';
import type { KnownCube } from './messages.ts';
import { placeIn, type YamlPlace } from './yaml-place.ts';

export interface SourceTable {
  schema: string;
  name: string;
  columns: readonly { name: string; nativeType: string }[];
}

export interface CompletionContext {
  schema: JsonSchema;
  cubes: readonly KnownCube[];
  tables: readonly SourceTable[];
}

export interface Completion {
  /** How many characters before the cursor are replaced. */
  length: number;
  offered: (Suggestion & { kind: 'key' | 'word' | 'cube' | 'member' | 'table' | 'column' })[];
}

/** Keys whose values name a cube, a member of the cube around them, or a table. */
const CUBES = new Set(['extends', 'join_path']);
const MEMBERS = new Set(['levels', 'drill_members', 'includes', 'excludes', 'member']);

export function complete(before: readonly string[], known: CompletionContext): Completion | null {
  const place = placeIn(before);
  const { path, key, typed } = place;
  const listKey = key ?? (path.at(-1) === '[]' ? path.at(-2) : undefined);
  const reference = /(?<!\\)\{\s*([\w.]*)$/.exec(typed);
  const around = () => cubeAround(before, known.cubes);
  if (key !== undefined && isSql(key) && reference)
    return { length: reference[1]!.length, offered: references(reference[1]!, around(), known) };
  if (key === 'sql_table') return { length: typed.length, offered: tables(known) };
  if (key !== undefined && isSql(key))
    return { length: wordIn(typed).length, offered: columns(around(), known) };
  if (key === 'name' && path.at(-2) === 'joins')
    return { length: typed.length, offered: cubes(known.cubes.filter(({ isView }) => !isView)) };
  if (listKey !== undefined && CUBES.has(listKey))
    return { length: typed.length, offered: cubes(known.cubes.filter(({ isView }) => !isView)) };
  if (listKey !== undefined && MEMBERS.has(listKey) && (place.isItem || key === 'member')) {
    const of =
      listKey === 'includes' || listKey === 'excludes' ? (joined(before, known.cubes) ?? around()) : around();
    return { length: typed.length, offered: members(of, listKey) };
  }
  if (key !== undefined) return { length: typed.length, offered: words(known.schema, place) };
  return {
    length: typed.length,
    offered: keysAt(known.schema, path).map((one) => ({ ...one, kind: 'key' as const })),
  };
}

const isSql = (key: string) => key === 'sql';
const wordIn = (typed: string) => /[\w.]*$/.exec(typed)![0];

const words = (schema: JsonSchema, { path, key }: YamlPlace) =>
  wordsAt(schema, path, key!).map((one) => ({ ...one, kind: 'word' as const }));

const cubes = (list: readonly KnownCube[]) =>
  list.map(({ name, title, description }) => ({
    label: name,
    text: name,
    detail: title,
    info: description,
    kind: 'cube' as const,
  }));

const members = (cube: KnownCube | undefined, key: string) =>
  (cube?.members ?? [])
    .filter(({ kind }) => key !== 'levels' || kind === 'dimension')
    .map(({ name, kind, type, title, description }) => ({
      label: name,
      text: name,
      detail: [kind, type].filter(Boolean).join(' '),
      info: [title, description].filter(Boolean).join('\n') || undefined,
      kind: 'member' as const,
    }));

/** Inside of braces: `{CUBE}`, a member of this cube, or another cube and then its members. */
function references(typed: string, around: KnownCube | undefined, { cubes: all }: CompletionContext) {
  const [first, ...rest] = typed.split('.');
  if (rest.length) {
    const cube = first === 'CUBE' ? around : all.find(({ name }) => name === first);
    return members(cube, '').map((one) => ({
      ...one,
      label: `${first}.${one.label}`,
      text: `${first}.${one.text}`,
    }));
  }
  const own = { label: 'CUBE', text: 'CUBE', detail: around?.name, kind: 'cube' as const };
  return [own, ...members(around, ''), ...cubes(all.filter(({ isView }) => !isView))];
}

const fullName = ({ schema, name }: SourceTable) => `${schema}.${name}`;

const tables = ({ tables: all }: CompletionContext) =>
  all.map((table) => ({
    label: fullName(table),
    text: fullName(table),
    detail: String(table.columns.length),
    kind: 'table' as const,
  }));

function columns(around: KnownCube | undefined, { tables: all }: CompletionContext) {
  const named = around?.table.replaceAll(/["`]/g, '');
  const table = all.find((one) => fullName(one) === named) ?? all.find(({ name }) => name === named);
  return (table?.columns ?? []).map(({ name, nativeType }) => ({
    label: name,
    text: name,
    detail: nativeType,
    kind: 'column' as const,
  }));
}

/** The cube or view whose definition the cursor is in. What the file says of its table counts, also if it is not compiled yet. */
export function cubeAround(before: readonly string[], all: readonly KnownCube[]): KnownCube | undefined {
  for (let i = before.length - 1; i >= 0; i--) {
    const [, , name] = /^( {0,4}-|-) +name:\s*["']?(\w+)/.exec(before[i]!) ?? [];
    if (name === undefined || !isTop(before, i)) continue;
    const table = before
      .slice(i)
      .map((line) => /^\s*sql_table:\s*(\S+)/.exec(line)?.[1])
      .find((found) => found !== undefined);
    const known = all.find((cube) => cube.name === name);
    if (!known) return table === undefined ? undefined : unknownCube(name, table);
    return table === undefined ? known : { ...known, table };
  }
  return undefined;
}

/** Whether the item in this line is one of the lists at the top of the file. */
function isTop(before: readonly string[], row: number): boolean {
  const { path } = placeIn(before.slice(0, row + 1));
  return path.length === 2 && (path[0] === 'cubes' || path[0] === 'views');
}

const unknownCube = (name: string, table: string): KnownCube => ({
  name,
  table,
  isView: false,
  file: '',
  line: 1,
  title: undefined,
  description: undefined,
  query: '',
  dataSource: 'default',
  members: [],
  joins: [],
  isOpen: true,
});

/** In a view: the cube that the `join_path` of this item ends at. */
function joined(before: readonly string[], all: readonly KnownCube[]): KnownCube | undefined {
  for (let i = before.length - 1; i >= 0; i--) {
    const [, path] = /join_path:\s*["']?([\w.]+)/.exec(before[i]!) ?? [];
    if (path !== undefined) return all.find(({ name }) => name === path.split('.').at(-1));
    if (/^\s{0,4}- +name:/.test(before[i]!)) return undefined;
  }
  return undefined;
}
