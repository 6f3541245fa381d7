/** Ways from one cube to another along the joins of the model. */
import type { Model, Relationship } from '../model.ts';
import { QueryError, queryError } from './errors.ts';

/** For each cube that can be reached, the cube before it on the shortest path, or null if there are several. */
type Steps = ReadonlyMap<string, string | null>;

/** Models are immutable, so the paths of one are cached as long as the model lives. */
const known = new WeakMap<Model, Map<string, Steps>>();

/** For each cube that a query gives hints for, the cubes that it is to be joined to. */
export type Hints = ReadonlyMap<string, ReadonlySet<string>>;

/** The cubes from one to the other, both included: by hints alone if they lead there, or else whichever way is shortest. */
export function shortestPath(model: Model, from: string, to: string, hints?: Hints): string[] {
  const hinted = hints?.has(from) ? search(from, (cube) => hints.get(cube)!) : undefined;
  const steps = hinted?.has(to) ? hinted : stepsFrom(model, from);
  const path = [to];
  for (let cube = to; cube !== from; ) {
    const before = steps.get(cube);
    if (before === undefined) {
      throw noJoinPath(from, to);
    }
    if (before === null) {
      const message = `\`${from}\` and \`${to}\` can be joined by several paths of the same length. A view can choose one.`;
      throw queryError('ambiguous_join', message);
    }
    path.unshift(before);
    cube = before;
  }
  return path;
}

/**
 * Returns the shortest path; empty if there is none or if there are several: a query that needs one of them is refused
 * when it is planned.
 */
export function knownPath(model: Model, from: string, to: string, hints?: Hints): string[] {
  try {
    return shortestPath(model, from, to, hints);
  } catch (error) {
    if (error instanceof QueryError) return [];
    throw error;
  }
}

export const noJoinPath = (from: string, to: string) =>
  queryError('no_join_path', `No joins lead from \`${from}\` to \`${to}\`.`);

/** Facts are aggregated by themselves, but they can only stand side by side if joins connect them. */
export function requireConnected(model: Model, cubes: readonly string[]) {
  const [first, ...others] = cubes;
  for (const cube of others) {
    if (cube !== first && !stepsFrom(model, first!).has(cube)) {
      throw noJoinPath(first!, cube);
    }
  }
}

function stepsFrom(model: Model, from: string): Steps {
  const ofModel = known.get(model) ?? new Map<string, Steps>();
  known.set(model, ofModel);
  const steps = ofModel.get(from) ?? search(from, (cube) => model.cubes.get(cube)!.joins.keys());
  ofModel.set(from, steps);
  return steps;
}

function search(from: string, joinedTo: (cube: string) => Iterable<string>): Steps {
  const steps = new Map<string, string | null>();
  const distances = new Map([[from, 0]]);
  const queue = [from];
  for (let i = 0; i < queue.length; i++) {
    const cube = queue[i]!;
    const distance = distances.get(cube)! + 1;
    for (const to of joinedTo(cube)) {
      const before = distances.get(to);
      if (before === undefined) {
        distances.set(to, distance);
        steps.set(to, cube);
        queue.push(to);
      } else if (before === distance) steps.set(to, null);
    }
  }
  return steps;
}

/**
 * The cubes from the end of one path to the end of another one. Paths of a view begin at cubes of the view; a path of
 * one cube begins anywhere. A path that goes back where it came from is at the same place as before.
 */
export function pathBetween(
  model: Model,
  from: readonly string[],
  to: readonly string[],
  hints?: Hints,
): string[] {
  const between = [...from].reverse();
  if (from[0] !== to[0]) between.push(...shortestPath(model, from[0]!, to[0]!, hints).slice(1));
  between.push(...to.slice(1));
  return withoutReturns(between);
}

export function withoutReturns(path: readonly string[]): string[] {
  const kept: string[] = [];
  for (const cube of path) {
    if (kept.at(-2) === cube) kept.pop();
    else kept.push(cube);
  }
  return kept;
}

/** Whether a row at the beginning of the path may have several at its end. */
export const multiplies = (model: Model, path: readonly string[]): boolean =>
  path.some((cube, i) => i > 0 && relationship(model, path[i - 1]!, cube) === 'one_to_many');

const relationship = (model: Model, from: string, to: string): Relationship =>
  model.cubes.get(from)!.joins.get(to)!.relationship;
