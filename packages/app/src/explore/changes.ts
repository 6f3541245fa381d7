/** What people do to a question. Each function returns a new one. */
import { type Calculated, namesIn, withKey, withoutKeys } from './calculated.ts';
import {
  columnKeys,
  comparison,
  type Direction,
  type FilterNode,
  group,
  hasMember,
  isGroup,
  type Question,
  timeKey,
} from './question.ts';

export type MemberKind = 'measure' | 'dimension' | 'time' | 'segment';

const without = (list: string[], value: string) => list.filter((each) => each !== value);

/** Removes what refers to columns that are gone. */
function tidy(question: Question): Question {
  const keys = new Set(columnKeys(question));
  const calculated = question.calculated.map((field) => withoutKeys(field, keys));
  const order = question.order.filter(([key]) => keys.has(key));
  return { ...question, order, calculated };
}

export function addMember(
  question: Question,
  member: string,
  kind: MemberKind,
  granularity = 'month',
): Question {
  if (hasMember(question, member)) return question;
  const source = question.source ?? member.split('.')[0];
  switch (kind) {
    case 'measure':
      return { ...question, source, measures: [...question.measures, member] };
    case 'time':
      return { ...question, source, times: [...question.times, { dimension: member, granularity }] };
    case 'segment':
      return { ...question, source, segments: [...question.segments, member] };
    default:
      return { ...question, source, dimensions: [...question.dimensions, member] };
  }
}

export const removeMember = (question: Question, member: string): Question =>
  tidy({
    ...question,
    measures: without(question.measures, member),
    dimensions: without(question.dimensions, member),
    times: question.times.filter(({ dimension }) => dimension !== member),
    segments: without(question.segments, member),
  });

export const toggleMember = (
  question: Question,
  member: string,
  kind: MemberKind,
  granularity?: string,
): Question =>
  hasMember(question, member)
    ? removeMember(question, member)
    : addMember(question, member, kind, granularity);

/** The order goes with the column. */
export function setGranularity(question: Question, dimension: string, granularity: string): Question {
  const before = question.times.find((time) => time.dimension === dimension);
  if (!before || before.granularity === granularity) return question;
  const after = { dimension, granularity };
  return {
    ...question,
    calculated: question.calculated.map((field) => withKey(field, timeKey(before), timeKey(after))),
    times: question.times.map((time) => (time === before ? after : time)),
    order: question.order.map(([key, direction]) => [
      key === timeKey(before) ? timeKey(after) : key,
      direction,
    ]),
  };
}

/** Adds a field, or puts it in the place of the one that has its name. */
export const setCalculated = (question: Question, field: Calculated): Question => ({
  ...question,
  source: question.source ?? field.of?.split('.')[0],
  calculated: question.calculated.some(({ name }) => name === field.name)
    ? question.calculated.map((one) => (one.name === field.name ? field : one))
    : [...question.calculated, field],
});

/** With those that are computed from it. */
export function removeCalculated(question: Question, name: string): Question {
  const gone = new Set([name]);
  for (const field of question.calculated)
    if (namesIn(field).some((other) => gone.has(other))) gone.add(field.name);
  return tidy({ ...question, calculated: question.calculated.filter((field) => !gone.has(field.name)) });
}

/** Moves a member among those of its kind. */
export function moveMember(question: Question, member: string, step: number): Question {
  const moved = <T>(list: T[], isIt: (each: T) => boolean): T[] => {
    const from = list.findIndex(isIt);
    const to = from + step;
    if (from < 0 || to < 0 || to >= list.length) return list;
    const copy = [...list];
    const [one] = copy.splice(from, 1);
    copy.splice(to, 0, one!);
    return copy;
  };
  const is = (each: string) => each === member;
  return {
    ...question,
    measures: moved(question.measures, is),
    dimensions: moved(question.dimensions, is),
    times: moved(question.times, ({ dimension }) => dimension === member),
    calculated: moved(question.calculated, ({ name }) => name === member),
  };
}

/** A first click orders one way, a second the other way, and a third not at all. `beside` keeps the other columns. */
export function sortBy(
  question: Question,
  key: string,
  { first, beside }: { first: Direction; beside: boolean },
): Question {
  const known = question.order.find(([each]) => each === key);
  const others = beside ? question.order.filter(([each]) => each !== key) : [];
  const next: Direction | undefined = !known
    ? first
    : known[1] === first
      ? first === 'asc'
        ? 'desc'
        : 'asc'
      : undefined;
  return { ...question, order: next ? [...others, [key, next]] : others };
}

/** Changes the node with the id; `undefined` removes it, and groups that are empty after that. */
export function changeFilter(
  question: Question,
  id: string,
  change: (node: FilterNode) => FilterNode | undefined,
): Question {
  const changed = (nodes: FilterNode[]): FilterNode[] =>
    nodes.flatMap((node) => {
      if (node.id === id) return change(node) ?? [];
      if (!isGroup(node)) return [node];
      const filters = changed(node.filters);
      return filters.length ? [{ ...node, filters }] : [];
    });
  return { ...question, filters: changed(question.filters) };
}

export const addFilter = (question: Question, node: FilterNode, groupId?: string): Question =>
  groupId === undefined
    ? { ...question, filters: [...question.filters, node] }
    : changeFilter(question, groupId, (found) =>
        isGroup(found) ? { ...found, filters: [...found.filters, node] } : found,
      );

/**
 * Puts another filter beside one. In a group of the same kind it stands there; otherwise both become a group in the
 * place of the first, so that groups can be nested to any depth.
 */
export function combine(question: Question, id: string, join: 'and' | 'or', node: FilterNode): Question {
  const combined = (nodes: FilterNode[], around: 'and' | 'or'): FilterNode[] =>
    nodes.flatMap((found) => {
      if (found.id === id) return around === join ? [found, node] : [group(join, [found, node])];
      return isGroup(found) ? [{ ...found, filters: combined(found.filters, found.join) }] : [found];
    });
  return { ...question, filters: combined(question.filters, 'and') };
}

/** Narrows the question down to a row of its answer, and goes on with another member: "explore from here". */
export function exploreFrom(
  question: Question,
  values: [member: string, value: string | null][],
  ranges: [member: string, range: string[]][],
  next: { member: string; kind: MemberKind; granularity?: string } | undefined,
): Question {
  const members = new Set([...values.map(([member]) => member), ...ranges.map(([member]) => member)]);
  const kept = question.filters.filter((node) => isGroup(node) || !members.has(node.member));
  const filters = [
    ...kept,
    ...ranges.map(([member, range]) => comparison(member, 'inDateRange', range)),
    ...values.map(([member, value]) =>
      value === null ? comparison(member, 'notSet') : comparison(member, 'equals', [value]),
    ),
  ];
  const { offset: _, ...others } = question.others;
  const bare = [...members].reduce(removeMember, { ...question, filters, others, visualization: undefined });
  return next ? addMember(bare, next.member, next.kind, next.granularity) : bare;
}
