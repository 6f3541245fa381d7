/** What can be asked for: the members of the views and cubes, and how they are found. */
import type { MemberInfo } from '@oriel/visualization';
import type { MemberKind } from './changes.ts';

export interface Granularity {
  name: string;
  title: string;
}

/** What `/meta` says about a view or cube. */
export interface Source {
  name: string;
  title: string;
  type: 'cube' | 'view';
  description?: string;
  meta?: unknown;
  measures: SourceMember[];
  dimensions: SourceMember[];
  segments: SourceMember[];
  hierarchies?: { name: string; title: string; levels: string[] }[];
  nestedFolders?: Folder[];
}

interface SourceMember {
  name: string;
  title: string;
  shortTitle: string;
  type: string;
  description?: string;
  format?: string;
  granularities?: Granularity[];
  drillMembers?: string[];
}

export interface Member {
  name: string;
  title: string;
  kind: MemberKind;
  /** `string`, `number`, `boolean`, `time`. */
  type: string;
  description: string | undefined;
  format: string | undefined;
  source: string;
  granularities: Granularity[];
  /** In lower case, for the search. */
  words: string;
}

/** A member, or a calculated field, which is not of the model but stands among what is chosen. */
export type ListedMember = Omit<Member, 'kind'> & { kind: MemberKind | 'calculated' };

export interface Model {
  sources: Source[];
  members: Map<string, Member>;
  /** Of each source, in its order. */
  bySource: Map<string, Member[]>;
}

export const GRANULARITIES = ['day', 'week', 'month', 'quarter', 'year', 'hour', 'minute', 'second'] as const;

export function createModel(sources: Source[]): Model {
  const members = new Map<string, Member>();
  const bySource = new Map<string, Member[]>();
  for (const source of sources) {
    const found = [
      ...source.measures.map((given) => memberOf(given, 'measure', source)),
      ...source.dimensions.map((given) =>
        memberOf(given, given.type === 'time' ? 'time' : 'dimension', source),
      ),
      ...source.segments.map((given) => memberOf(given, 'segment', source)),
    ];
    bySource.set(source.name, found);
    for (const member of found) members.set(member.name, member);
  }
  // Views are made for people, cubes for models.
  const sorted = sources.toSorted((a, b) => Number(a.type === 'cube') - Number(b.type === 'cube'));
  return { sources: sorted, members, bySource };
}

const memberOf = (given: SourceMember, kind: MemberKind, source: Source): Member => ({
  name: given.name,
  title: given.shortTitle,
  kind,
  type: given.type,
  description: given.description,
  format: given.format,
  source: source.name,
  granularities: given.granularities ?? [],
  words: given.shortTitle.toLocaleLowerCase(),
});

export const describeWith =
  ({ members }: Model) =>
  (name: string): MemberInfo | undefined => {
    const member = members.get(name) ?? members.get(name.split('.').slice(0, 2).join('.'));
    return (
      member && {
        shortTitle: member.title,
        type: member.type,
        ...(member.format ? { format: member.format } : {}),
      }
    );
  };

export type HitReason = 'title' | 'name' | 'description';

export interface Hit {
  member: Member;
  why: HitReason;
  rank: number;
}

/** Every word of the text must be found. Titles count before technical names, and those before descriptions. */
function matchOf(member: Member, words: readonly string[]): Hit | undefined {
  if (words.every((word) => member.words.includes(word))) {
    const [first] = words;
    const rank = member.words.startsWith(first!) ? 0 : member.words.includes(` ${first}`) ? 1 : 2;
    return { member, why: 'title', rank };
  }
  const name = member.name.toLowerCase();
  if (words.every((word) => name.includes(word) || member.words.includes(word)))
    return { member, why: 'name', rank: 3 };
  const description = member.description?.toLocaleLowerCase();
  if (description && words.every((word) => description.includes(word) || member.words.includes(word)))
    return { member, why: 'description', rank: 4 };
  return undefined;
}

export const wordsIn = (text: string) => text.toLocaleLowerCase().split(/\s+/).filter(Boolean);

export function searchMembers(members: Iterable<Member>, text: string): Hit[] {
  const words = wordsIn(text);
  if (!words.length) return [];
  const hits: Hit[] = [];
  for (const member of members) {
    const hit = matchOf(member, words);
    if (hit) hits.push(hit);
  }
  return hits.sort((a, b) => a.rank - b.rank);
}

/** Sources that are called so, or that have members which are. */
export function searchSources(model: Model, text: string): { source: Source; hits: Hit[] }[] {
  const words = wordsIn(text);
  return model.sources
    .flatMap((source) => {
      const own = `${source.title} ${source.name} ${source.description ?? ''}`.toLocaleLowerCase();
      const isNamed = words.every((word) => own.includes(word));
      const hits = searchMembers(model.bySource.get(source.name) ?? [], text);
      return isNamed || hits.length ? [{ source, hits, rank: isNamed ? -1 : hits[0]!.rank }] : [];
    })
    .sort((a, b) => a.rank - b.rank);
}

const ORDER: MemberKind[] = ['measure', 'dimension', 'time', 'segment'];

