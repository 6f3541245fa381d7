/** Random queries for a world. */
import type { Random } from '../random.ts';
import { makeFields, type TestField } from './calculated.ts';
import { type Cube, type Type, VIEW, type World } from './world.ts';

export type FilterNode =
  | {
      readonly member: string;
      readonly operator: string;
      readonly values?: readonly (string | number | boolean | null)[];
    }
  | { readonly and: readonly FilterNode[] }
  | { readonly or: readonly FilterNode[] };

export interface TestQuery {
  measures: string[];
  dimensions: string[];
  timeDimensions: { dimension: string; granularity?: string; dateRange?: [string, string] }[];
  filters: FilterNode[];
  segments: string[];
  order?: [string, 'asc' | 'desc'][];
  limit?: number;
  offset?: number;
  timezone: string;
  ungrouped?: boolean;
  total: boolean;
  calculated?: TestField[];
}

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'];
export const GRANULARITIES = ['hour', 'day', 'week', 'month', 'quarter', 'year'];

export function makeQuery({ cubes }: World, random: Random): TestQuery {
  const all = [...cubes.values()];
  const members = (of: (cube: Cube) => Iterable<string>, from = all) =>
    from.flatMap((cube) => [...of(cube)].map((name) => `${cube.name}.${name}`));
  const dimensions = members((cube) => cube.dimensions.keys());
  const measures = members((cube) => cube.measures.keys());
  const times = members((cube) =>
    [...cube.dimensions].filter(([, { type }]) => type === 'time').map(([name]) => name),
  );
  const query: TestQuery = {
    measures: random.some(measures, 3),
    dimensions: random.some(dimensions, 2),
    timeDimensions: [],
    filters: [],
    segments: random.chance(0.15) ? [`${random.pick(all).name}.yes`] : [],
    timezone: random.pick(ZONES),
    total: random.chance(0.2),
  };
  if (random.chance(0.4)) {
    query.timeDimensions.push({
      dimension: random.pick(times),
      ...(random.chance(0.8) ? { granularity: random.pick(GRANULARITIES) } : {}),
      ...(random.chance(0.5)
        ? {
            dateRange: random.pick<[string, string]>([
              ['2024-03-01', '2024-03-31'],
              ['2024-10-27', '2024-12-31'],
            ]),
          }
        : {}),
    });
  }
  if (
    !query.measures.length &&
    !query.timeDimensions.some(({ granularity }) => granularity) &&
    !query.dimensions.length
  ) {
    query.dimensions.push(random.pick(dimensions));
  }
  for (let i = random.below(3); i > 0; i--) query.filters.push(rowFilter(cubes, dimensions, random, 0));
  const ungrouped = random.chance(0.15);
  if (!ungrouped && random.chance(0.2) && query.measures.length) {
    query.filters.push({
      member: random.pick(query.measures),
      operator: random.pick(['gt', 'lte', 'set', 'notSet', 'equals']),
      values: [1],
    });
  }
  if (ungrouped) query.ungrouped = true;
  else {
    if (random.chance(0.5)) {
      const keys = [
        ...query.dimensions,
        ...query.timeDimensions.flatMap(({ dimension, granularity }) =>
          granularity === undefined ? [] : [`${dimension}.${granularity}`],
        ),
      ];
      query.calculated = makeFields(measures, [...cubes.keys()], keys, random);
    }
    addPage(query, random);
  }
  if (query.ungrouped) query.measures = query.measures.filter((name) => !/\.(ratio|own)$/.test(name));
  if (query.ungrouped && !query.measures.length && !query.dimensions.length)
    query.dimensions.push(random.pick(dimensions));
  return query;
}

/** The same query, for the view of everything. */
export const throughView = (query: TestQuery): TestQuery =>
  JSON.parse(JSON.stringify(query).replace(/\b(orders|customers|tickets|regions)\.(\w+)/g, `${VIEW}.$1_$2`));

function addPage(query: TestQuery, random: Random) {
  const ordered = [
    ...query.dimensions,
    ...query.measures,
    ...(query.calculated ?? []).map(({ name }) => name),
  ];
  if (random.chance(0.4) && ordered.length)
    query.order = [[random.pick(ordered), random.pick(['asc', 'desc'] as const)]];
  if (random.chance(0.2)) query.limit = random.below(4);
  if (random.chance(0.2)) query.offset = random.below(3);
}

function rowFilter(
  cubes: World['cubes'],
  dimensions: readonly string[],
  random: Random,
  depth: number,
): FilterNode {
  if (depth < 2 && random.chance(0.3)) {
    const parts = [
      rowFilter(cubes, dimensions, random, depth + 1),
      rowFilter(cubes, dimensions, random, depth + 1),
    ];
    return random.chance(0.5) ? { and: parts } : { or: parts };
  }
  const member = random.pick(dimensions);
  const [cube, name] = member.split('.') as [string, string];
  return { member, ...test(cubes.get(cube)!.dimensions.get(name)!.type, random) };
}

function test(
  type: Type,
  random: Random,
): { operator: string; values?: (string | number | boolean | null)[] } {
  if (random.chance(0.1)) return { operator: random.pick(['set', 'notSet']) };
  if (type === 'boolean')
    return { operator: random.pick(['equals', 'notEquals']), values: [random.pick([true, 'false', null])] };
  if (type === 'time') {
    const operator = random.pick([
      'inDateRange',
      'notInDateRange',
      'beforeDate',
      'beforeOrOnDate',
      'afterDate',
      'afterOrOnDate',
    ]);
    const days = ['2024-03-31', '2024-10-27', '2024-11-03'];
    return {
      operator,
      values: operator.endsWith('Range')
        ? random.pick([['2024-03-31', '2024-10-27'], ['2024-11-03']])
        : [random.pick(days)],
    };
  }
  if (type === 'number') {
    const operator = random.pick(['equals', 'notEquals', 'gt', 'gte', 'lt', 'lte']);
    const one = random.pick(['1', 2, '0.5', '9007199254740993', '3', '123456789012345678901234567890']);
    return { operator, values: operator.endsWith('quals') && random.chance(0.4) ? [one, '3', null] : [one] };
  }
  const operator = random.pick([
    'equals',
    'notEquals',
    'contains',
    'notContains',
    'startsWith',
    'notStartsWith',
    'endsWith',
    'notEndsWith',
    'gt',
    'lte',
  ]);
  const one = random.pick(['a', 'B', '%', '_', "o'x", '', 'É', '\\', "') or true --"]);
  if (operator === 'gt' || operator === 'lte') return { operator, values: [one] };
  return { operator, values: random.chance(0.3) ? [one, operator.endsWith('quals') ? null : 'b'] : [one] };
}
