/** The filters of a query: on rows, and on measures of the result. */
import type { Clock } from '../times/ranges.ts';
import { type ComparedMember, compare } from './comparisons.ts';
import { queryError } from './errors.ts';
import type { Member, Members } from './members.ts';
import { type Comparison, type Filter, MEASURE_FILTER } from './query.ts';
import { allOf, anyOf, type Condition } from './sql.ts';

/** A filter whose members were found. */
export type FoundFilter =
  | { readonly and: readonly FoundFilter[] }
  | { readonly or: readonly FoundFilter[] }
  | { readonly comparison: Comparison; readonly member: Exclude<Member, { kind: 'segment' }> };

export interface FoundFilters {
  readonly onRows: readonly FoundFilter[];
  readonly onMeasures: readonly FoundFilter[];
}

/** Every filter of the list must hold, so each can be applied where it belongs. */
export function findFilters(filters: readonly Filter[], members: Members): FoundFilters {
  const onRows: FoundFilter[] = [];
  const onMeasures: FoundFilter[] = [];
  const place = (filter: Filter) => {
    const found = findFilter(filter, members);
    const kinds = kindsOf(found);
    if (kinds.size < 2) (kinds.has('measure') ? onMeasures : onRows).push(found);
    else if ('and' in filter) filter.and.forEach(place);
    else {
      const message = 'Dimensions and measures cannot stand in the same `or`.';
      throw queryError('invalid_query', message, (filter as { path: string }).path);
    }
  };
  filters.forEach(place);
  return { onRows, onMeasures };
}

function findFilter(filter: Filter, members: Members): FoundFilter {
  if ('and' in filter) return { and: filter.and.map((part) => findFilter(part, members)) };
  if ('or' in filter) return { or: filter.or.map((part) => findFilter(part, members)) };
  const member = members.find({ name: filter.name, path: `${filter.path}.member` });
  if (member.kind === 'segment') {
    throw queryError(
      'invalid_query',
      `\`${filter.name}\` is a segment. Name it in \`segments\`.`,
      `${filter.path}.member`,
    );
  }
  return { comparison: filter, member };
}

/** Whether the filter chooses rows although it names a measure. */
const isOfRows = ({ comparison }: Extract<FoundFilter, { member: unknown }>) =>
  comparison.operator === MEASURE_FILTER;

function kindsOf(filter: FoundFilter, kinds = new Set<string>()): Set<string> {
  if ('member' in filter) kinds.add(isOfRows(filter) ? 'dimension' : filter.member.kind);
  else for (const part of 'and' in filter ? filter.and : filter.or) kindsOf(part, kinds);
  return kinds;
}

/** How much work a filter is: one piece for each comparison and for every five values. */
export function piecesOf(filter: Filter | FoundFilter): number {
  if ('and' in filter) return sumOf(filter.and);
  if ('or' in filter) return sumOf(filter.or);
  const { values } = 'comparison' in filter ? filter.comparison : filter;
  return 1 + Math.floor(values.length / 5);
}

const sumOf = (filters: readonly (Filter | FoundFilter)[]) =>
  filters.reduce((sum, filter) => sum + piecesOf(filter), 0);

/** The members of all comparisons. */
export const membersOf = (filter: FoundFilter): readonly Member[] =>
  'member' in filter ? [filter.member] : ('and' in filter ? filter.and : filter.or).flatMap(membersOf);

export function filterCondition(
  filter: FoundFilter,
  clock: Clock,
  comparedOf: (member: Extract<FoundFilter, { member: unknown }>['member']) => ComparedMember | Condition,
): Condition {
  if ('and' in filter) return allOf(filter.and.map((part) => filterCondition(part, clock, comparedOf)));
  if ('or' in filter) return anyOf(filter.or.map((part) => filterCondition(part, clock, comparedOf)));
  const { comparison, member } = filter;
  const { name, operator, values, path } = comparison;
  const compared = comparedOf(member);
  // The condition of a measure filter, which compares nothing.
  if (typeof compared === 'boolean' || !('type' in compared)) return compared;
  if (operator === MEASURE_FILTER) throw notAMeasure(name, path);
  const condition = compare(compared, operator, values, { clock, keepsNulls: true });
  if (condition) return condition;
  const message = `\`${operator}\` with these values does not fit \`${name}\`, which is of type \`${compared.type}\`.`;
  throw queryError('invalid_query', message, path);
}

const notAMeasure = (name: string, path: string) =>
  queryError('invalid_query', `\`${MEASURE_FILTER}\` names a measure, and \`${name}\` is none.`, path);
