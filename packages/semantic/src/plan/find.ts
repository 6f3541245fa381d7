/** What the names, granularities and date ranges of a query mean. */
import { UNITS } from '../language/intervals.ts';
import type { Model } from '../model.ts';
import { didYouMean } from '../problems.ts';
import type { Span } from '../times/moments.ts';
import { type Clock, type RangeText, readRange } from '../times/ranges.ts';
import { type Aliases, createAliases } from './aliases.ts';
import { type FoundCalculated, findCalculated } from './calculated/find.ts';
import { queryError } from './errors.ts';
import { type FoundFilters, findFilters, membersOf } from './filters.ts';
import { typeOfMeasure } from './measures.ts';
import {
  createMembers,
  type DimensionMember,
  existsFor,
  type MeasureMember,
  type Members,
  type SegmentMember,
} from './members.ts';
import { type Output, orderOf, plainTimesOf } from './pages.ts';
import { type Hints, knownPath, noJoinPath } from './paths.ts';
import type { NamedMember, Query, TimeDimension } from './query.ts';
import type { Viewer } from './viewer.ts';

export interface QueryMembers {
  readonly members: Members;
  readonly outputs: readonly Output[];
  readonly calculated: FoundCalculated;
  readonly times: readonly FoundTime[];
  readonly segments: readonly SegmentMember[];
  readonly filters: FoundFilters;
  /** The paths of everything but measures. */
  readonly paths: readonly (readonly string[])[];
  readonly hints: Hints | undefined;
}

/** A time dimension with the dates that it is limited to. */
export interface FoundTime {
  readonly member: DimensionMember;
  readonly granularity: string | undefined;
  readonly span: Span | undefined;
}

export function findMembers(model: Model, query: Query, viewer: Viewer, clock: Clock): QueryMembers {
  const members = createMembers(model, viewer);
  const dimensions = once(query.dimensions).map(members.dimension);
  const times = query.timeDimensions.map((item) => findTime(item, members, clock));
  const measures = once(query.measures).map(members.measure);
  const segments = once(query.segments).map(members.segment);
  const filters = findFilters(query.filters, members);
  const aliases = createAliases();
  const outputs = outputsOf(model, { dimensions, times, measures }, aliases);
  const plainTimes = plainTimesOf(outputs);
  const calculated = findCalculated(query.calculated, {
    model,
    members,
    aliases,
    outputs,
    order: (columns) =>
      orderOf(query, columns).map(({ name, descending }) => {
        return { name: plainTimes.find(({ key }) => key === name)?.sameAs ?? name, descending };
      }),
  });
  const hints = query.joinHints.length ? hintsOf(model, query.joinHints, members, viewer) : undefined;
  if (!members.view) refuseHiddenJoins(model, [...members.named.keys()], viewer, hints);
  const located = [
    ...dimensions,
    ...times.map(({ member }) => member),
    ...segments,
    ...filters.onRows.flatMap(membersOf),
  ];
  return {
    members,
    outputs,
    calculated,
    times,
    segments,
    filters,
    paths: located.map(({ path }) => path),
    hints,
  };
}

/** Only what the viewer could query can be hinted at, so that hints tell nothing about what is hidden. */
function hintsOf(model: Model, given: Query['joinHints'], { view }: Members, viewer: Viewer): Hints {
  if (view) {
    const message = `The view \`${view.name}\` has its own join paths. Leave the hints out, or query its cubes.`;
    throw queryError('invalid_query', message, 'joinHints');
  }
  const hints = new Map<string, Set<string>>();
  const add = (from: string, to: string) => hints.set(from, (hints.get(from) ?? new Set()).add(to));
  for (const hint of given) {
    for (const { name, path } of hint) {
      const cube = model.cubes.get(name);
      if (cube?.public && existsFor(viewer, cube)) continue;
      throw queryError('invalid_query', `There is no cube \`${name}\` that this query can use.`, path);
    }
    for (const [i, { name, path }] of hint.entries()) {
      const before = hint[i - 1]?.name;
      if (before === undefined) continue;
      if (!model.cubes.get(before)!.joins.has(name)) {
        const message = `No join leads from \`${before}\` to \`${name}\`. Name each cube on the way.`;
        throw queryError('no_join_path', message, path);
      }
      add(before, name);
      add(name, before);
    }
  }
  return hints;
}

/** Refuses joins through a cube that does not exist for the viewer: the joined rows would tell what it holds. */
function refuseHiddenJoins(model: Model, cubes: readonly string[], viewer: Viewer, hints: Hints | undefined) {
  if (viewer.seesUnguarded) return;
  const exists = (cube: string) => existsFor(viewer, model.cubes.get(cube)!);
  cubes.forEach((from, i) => {
    for (const to of cubes.slice(i + 1)) {
      if (!knownPath(model, from, to, hints).every(exists)) throw noJoinPath(from, to);
    }
  });
}

const once = (names: readonly NamedMember[]) =>
  names.filter(({ name }, i) => names.findIndex((other) => other.name === name) === i);

function findTime(item: TimeDimension, members: Members, clock: Clock): FoundTime {
  const { granularity, dateRange, path } = item;
  const member = members.dimension(item);
  const { type, granularities } = member.dimension;
  const at = path.replace(/\.dimension$/, '');
  if (type !== 'time') {
    throw queryError('invalid_query', `\`${item.name}\` is of type \`${type}\`, and not a time.`, path);
  }
  const known = [...UNITS, ...granularities.keys()] as string[];
  if (granularity !== undefined && !known.includes(granularity)) {
    const message = `\`${item.name}\` has no such granularity.`;
    const hint = didYouMean(granularity.slice(0, 100), known);
    throw queryError('invalid_query', hint ? `${message} ${hint}` : message, `${at}.granularity`);
  }
  return {
    member,
    granularity,
    span: dateRange === undefined ? undefined : spanOf(dateRange, `${at}.dateRange`, clock),
  };
}

function spanOf(range: RangeText, path: string, clock: Clock): Span {
  const span = readRange(range, clock);
  if (span) return span;
  const hint =
    'Give two dates, one date, or words such as `today`, `last 7 days`, `this month` or `from 2 days ago to now`.';
  throw queryError('invalid_query', `This is not a date range. ${hint}`, path);
}

interface OutputMembers {
  readonly dimensions: readonly DimensionMember[];
  readonly times: readonly FoundTime[];
  readonly measures: readonly MeasureMember[];
}

function outputsOf(model: Model, { dimensions, times, measures }: OutputMembers, aliases: Aliases): Output[] {
  const outputs = new Map<string, Output>();
  for (const member of dimensions) {
    const { key } = member;
    const column = aliases.next(key);
    outputs.set(key, {
      column,
      key,
      type: member.dimension.type,
      kind: 'dimension',
      member,
      granularity: undefined,
    });
  }
  for (const { member, granularity } of times) {
    const key = `${member.key}.${granularity}`;
    if (granularity === undefined || outputs.has(key)) continue;
    outputs.set(key, {
      column: aliases.next(key),
      key,
      type: 'time',
      kind: 'timeDimension',
      member,
      granularity,
    });
  }
  for (const member of measures) {
    const { key, measure } = member;
    const type = typeOfMeasure(model, measure);
    outputs.set(key, {
      column: aliases.next(key),
      key,
      type,
      kind: 'measure',
      member,
      granularity: undefined,
    });
  }
  return [...outputs.values()];
}
