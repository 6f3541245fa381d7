/** What an answer says about its columns: titles, types and formats. */
import type { Json, Model, ModelElement } from '../model.ts';
import type { QueryMembers } from '../plan/find.ts';
import { typeOfMeasure } from '../plan/measures.ts';
import { definitionOf, findMember, isOpenTo, type MeasureMember, type Member } from '../plan/members.ts';
import type { Viewer } from '../plan/viewer.ts';
import { type ShownGranularity, shownGranularity, titleOf } from './titles.ts';

export interface ShownMember {
  readonly title: string;
  readonly shortTitle: string;
  readonly type: string;
  readonly description?: string;
  readonly format?: string;
  readonly meta?: Json;
  readonly granularity?: ShownGranularity;
}

/** The members that show what is behind the number, as far as the viewer can use them. */
export interface DrillMembers {
  readonly drillMembers?: readonly string[];
  readonly drillMembersGrouped?: {
    readonly measures: readonly string[];
    readonly dimensions: readonly string[];
  };
}

/** The columns, by the names of the members, as the query writes them. */
export interface Annotation {
  readonly measures: { readonly [member: string]: ShownMember & DrillMembers };
  readonly dimensions: { readonly [member: string]: ShownMember };
  readonly timeDimensions: { readonly [member: string]: ShownMember };
  readonly segments: { readonly [member: string]: ShownMember };
}

export function annotationOf(
  model: Model,
  { outputs, times, segments, calculated }: QueryMembers,
  viewer: Viewer,
): Annotation {
  const shown = (member: Member) => showMember(model, member);
  const timeDimensions: Record<string, ShownMember> = {};
  for (const { member, granularity } of times) {
    timeDimensions[member.key] ??= shown(member);
    if (granularity === undefined) continue;
    const custom = member.dimension.granularities.get(granularity);
    timeDimensions[`${member.key}.${granularity}`] = {
      ...shown(member),
      granularity: custom
        ? shownGranularity(custom)
        : {
            name: granularity,
            title: titleOf({ name: granularity, title: undefined }),
            interval: `1 ${granularity}`,
          },
    };
  }
  return {
    measures: Object.fromEntries([
      ...outputs.flatMap(({ key, kind, member }) =>
        kind === 'measure' ? [[key, { ...shown(member), ...drillMembersOf(model, member, viewer) }]] : [],
      ),
      ...calculated.fields.map(({ key, title: given, type, format }) => {
        const title = titleOf({ title: given, name: key });
        return [key, { title, shortTitle: title, type, ...(format === undefined ? {} : { format }) }];
      }),
    ]),
    dimensions: Object.fromEntries(
      outputs.flatMap(({ key, kind, member }) => (kind === 'dimension' ? [[key, shown(member)]] : [])),
    ),
    timeDimensions,
    segments: Object.fromEntries(segments.map((member) => [member.key, shown(member)])),
  };
}

/** In a view, under the names of the view. Undefined if there are none, as clients expect it. */
export function drillMembersOf(model: Model, { key, measure }: MeasureMember, viewer: Viewer): DrillMembers {
  const view = model.views.get(key.split('.')[0]!);
  const found = measure.drillMembers.flatMap(({ cube, member }) => {
    const name = view
      ? [...view.members.values()].find((item) => item.cube === cube && item.member === member)?.name
      : member;
    const owner = view?.name ?? cube;
    const one = name === undefined ? undefined : findMember(model, owner, name, viewer);
    return one && isOpenTo(one.cube, viewer) ? [one] : [];
  });
  if (!found.length) return {};
  const keysOf = (kind: Member['kind']) =>
    found.filter((one) => one.kind === kind).map(({ key: name }) => name);
  return {
    drillMembers: found.map(({ key: name }) => name),
    drillMembersGrouped: { measures: keysOf('measure'), dimensions: keysOf('dimension') },
  };
}

/** What was shown of each model, by the keys of members, since every query asks again for the same few. */
const shownOf = new WeakMap<Model, Map<string, ShownMember>>();

export function showMember(model: Model, member: Member): ShownMember {
  const known = shownOf.get(model) ?? new Map<string, ShownMember>();
  shownOf.set(model, known);
  const shown = known.get(member.key) ?? describeMember(model, member);
  known.set(member.key, shown);
  return shown;
}

/** A member of a view has the words of the view, as far as it has any. */
function describeMember(model: Model, member: Member): ShownMember {
  const [owner, name] = member.key.split('.') as [string, string];
  const view = model.views.get(owner);
  const own = definitionOf(member);
  const said: ModelElement = view?.members.get(name) ?? own;
  const shortTitle = titleOf({ title: said.title ?? (view ? undefined : own.title), name });
  const description = said.description ?? own.description;
  const meta = said.meta ?? own.meta;
  const format = formatOf(member);
  return {
    title: `${titleOf(view ?? member.cube)} ${shortTitle}`,
    shortTitle,
    type: typeOf(model, member),
    ...(description === undefined ? {} : { description }),
    ...(format === undefined ? {} : { format }),
    ...(meta === undefined ? {} : { meta }),
  };
}

function typeOf(model: Model, member: Member): string {
  if (member.kind === 'segment') return 'boolean';
  return member.kind === 'dimension' ? member.dimension.type : typeOfMeasure(model, member.measure);
}

function formatOf(member: Member): string | undefined {
  if (member.kind === 'segment') return undefined;
  return member.kind === 'dimension' ? member.dimension.format : member.measure.format;
}
