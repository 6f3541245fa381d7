/** From JSON to a query: form, types and limits. What is wrong is said with its place in the query. */
import { OPERATORS } from '../language/policies.ts';
import type { Operator } from '../model.ts';
import { didYouMean } from '../problems.ts';
import type { RangeText } from '../times/ranges.ts';
import { readCalculated } from './calculated/read.ts';
import { QueryError } from './errors.ts';
import {
  type Comparison,
  type Filter,
  type FilterValue,
  MEASURE_FILTER,
  type NamedMember,
  type Order,
  QUERY_LIMITS,
  type Query,
  type TimeDimension,
} from './query.ts';
import {
  bounded,
  ISSUES_MAX,
  isGiven,
  isObject,
  list,
  namedMember,
  type ReadContext,
  refuse,
  refuseUnknown,
  text,
  truth,
  wholeNumber,
} from './reading.ts';

const KEYS = [
  'measures',
  'dimensions',
  'timeDimensions',
  'segments',
  'filters',
  'order',
  'limit',
  'rowLimit',
  'offset',
  'timezone',
  'total',
  'ungrouped',
  'renewQuery',
  'responseFormat',
  'joinHints',
  'calculated',
];
const TIME_KEYS = ['dimension', 'granularity', 'dateRange', 'compareDateRange'];
const FILTER_KEYS = ['member', 'dimension', 'operator', 'values'];
const FORMATS = ['default', 'compact'];
/** The name that some clients have for one day. */
const ON_THE_DATE = 'onTheDate';

const CUBE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

const MEMBER_AND_GRANULARITY = /^([A-Za-z_]\w{0,127}\.[A-Za-z_]\w{0,127})\.([A-Za-z_]\w{0,127})$/;

export function readQuery(json: unknown): Query {
  const reading: ReadContext = { issues: [], filters: 0, values: 0 };
  const query = isObject(json) ? read(json, reading) : undefined;
  if (!query) refuse(reading, '', 'A query is an object.');
  if (!query || reading.issues.length)
    throw new QueryError('invalid_query', reading.issues.slice(0, ISSUES_MAX));
  return query;
}

function read(json: Record<string, unknown>, reading: ReadContext): Query {
  refuseUnknown(json, KEYS, '', reading);
  const names = (key: string) => list(json[key], key, reading, namedMember);
  const dimensions: NamedMember[] = [];
  const timeDimensions = list(json.timeDimensions, 'timeDimensions', reading, timeDimension);
  for (const item of list(json.dimensions, 'dimensions', reading, text)) {
    const split = MEMBER_AND_GRANULARITY.exec(item.name);
    if (split) {
      const more = { dateRange: undefined, compareDateRange: undefined };
      timeDimensions.push({ name: split[1]!, path: item.path, granularity: split[2], ...more });
    } else dimensions.push(namedMember(item.name, item.path, reading));
  }
  const query: Query = {
    measures: names('measures'),
    dimensions,
    timeDimensions,
    segments: names('segments'),
    calculated: readCalculated(json.calculated, reading),
    filters: list(json.filters, 'filters', reading, (item, path) => filter(item, path, 1, reading)),
    order: isGiven(json.order) ? order(json.order, reading) : undefined,
    // Clients know it by both names.
    limit: wholeNumber(json.limit, 'limit', reading) ?? wholeNumber(json.rowLimit, 'rowLimit', reading),
    offset: wholeNumber(json.offset, 'offset', reading) ?? 0,
    timezone: isGiven(json.timezone) ? text(json.timezone, 'timezone', reading).name : 'UTC',
    total: truth(json.total, 'total', reading),
    ungrouped: truth(json.ungrouped, 'ungrouped', reading),
    isRenewed: truth(json.renewQuery, 'renewQuery', reading),
    isCompact: json.responseFormat === 'compact',
    joinHints: list(json.joinHints, 'joinHints', reading, joinHint),
  };
  if (isGiven(json.limit) && isGiven(json.rowLimit))
    refuse(reading, 'rowLimit', 'Give `limit` or `rowLimit`, which mean the same, and not both.');
  const { responseFormat } = json;
  if (isGiven(responseFormat) && !FORMATS.includes(responseFormat as string)) {
    refuse(reading, 'responseFormat', 'Rows come as `default`, objects, or as `compact`, lists of values.');
  }
  if (query.joinHints.flat().length > QUERY_LIMITS.hinted)
    refuse(reading, 'joinHints', `A query names at most ${QUERY_LIMITS.hinted} cubes to join.`);
  const members =
    query.measures.length + query.dimensions.length + query.timeDimensions.length + query.segments.length;
  if (members > QUERY_LIMITS.members)
    refuse(reading, '', `A query names at most ${QUERY_LIMITS.members} members.`);
  if (reading.filters > QUERY_LIMITS.filters) {
    refuse(reading, 'filters', `A query has at most ${QUERY_LIMITS.filters} filters.`);
  }
  if (reading.values > QUERY_LIMITS.values) {
    refuse(reading, 'filters', `The filters of a query have at most ${QUERY_LIMITS.values} values.`);
  }
  if (
    !query.measures.length &&
    !query.calculated.length &&
    !query.dimensions.length &&
    !query.timeDimensions.some((item) => item.granularity)
  ) {
    refuse(
      reading,
      '',
      'A query needs a measure, a dimension, a calculated field, or a time dimension with a granularity.',
    );
  }
  return query;
}

