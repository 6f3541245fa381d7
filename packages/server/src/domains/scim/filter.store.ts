/** Turns filters and sort orders into SQL. */

import { join, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { isDateTime } from '../../platform/http/date-time.ts';
import {
  type AttributePath,
  attributePath,
  type Comparison,
  type Filter,
  type FilterValue,
} from './filter.ts';

/** The value of an attribute in SQL, and how it is compared. */
export type Attribute =
  /** `key` makes texts equal that count as equal: those that differ only in case, unless the attribute has case. */
  | { kind: 'text'; value: Sql; key: (text: string | Sql) => Sql }
  | { kind: 'id'; value: Sql }
  | { kind: 'boolean'; value: Sql }
  | { kind: 'time'; value: Sql }
  /** Has parts, and is only tested for presence. */
  | { kind: 'complex'; value: Sql };

export interface FilterableResource {
  urn: string;
  /** By their paths in lower case, such as `name.familyname`. */
  attributes: Readonly<Record<string, Attribute>>;
  lists: Readonly<Record<string, FilterableList>>;
  /** Attributes of the schema that we do not keep: nobody has a value. */
  unkept: readonly string[];
}

export interface FilterableList {
  /** A comparison with the list itself compares `value`. */
  element: Readonly<Record<string, Attribute>> & { value: Attribute };
  /** True if the condition holds for one of the elements. */
  some: (condition: Sql) => Sql;
}

export const caseless = (value: Sql): Attribute => ({
  kind: 'text',
  value,
  key: (text) => sql`lower(${text})`,
});
export const withCase = (value: Sql): Attribute => ({
  kind: 'text',
  value,
  key: (text) => sql`${text}::text`,
});

const fail = (message: string) => new ApiError('scim_invalid_filter', { message });

type Find = (path: AttributePath) => FoundAttribute;
type FoundAttribute = { attribute: Attribute; some?: FilterableList['some'] } | 'unkept';

export const conditionOf = (filter: Filter, resource: FilterableResource): Sql =>
  toSql(filter, resource, (path) => findAttribute(resource, path));

function toSql(filter: Filter, resource: FilterableResource, find: Find): Sql {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map((each) => toSql(each, resource, find));
      return sql`(${join(parts, ` ${filter.op} `)})`;
    }
    // A comparison with an attribute that has no value is null in SQL, and false in SCIM.
    case 'not':
      return sql`not coalesce(${toSql(filter.filter, resource, find)}, false)`;
    case 'some':
      return someElement(filter.path, filter.filter, resource);
    default:
      return comparison(filter, find(filter.path));
  }
}

function someElement(path: AttributePath, filter: Filter, resource: FilterableResource): Sql {
  if (isUnkept(path, resource)) return sql`false`;
  const list = own(resource.lists, path.name);
  if (!list || path.sub !== null) throw fail(`\`${shown(path)}\` is not a list.`);
  return list.some(toSql(filter, resource, (inner) => ({ attribute: elementAttribute(list, inner) })));
}

function elementAttribute(list: FilterableList, path: AttributePath): Attribute {
  const attribute = path.sub === null ? own(list.element, path.name) : undefined;
  if (!attribute) throw fail(`An element of the list has no attribute \`${shown(path)}\`.`);
  return attribute;
}

const isUnkept = ({ urn, name }: AttributePath, resource: FilterableResource) =>
  urn !== null && urn !== resource.urn.toLowerCase() ? true : resource.unkept.includes(name);

function findAttribute(resource: FilterableResource, path: AttributePath): FoundAttribute {
  if (isUnkept(path, resource)) return 'unkept';
  const plain = own(resource.attributes, shown(path));
  if (plain) return { attribute: plain };
  const list = own(resource.lists, path.name);
  if (!list) throw fail(`There is no attribute \`${shown(path)}\`.`);
  const attribute = elementAttribute(list, { urn: null, name: path.sub ?? 'value', sub: null });
  return { attribute, some: list.some };
}

/** The names come from callers, and every object has some properties that are not its own. */
const own = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

const shown = ({ name, sub }: AttributePath) => (sub === null ? name : `${name}.${sub}`);

type ComparisonFilter = Extract<Filter, { path: AttributePath }> & { op: Comparison | 'pr' };

