/**
 * Sub-queries that need themselves. A `sub_query` is a select of its own, in which the policies of its cubes apply and
 * the conditions of its joins. If one of these needs the same sub-query, no SQL can say it.
 */
import type { Condition, Cube, Dimension, Expression, Measure, Model, Reference } from '../model.ts';
import { shortestPath } from '../plan/paths.ts';
import type { Context } from './references.ts';

/** Steps from one thing to another that it needs. Queries of a model with more of them have a limit of their own. */
const STEPS_MAX = 200_000;

const HINT =
  'Compare another dimension in the policy or the join, or make a second cube of the same table for the sub-query.';

export function refuseCircles(model: Model, { names, problems }: Context) {
  const needs = createNeeds(model);
  let steps = 0;
  for (const cube of model.cubes.values()) {
    for (const { name, subQuery } of cube.dimensions.values()) {
      if (!subQuery || steps > STEPS_MAX) continue;
      const start = `${cube.name}.${name}`;
      const before = new Map<string, string>();
      const queue = [start];
      for (const item of queue) {
        for (const next of needs(item)) {
          steps++;
          if (before.has(next)) continue;
          before.set(next, item);
          queue.push(next);
        }
        if (before.has(start)) break;
      }
      if (!before.has(start)) continue;
      const { spot } = names.cubes.get(cube.name)!.dimensions.get(name)!.name;
      const message = `The sub-query \`${name}\` needs itself: ${wayTo(start, before).join(' → ')}.`;
      problems.add(spot, 'reference_cycle', message, HINT);
    }
  }
}

function wayTo(start: string, before: ReadonlyMap<string, string>): string[] {
  const way = [start];
  for (let item = before.get(start)!; item !== start; item = before.get(item)!) way.unshift(item);
  return [start, ...way];
}

const POLICIES = 'policies of ';
const JOIN = 'join of ';

/** What a member, the policies of a cube or a join need, by names that people can read. */
function createNeeds(model: Model): (item: string) => readonly string[] {
  const known = new Map<string, readonly string[]>();
  const find = (item: string): string[] => {
    if (item.startsWith(POLICIES)) return ofPolicies(model.cubes.get(item.slice(POLICIES.length))!);
    if (item.startsWith(JOIN)) {
      const [from, to] = item.slice(JOIN.length).split(' and ') as [string, string];
      return model.cubes.get(from)!.joins.get(to)!.sql.flatMap(ofTarget);
    }
    const [cube, member] = item.split('.') as [string, string];
    return ofMember(model, model.cubes.get(cube)!, member);
  };
  return (item) => {
    const found = known.get(item) ?? [...new Set(find(item))];
    known.set(item, found);
    return found;
  };
}

const ofTarget = (part: Expression[number]): string[] =>
  typeof part === 'string' || part.kind === 'table' ? [] : [`${part.cube}.${part.member}`];

const ofPolicies = ({ name, policies }: Cube): string[] =>
  policies.flatMap(({ rows }) => (rows ? comparedIn(rows).map((member) => `${name}.${member}`) : []));

function comparedIn(condition: Condition): string[] {
  if ('and' in condition) return condition.and.flatMap(comparedIn);
  return 'or' in condition ? condition.or.flatMap(comparedIn) : [condition.member];
}

function ofMember(model: Model, cube: Cube, name: string): string[] {
  const dimension = cube.dimensions.get(name);
  const measure = cube.measures.get(name);
  const segment = cube.segments.get(name);
  const parts = dimension ? ofDimension(dimension) : measure ? ofMeasure(measure) : (segment?.sql ?? []);
  // Rows are told apart by the primary key, and those of the sub-query are joined to it.
  const keys = dimension?.subQuery || measure ? cube.primaryKey.map((key) => `${cube.name}.${key}`) : [];
  return [
    ...(dimension?.subQuery ? [POLICIES + cube.name] : []),
    ...keys,
    ...parts.flatMap((part) =>
      typeof part === 'string' ? [] : [...ofTarget(part), ...onTheWay(model, cube, part)],
    ),
  ];
}

const ofDimension = ({ value }: Dimension): Expression =>
  'when' in value
    ? [
        ...value.when.flatMap(({ condition, label }) => [...condition, ...('sql' in label ? label.sql : [])]),
        ...(value.otherwise && 'sql' in value.otherwise ? value.otherwise.sql : []),
      ]
    : value;

const ofMeasure = ({ sql, filters }: Measure): Expression => [...(sql ?? []), ...filters.flat()];

/** The cubes that are joined for a reference, with their policies. */
function onTheWay(model: Model, cube: Cube, { path }: Reference): string[] {
  const way = path[0] === cube.name ? path : [...wayBetween(model, cube.name, path[0]!), ...path.slice(1)];
  return way.slice(1).flatMap((to, i) => [`${JOIN}${way[i]} and ${to}`, POLICIES + to]);
}

/** A query that needs an ambiguous way is refused when it is planned. */
function wayBetween(model: Model, from: string, to: string): readonly string[] {
  try {
    return shortestPath(model, from, to);
  } catch {
    return [from];
  }
}