function joinHint(json: unknown, path: string, reading: ReadContext): NamedMember[] {
  const cubes = list(json, path, reading, (item, at): NamedMember => {
    if (typeof item === 'string' && CUBE.test(item)) return { name: item, path: at };
    refuse(reading, at, 'This must be the name of a cube.');
    return { name: '', path: at };
  });
  if (cubes.length < 2) refuse(reading, path, 'Give two or more cubes, each joined to the next.');
  return cubes;
}

function timeDimension(item: unknown, path: string, reading: ReadContext): TimeDimension {
  const json = isObject(item) ? item : {};
  if (!isObject(item)) refuse(reading, path, 'This must be an object with `dimension`.');
  refuseUnknown(json, TIME_KEYS, path, reading);
  const { granularity, dateRange, compareDateRange } = json;
  if (isGiven(granularity) && typeof granularity !== 'string')
    refuse(reading, `${path}.granularity`, 'This must be a text.');
  if (isGiven(dateRange) && isGiven(compareDateRange)) {
    refuse(reading, path, 'Give `dateRange` or `compareDateRange`, and not both.');
  }
  return {
    ...namedMember(json.dimension, `${path}.dimension`, reading),
    granularity: typeof granularity === 'string' ? granularity : undefined,
    dateRange: isGiven(dateRange) ? range(dateRange, `${path}.dateRange`, reading) : undefined,
    compareDateRange: isGiven(compareDateRange)
      ? comparedRanges(compareDateRange, `${path}.compareDateRange`, reading)
      : undefined,
  };
}

function comparedRanges(json: unknown, path: string, reading: ReadContext): RangeText[] {
  const ranges = list(json, path, reading, range);
  if (ranges.length < 2 || ranges.length > QUERY_LIMITS.comparedRanges) {
    refuse(reading, path, `Give 2 to ${QUERY_LIMITS.comparedRanges} ranges.`);
  }
  return ranges;
}

function range(json: unknown, path: string, reading: ReadContext): RangeText {
  if (typeof json === 'string') return bounded(json, path, reading);
  const texts = list(json, path, reading, (item, at) => text(item, at, reading).name);
  if (texts.length < 1 || texts.length > 2) {
    refuse(reading, path, 'This must be two dates, one date, or a text such as `last 7 days`.');
  }
  return texts;
}

