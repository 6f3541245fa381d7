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
  measures: Described[];
  dimensions: Described[];
  segments: Described[];
  hierarchies?: { name: string; title: string; levels: string[] }[];
}

interface Described {
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
export type Listed = Omit<Member, 'kind'> & { kind: MemberKind | 'calculated' };

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

const memberOf = (given: Described, kind: MemberKind, source: Source): Member => ({
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

export type Why = 'title' | 'name' | 'description';

export interface Hit {
  member: Member;
  why: Why;
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

export type ListRow =
  | { key: string; kind: 'heading'; text: MemberKind | 'chosen'; count: number }
  | { key: string; kind: 'member'; member: Listed; isChosen: boolean; why?: Why };

/** The rows of the list: what is chosen stands on top, and again at its place. */
export function listRows(
  members: readonly Member[],
  chosen: readonly Listed[],
  text: string,
  closed: ReadonlySet<string>,
): ListRow[] {
  const names = new Set(chosen.map(({ name }) => name));
  const rows: ListRow[] = [];
  if (text.trim()) {
    for (const { member, why } of searchMembers(members, text))
      rows.push({ key: member.name, kind: 'member', member, isChosen: names.has(member.name), why });
    return rows;
  }
  if (chosen.length) {
    rows.push({ key: 'h-chosen', kind: 'heading', text: 'chosen', count: chosen.length });
    for (const member of chosen)
      rows.push({ key: `c-${member.name}`, kind: 'member', member, isChosen: true });
  }
  for (const kind of ORDER) {
    const found = members.filter((member) => member.kind === kind);
    if (!found.length) continue;
    rows.push({ key: `h-${kind}`, kind: 'heading', text: kind, count: found.length });
    if (closed.has(kind)) continue;
    for (const member of found)
      rows.push({ key: member.name, kind: 'member', member, isChosen: names.has(member.name) });
  }
  return rows;
}
