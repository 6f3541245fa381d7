/** A question as SQL over the model: a SELECT that reads a view as a table. Undefined for what such SQL cannot say. */
import type { JsonFilter, JsonQuery } from './question.ts';

const PLAIN = /^[a-z_][a-z0-9_]*$/;
/** Words that could be read as something else. */
const WORDS = new Set(
  'all and any as asc by case count date day desc else end from group having in interval is join like limit month not null offset on or order select then time timestamp to type user using value values view when where with year'.split(
    ' ',
  ),
);

const named = (name: string) =>
  PLAIN.test(name) && !WORDS.has(name) ? name : `"${name.replaceAll('"', '""')}"`;
const text = (value: unknown) =>
  typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : `'${String(value).replaceAll("'", "''")}'`;
const like = (value: unknown, before: string, after: string) =>
  text(`${before}${String(value).replaceAll(/[\\%_]/g, '\\$&')}${after}`);

const COMPARED: Record<string, string> = {
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  beforeDate: '<',
  afterOrOnDate: '>=',
};

/** Thrown for what has no words in this SQL, such as a relative range of time. */
class NotExpressibleError extends Error {}
const unsayable = (): never => {
  throw new NotExpressibleError();
};

/** What the model says about a member. */
type Describe = (member: string) => { kind: string; type: string } | undefined;

export function semanticSql(query: JsonQuery, describe: Describe): string | undefined {
  try {
    return write(query, describe);
  } catch (error) {
    if (error instanceof NotExpressibleError) return undefined;
    throw error;
  }
}

function write(query: JsonQuery, describe: Describe): string {
  const { measures = [], dimensions = [], timeDimensions = [], filters = [], limit } = query;
  const { offset, ungrouped, joinHints } = query;
  if (query.calculated?.length || query.segments?.length || query.timezone) unsayable();
  if (offset || ungrouped || joinHints) unsayable();
  const views = new Set<string>();
  const column = (member: string) => {
    const [view, name, more] = member.split('.');
    if (!view || !name || more !== undefined) return unsayable();
    views.add(view);
    return named(name);
  };
  const isMeasure = (member: string) => measures.includes(member) || describe(member)?.kind === 'measure';
  const value = (member: string) => (isMeasure(member) ? `measure(${column(member)})` : column(member));
  const columns = new Map<string, string>();
  for (const { dimension, granularity } of timeDimensions)
    if (granularity)
      columns.set(`${dimension}.${granularity}`, `date_trunc(${text(granularity)}, ${column(dimension)})`);
  for (const member of dimensions) columns.set(member, column(member));
  const groups = columns.size;
  for (const member of measures) columns.set(member, value(member));
  const literal = (member: string, given: unknown) =>
    (isMeasure(member) || describe(member)?.type === 'number') && Number.isFinite(Number(given))
      ? String(Number(given))
      : text(given);

  const where: string[] = [];
  const having: string[] = [];
  for (const { dimension, dateRange } of timeDimensions) {
    if (dateRange === undefined) continue;
    if (!Array.isArray(dateRange) || dateRange.length !== 2) return unsayable();
    where.push(between(column(dimension), dateRange as [string, string]));
  }
  const filterText = (filter: JsonFilter, of: Set<'measure' | 'row'>): string => {
    if ('and' in filter) return `(${filter.and.map((one) => filterText(one, of)).join(' and ')})`;
    if ('or' in filter) return `(${filter.or.map((one) => filterText(one, of)).join(' or ')})`;
    const { member, operator, values = [] } = filter;
    of.add(isMeasure(member) ? 'measure' : 'row');
    const left = value(member);
    const [first] = values;
    const list = values.map((one) => literal(member, one)).join(', ');
    const each = (join: string, not: string, before: string, after: string) =>
      `(${values.map((one) => `${left} ${not}ilike ${like(one, before, after)}`).join(` ${join} `)})`;
    switch (operator) {
      case 'set':
        return `${left} is not null`;
      case 'notSet':
        return `${left} is null`;
      case 'equals':
        return values.includes(null)
          ? unsayable()
          : values.length > 1
            ? `${left} in (${list})`
            : `${left} = ${list}`;
      case 'notEquals':
        return values.includes(null)
          ? unsayable()
          : `(${left} is null or ${left} ${values.length > 1 ? `not in (${list})` : `<> ${list}`})`;
      case 'contains':
        return each('or', '', '%', '%');
      case 'startsWith':
        return each('or', '', '', '%');
      case 'endsWith':
        return each('or', '', '%', '');
      case 'inDateRange':
        return values.length === 2 ? between(left, values.map(String) as [string, string]) : unsayable();
      default: {
        const sign = COMPARED[operator];
        return sign && values.length === 1 ? `${left} ${sign} ${literal(member, first)}` : unsayable();
      }
    }
  };
  for (const filter of filters) {
    const of = new Set<'measure' | 'row'>();
    const said = filterText(filter, of);
    if (of.size > 1) return unsayable();
    (of.has('measure') ? having : where).push(said);
  }
  if (views.size !== 1 || columns.size === 0) return unsayable();
  const names = [...columns.keys()];
  const order = (Array.isArray(query.order) ? query.order : []).map(([key, direction]) => {
    const at = names.indexOf(key);
    return at < 0 ? unsayable() : `${at + 1} ${direction}`;
  });
  const numbersUpTo = Array.from({ length: groups }, (_, i) => i + 1);
  return [
    `select ${[...columns.values()].join(',\n  ')}`,
    `from ${named([...views][0]!)}`,
    ...(where.length ? [`where ${where.join('\n  and ')}`] : []),
    ...(groups ? [`group by ${numbersUpTo.join(', ')}`] : []),
    ...(having.length ? [`having ${having.join('\n  and ')}`] : []),
    ...(order.length ? [`order by ${order.join(', ')}`] : []),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ].join('\n');
}

/** A day as an end takes in all of it. */
function between(left: string, [from, to]: [string, string]): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(from) || !/^\d{4}-\d\d-\d\d$/.test(to)) return unsayable();
  const after = new Date(`${to}T00:00:00Z`);
  after.setUTCDate(after.getUTCDate() + 1);
  return `${left} >= ${text(from)} and ${left} < ${text(after.toISOString().slice(0, 10))}`;
}