function filter(json: unknown, path: string, depth: number, reading: ReadContext): Filter {
  const nothing: Comparison = { name: '', path, operator: 'set', values: [] };
  if (!isObject(json)) {
    refuse(reading, path, 'This must be a filter: an object with `member` and `operator`, `and` or `or`.');
    return nothing;
  }
  const group = Object.hasOwn(json, 'and') ? 'and' : Object.hasOwn(json, 'or') ? 'or' : undefined;
  if (group === undefined) return comparison(json, path, reading);
  const others = [...FILTER_KEYS, 'and', 'or'].filter((key) => key !== group && Object.hasOwn(json, key));
  if (others.length) {
    const message = `A filter with \`${group}\` has nothing beside it. Put this into a filter of its own, beside it or in its list.`;
    refuse(reading, `${path}.${others[0]}`, message);
  }
  refuseUnknown(json, [group, ...others], path, reading);
  if (depth > QUERY_LIMITS.depth) {
    refuse(reading, path, `Filters are nested at most ${QUERY_LIMITS.depth} deep.`);
    return nothing;
  }
  const parts = list(json[group], `${path}.${group}`, reading, (item, at) =>
    filter(item, at, depth + 1, reading),
  );
  if (!parts.length) refuse(reading, `${path}.${group}`, 'This cannot be empty.');
  return group === 'and' ? { and: parts, path } : { or: parts, path };
}

function comparison(json: Record<string, unknown>, path: string, reading: ReadContext): Comparison {
  reading.filters++;
  refuseUnknown(json, FILTER_KEYS, path, reading);
  const member = namedMember(json.member ?? json.dimension, `${path}.member`, reading);
  if (json.operator === MEASURE_FILTER) return { ...member, path, operator: MEASURE_FILTER, values: [] };
  const isOneDay = json.operator === ON_THE_DATE;
  const operator = isOneDay ? 'inDateRange' : (json.operator as Operator);
  if (typeof operator !== 'string' || !Object.hasOwn(OPERATORS, operator)) {
    const hint = typeof operator === 'string' ? didYouMean(operator, Object.keys(OPERATORS)) : undefined;
    refuse(reading, `${path}.operator`, ['There is no such operator.', hint].filter(Boolean).join(' '));
    return { ...member, path, operator: 'set', values: [] };
  }
  const values = list(json.values ?? [], `${path}.values`, reading, filterValue);
  reading.values += values.length;
  const [least, most] = isOneDay ? [1, 1] : OPERATORS[operator];
  if (values.length < least || (values.length > most && most > 0)) {
    const count = most === least ? 'one value' : most === 2 ? 'one or two values' : 'one or more values';
    refuse(reading, `${path}.values`, `\`${json.operator}\` takes ${count}.`);
  }
  return { ...member, path, operator, values };
}

function filterValue(json: unknown, path: string, reading: ReadContext): FilterValue {
  if (typeof json === 'string') return bounded(json, path, reading);
  if (json === null || typeof json === 'boolean') return json;
  if (typeof json === 'number' && Number.isFinite(json)) {
    if (Number.isInteger(json) && !Number.isSafeInteger(json)) {
      refuse(reading, path, 'This number is too large to be exact. Send it as a text.');
    }
    return json;
  }
  refuse(reading, path, 'This must be a text, a number, `true`, `false` or `null`.');
  return null;
}

function order(json: unknown, reading: ReadContext): Order[] {
  const one = (member: unknown, direction: unknown, path: string): Order => {
    if (direction !== 'asc' && direction !== 'desc')
      refuse(reading, path, 'The direction is `asc` or `desc`.');
    return { ...text(member, path, reading), descending: direction === 'desc' };
  };
  if (isObject(json)) {
    return Object.entries(json).map(([member, direction]) =>
      one(member, direction, `order.${member.slice(0, 200)}`),
    );
  }
  return list(json, 'order', reading, (item, path) => {
    if (Array.isArray(item) && item.length === 2) return one(item[0], item[1], path);
    if (isObject(item) && 'id' in item) return one(item.id, item.desc === true ? 'desc' : 'asc', path);
    refuse(reading, path, 'This must be a member and a direction: `["orders.count", "desc"]`.');
    return { name: '', path, descending: false };
  });
}
