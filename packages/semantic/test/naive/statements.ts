/** Random SQL that reads cubes and views as tables. */
import type { Random } from '../random.ts';
import type { TestQuery } from './queries.ts';
import { VIEW, type World } from './world.ts';

export interface TestStatement {
  sql: string;
  /** The same as a JSON query, for the naive evaluator. */
  query: TestQuery;
  isOfView: boolean;
}

const queryOf = (more: Partial<TestQuery>): TestQuery => ({
  measures: [],
  dimensions: [],
  timeDimensions: [],
  filters: [],
  segments: [],
  timezone: 'UTC',
  total: false,
  ...more,
});

/** Columns of one cube, or of several through the view; plain rows, or measures by dimensions. */
export function makeStatement(world: World, random: Random): TestStatement {
  const cubes = [...world.cubes.values()];
  const isOfView = random.chance(0.5);
  const cube = random.pick(cubes);
  const columnOf = (owner: string, name: string) => (isOfView ? `${owner}_${name}` : name);
  const table = isOfView ? VIEW : cube.name;
  const all = (isOfView ? cubes : [cube]).flatMap(({ name, dimensions }) =>
    [...dimensions.keys()].map((dimension) => [name, dimension] as const),
  );
  const chosen = random.some(all, 3);
  if (!chosen.length) chosen.push(random.pick(all));
  const dimensions = chosen.map((parts) => parts.join('.'));
  const columns = chosen.map(([owner, name]) => columnOf(owner, name));
  const where = random.chance(0.4)
    ? (() => {
        const [owner, name] = random.pick(chosen);
        const isSet = random.chance(0.5);
        return {
          sql: ` where x.${columnOf(owner, name)} is ${isSet ? 'not ' : ''}null`,
          filters: [{ member: `${owner}.${name}`, operator: isSet ? 'set' : 'notSet' }],
        };
      })()
    : { sql: '', filters: [] };
  const { filters } = where;
  if (random.chance(0.5)) {
    const from = random.pick([
      `${table} x${where.sql}`,
      `(select * from (select ${columns.join(', ')} from ${table}) y) x${where.sql}`,
    ]);
    const text = `select ${columns.map((name) => `x.${name}`).join(', ')} from ${from}`;
    const sql = random.pick([
      text,
      `with w as (${text}) select * from w`,
      `(${text}) union all (${text} limit 0)`,
    ]);
    return { sql, query: queryOf({ dimensions, filters, ungrouped: true }), isOfView };
  }
  const measures = [cube, ...(isOfView && random.chance(0.5) ? [random.pick(cubes)] : [])].map(
    ({ name, measures: all }) => [name, random.pick([...all.keys()])] as const,
  );
  const chosenMeasures = [...new Map(measures.map((parts) => [parts.join('.'), parts])).values()];
  const listed = [...columns, ...chosenMeasures.map(([owner, name]) => `measure(${columnOf(owner, name)})`)];
  const sql = `select ${listed.join(', ')} from ${table} x${where.sql} group by ${columns.map((_, i) => i + 1).join(', ')}`;
  const query = queryOf({ dimensions, filters, measures: chosenMeasures.map((parts) => parts.join('.')) });
  return { sql, query, isOfView };
}