function comparison(filter: ComparisonFilter, found: FoundAttribute): Sql {
  if (found === 'unkept') return isTrueWithoutValue(filter) ? sql`true` : sql`false`;
  const { attribute, some = (condition: Sql) => condition } = found;
  const isPresent = some(sql`${attribute.value} is not null`);
  if (filter.op === 'pr') return isPresent;
  if (filter.value === null) {
    if (filter.op === 'eq') return sql`not ${isPresent}`;
    if (filter.op === 'ne') return isPresent;
    throw fail('Only eq and ne compare with null.');
  }
  return some(compare(attribute, filter.op, filter.value));
}

const isTrueWithoutValue = (filter: ComparisonFilter) =>
  filter.op === 'ne' ? filter.value !== null : filter.op === 'eq' && filter.value === null;

type Value = Exclude<FilterValue, null>;

function compare(attribute: Attribute, op: Comparison, value: Value): Sql {
  switch (attribute.kind) {
    case 'text':
      return compareText(attribute, op, literalText(value));
    case 'id':
      return compareId(attribute, op, literalText(value));
    case 'boolean':
      if (op !== 'eq' && op !== 'ne') throw fail('Only eq and ne compare true and false.');
      return sql`${attribute.value} ${SIGNS[op]} ${booleanOf(value)}`;
    case 'time':
      if (typeof value !== 'string' || !isDateTime(value)) throw fail(`\`${value}\` is not a date and time.`);
      if (!isOrder(op)) throw fail(`Dates cannot be compared with ${op}.`);
      // Replies show milliseconds.
      return sql`date_trunc('milliseconds', ${attribute.value}) ${SIGNS[op]} ${value}::timestamptz`;
    case 'complex':
      throw fail('An attribute with parts can only be tested with pr.');
  }
}

const SIGNS = {
  eq: raw('='),
  ne: raw('is distinct from'),
  gt: raw('>'),
  ge: raw('>='),
  lt: raw('<'),
  le: raw('<='),
};
const isOrder = (op: Comparison): op is keyof typeof SIGNS => op in SIGNS;

function literalText(value: Value): string {
  if (typeof value === 'boolean') throw fail('A text cannot be compared with true or false.');
  return String(value);
}

function booleanOf(value: Value): boolean {
  const text = String(value).toLowerCase();
  if (text !== 'true' && text !== 'false') throw fail(`\`${value}\` is not true or false.`);
  return text === 'true';
}

/** Functions instead of `like`, because a text may hold signs of patterns. */
function compareText(
  { value, key }: Extract<Attribute, { kind: 'text' }>,
  op: Comparison,
  text: string,
): Sql {
  const [held, wanted] = [key(value), key(text)];
  switch (op) {
    case 'eq':
    case 'ne':
      return sql`${held} ${SIGNS[op]} ${wanted}`;
    case 'co':
      return sql`strpos(${held}, ${wanted}) > 0`;
    case 'sw':
      return sql`starts_with(${held}, ${wanted})`;
    case 'ew':
      return sql`right(${held}, length(${wanted})) = ${wanted}`;
    default:
      return sql`${held} collate "C" ${SIGNS[op]} ${wanted} collate "C"`;
  }
}

/** An id is a number that SCIM shows as text. */
function compareId({ value }: { value: Sql }, op: Comparison, text: string): Sql {
  if (op !== 'eq' && op !== 'ne')
    return compareText({ kind: 'text', value: sql`${value}::text`, key: asIs }, op, text);
  const id = idOf(text);
  if (id === undefined) return op === 'eq' ? sql`false` : sql`true`;
  return sql`${value} ${SIGNS[op]} ${id}`;
}

const asIs = (text: string | Sql) => sql`${text}::text`;

/** Returns the id that a text of SCIM stands for, or nothing if it cannot be an id. */
export const idOf = (text: string): number | undefined =>
  /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;

/** Attributes without a value come last, or first in descending order. Ties are ordered by id. */
export function orderOf(
  sortBy: string | undefined,
  descending: boolean,
  resource: FilterableResource,
  id: Sql,
): Sql {
  const direction = raw(descending ? 'desc' : 'asc');
  const path = sortBy === undefined ? undefined : attributePath(sortBy);
  if (sortBy !== undefined && !path) throw invalid('sortBy', 'must be an attribute');
  const found = path && findAttribute(resource, path);
  if (found && found !== 'unkept' && (found.some || found.attribute.kind === 'complex')) {
    throw invalid('sortBy', 'must be an attribute without parts');
  }
  if (!found || found === 'unkept' || found.attribute.kind === 'id') return sql`${id} ${direction}`;
  const { attribute } = found;
  if (attribute.kind !== 'text') return sql`${attribute.value} ${direction}, ${id}`;
  return sql`${attribute.key(attribute.value)} collate "C" ${direction}, ${id}`;
}
