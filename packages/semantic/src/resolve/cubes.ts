import { resolveRefreshKey } from '../language/refresh-keys.ts';
import type { Cube, Expression, Join } from '../model.ts';
import { placeOf } from '../problems.ts';
import { atKey } from '../read.ts';
import type { Edge } from './graph.ts';
import {
  describe,
  hasPrimaryKey,
  PRIMARY_KEY_HINT,
  resolveDimensionOf,
  resolveHierarchy,
  resolveMeasure,
  resolveSegment,
} from './members.ts';
import { type CubeNames, dataSourceOf } from './names.ts';
import { resolvePolicies } from './policies.ts';
import { type Context, resolveExpression } from './references.ts';

export function resolveCube(cube: CubeNames, context: Context): Cube {
  const { raw, dimensions } = cube;
  const each = <Raw, Member>(
    raws: ReadonlyMap<string, Raw>,
    resolve: (cube: CubeNames, raw: Raw, context: Context) => Member,
  ) => new Map([...raws].map(([name, item]) => [name, resolve(cube, item, context)] as const));
  checkPrimaryKey(cube, context);
  return {
    ...describe(raw),
    place: placeOf(raw.name.spot),
    dataSource: dataSourceOf(cube),
    from: fromOf(cube, context),
    dimensions: each(dimensions, resolveDimensionOf),
    measures: each(cube.measures, resolveMeasure),
    segments: each(cube.segments, resolveSegment),
    hierarchies: each(cube.hierarchies, resolveHierarchy),
    primaryKey: [...dimensions.values()].filter((item) => item.primary_key).map(({ name }) => name.text),
    joins: joinsOf(cube, context),
    policies: resolvePolicies(raw.access_policy, policyMembers(cube), context),
    refreshKey: resolveRefreshKey(raw.refresh_key, context.problems),
  };
}

function fromOf({ raw, name }: CubeNames, { problems }: Context): Cube['from'] {
  if ((raw.sql_table === undefined) === (raw.sql === undefined)) {
    const message = `The cube \`${name}\` needs \`sql_table\` or \`sql\`, and not both.`;
    problems.add(raw.where.spot, 'missing_key', message);
  }
  if (!raw.sql) return { table: raw.sql_table ?? '' };
  const reference = raw.sql.parts.find((part) => typeof part !== 'string');
  if (reference) {
    const hint = 'Write the names of tables and columns themselves.';
    problems.add(
      reference.spot,
      'not_allowed_here',
      'The `sql` of a cube is a query, and takes no references.',
      hint,
    );
  }
  return { query: raw.sql.parts.filter((part) => typeof part === 'string').join('') };
}

/**
 * Without a primary key, a join that repeats rows would also repeat what is summed up. Joins further away may repeat them
 * too: a query that needs those is refused when it is planned.
 */
function checkPrimaryKey(cube: CubeNames, { graph, problems }: Context) {
  const repeats = [...graph.edges.get(cube.name)!.values()].some(
    ({ relationship }) => relationship === 'one_to_many',
  );
  if (!repeats || !cube.measures.size || hasPrimaryKey(cube)) return;
  const message = `The cube \`${cube.name}\` has measures, and a join repeats its rows, so it needs a primary key.`;
  problems.add(cube.raw.name.spot, 'no_primary_key', message, PRIMARY_KEY_HINT);
}

/** Both directions of a join share its condition, which is resolved once, where it was written. */
function joinsOf(cube: CubeNames, context: Context): Map<string, Join> {
  const joins = new Map<string, Join>();
  for (const [to, edge] of context.graph.edges.get(cube.name)!) {
    joins.set(to, { to, relationship: edge.relationship, sql: conditionOf(edge, context) });
  }
  return joins;
}

function conditionOf({ raw, owner }: Edge, context: Context): Expression {
  const known = context.conditions.get(raw);
  if (known) return known;
  const cube = context.names.cubes.get(owner)!;
  const only: [string, string] = [owner, raw.name.text];
  const sql = resolveExpression(raw.sql, { cube, what: 'a join', kinds: ['dimension'], only }, context);
  const named = new Set(sql.flatMap((part) => (typeof part === 'string' ? [] : [part.cube])));
  if (raw.where.keys.has('sql') && !only.every((name) => named.has(name)) && raw.sql.parts.length > 0) {
    const hint = `For example \`"{CUBE}.id = {${raw.name.text}.id}"\`.`;
    context.problems.add(atKey(raw, 'sql'), 'bad_value', 'The condition of a join names both cubes.', hint);
  }
  context.conditions.set(raw, sql);
  return sql;
}

const policyMembers = ({ name: owner, kinds, dimensions }: CubeNames) => ({
  owner,
  all: new Set(kinds.keys()),
  typeOf: (name: string) => dimensions.get(name)?.type,
});