/** Members that stand together: a folder of the view, a hierarchy, or all of a kind. */
interface Group {
  id: string;
  /** Undefined for a kind, whose name is a text of the page. */
  title: string | undefined;
  depth: number;
  members: Member[];
}

export type ListRow =
  | { key: string; kind: 'heading'; id: string; title: string | undefined; depth: number; count: number }
  | { key: string; kind: 'member'; member: ListedMember; isChosen: boolean; depth: number; why?: HitReason }
  | { key: string; kind: 'value'; member: ListedMember; value: string; depth: number }
  /** What stands in place of values. */
  | { key: string; kind: 'note'; text: 'loading' | 'noValues'; depth: number };

/** The values of members that people want to see, as far as they are known. */
export type OpenValues = ReadonlyMap<string, readonly string[] | undefined>;

interface Folder {
  name: string;
  members: (string | Folder)[];
}

function groupsOf(source: Source | undefined, members: readonly Member[]): Group[] {
  const byName = new Map(members.map((member) => [member.name, member]));
  const found = (names: readonly string[]) => names.flatMap((name) => byName.get(name) ?? []);
  const placed = new Set<string>();
  const folders = (list: readonly Folder[], depth: number, path: string): Group[] =>
    list.flatMap((folder) => {
      const own = folder.members.filter((one) => typeof one === 'string');
      for (const name of own) placed.add(name);
      const id = `${path}/${folder.name}`;
      const inside = folder.members.filter((one) => typeof one !== 'string');
      return [{ id, title: folder.name, depth, members: found(own) }, ...folders(inside, depth + 1, id)];
    });
  const inFolders = folders(source?.nestedFolders ?? [], 0, 'f');
  const hierarchies = (source?.hierarchies ?? []).map(
    ({ name, title, levels }): Group => ({ id: `y-${name}`, title, depth: 0, members: found(levels) }),
  );
  // What no folder holds stands by its kind; a hierarchy only says how dimensions belong together.
  const kinds = ORDER.map((kind): Group => {
    const rest = members.filter((member) => member.kind === kind && !placed.has(member.name));
    return { id: kind, title: undefined, depth: 0, members: rest };
  });
  return [...inFolders, ...kinds, ...hierarchies].filter(
    (group) => group.members.length || inFolders.includes(group),
  );
}

interface ListState {
  source: Source | undefined;
  members: readonly Member[];
  chosen: readonly ListedMember[];
  text: string;
  closed: ReadonlySet<string>;
  values: OpenValues;
}

/** The rows of the list: what is chosen stands on top, and again at its place. */
export function listRows({ source, members, chosen, text, closed, values }: ListState): ListRow[] {
  const names = new Set(chosen.map(({ name }) => name));
  const rows: ListRow[] = [];
  const add = (prefix: string, member: ListedMember, depth: number, why?: HitReason) => {
    const key = `${prefix}${member.name}`;
    const isChosen = names.has(member.name);
    rows.push({ key, kind: 'member', member, isChosen, depth, ...(why ? { why } : {}) });
    // On top they would stand between what is to be ordered.
    if (prefix === 'c-' || !values.has(member.name)) return;
    const found = values.get(member.name);
    for (const value of found ?? [])
      rows.push({ key: `${key} = ${value}`, kind: 'value', member, value, depth: depth + 1 });
    if (!found?.length)
      rows.push({ key: `${key} =`, kind: 'note', text: found ? 'noValues' : 'loading', depth: depth + 1 });
  };
  if (text.trim()) {
    for (const { member, why } of searchMembers(members, text)) add('', member, 0, why);
    return rows;
  }
  if (chosen.length) {
    rows.push({
      key: 'h-chosen',
      kind: 'heading',
      id: 'chosen',
      title: undefined,
      depth: 0,
      count: chosen.length,
    });
    for (const member of chosen) add('c-', member, 0);
  }
  let closedDepth = Number.POSITIVE_INFINITY;
  for (const { id, title, depth, members: found } of groupsOf(source, members)) {
    // What is in a folder that is closed is not shown.
    if (depth > closedDepth) continue;
    closedDepth = closed.has(id) ? depth : Number.POSITIVE_INFINITY;
    rows.push({ key: `h-${id}`, kind: 'heading', id, title, depth, count: found.length });
    if (closed.has(id)) continue;
    for (const member of found)
      add(title === undefined ? '' : `${id} `, member, title === undefined ? 0 : depth + 1);
  }
  return rows;
}

/** The text around the first word that was found, and where the words are in it. */
export function excerptOf(
  text: string,
  words: readonly string[],
  length: number,
): [part: string, isFound: boolean][] {
  const plain = text.toLocaleLowerCase();
  const first = Math.min(...words.map((word) => plain.indexOf(word)).filter((at) => at >= 0), text.length);
  const from = text.length <= length || first < length / 2 ? 0 : first - Math.floor(length / 4);
  const part = `${from ? '…' : ''}${text.slice(from, from + length)}${from + length < text.length ? '…' : ''}`;
  const pattern = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return part
    .split(new RegExp(`(${pattern})`, 'gi'))
    .map((piece, i): [string, boolean] => [piece, i % 2 === 1])
    .filter(([piece]) => piece !== '');
}
