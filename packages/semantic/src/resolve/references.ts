/** Finds what the references of an expression mean. */
import type { RawExpression, RawReference } from '../expressions.ts';
import type { RawJoin } from '../language/files.ts';
import { UNITS } from '../language/intervals.ts';
import type { Expression, MemberReference, Reference } from '../model.ts';
import { didYouMean, type Problems } from '../problems.ts';
import type { Name } from '../read.ts';
import { shorten } from '../yaml.ts';
import type { Graph } from './graph.ts';
import type { CubeNames, Names } from './names.ts';
import type { Size } from './size.ts';

export interface Context {
  readonly names: Names;
  readonly graph: Graph;
  readonly problems: Problems;
  readonly size: Size;
  /** For each member, the members that it refers to, as `cube.member`. */
  readonly uses: Map<string, string[]>;
  /** For each member and each join, the joins that lead to the cubes it refers to. Joins are named by `joinId`. */
  readonly passes: Map<string, string[]>;
  /** The condition of each join, which both of its directions share. */
  readonly conditions: Map<RawJoin, Expression>;
}

/** Where an expression stands, and so what it may refer to. */
export interface Scope {
  readonly cube: CubeNames;
  /** In messages: `a segment`. */
  readonly what: string;
  readonly kinds: readonly MemberReference['kind'][];
  /** The member that the expression belongs to. */
  readonly member?: string;
  /** Only these cubes, for the condition of a join: its owner and the one that it leads to. */
  readonly only?: readonly [string, string];
}

export function resolveExpression(raw: RawExpression, scope: Scope, context: Context): Expression {
  return raw.parts.map((part) =>
    typeof part === 'string' ? part : (resolveReference(part, scope, context) ?? ''),
  );
}

export function resolveReference(raw: RawReference, scope: Scope, context: Context): Reference | undefined {
  const found = follow(raw, scope, context);
  if (!found) return undefined;
  const { problems, graph, uses, passes } = context;
  const { cube, what, kinds, only, member } = scope;
  const shown = `\`{${shorten(raw.path.join('.'))}}\``;
  if (found.kind !== 'table' && !kinds.includes(found.kind)) {
    const hint = kinds.length
      ? `Only ${kinds.map((kind) => `${kind}s`).join(' and ')} can be used here.`
      : undefined;
    problems.add(
      raw.spot,
      'not_allowed_here',
      `${shown} is a ${found.kind}, which ${what} cannot use.`,
      hint,
    );
    return undefined;
  }
  if (only && !only.includes(found.cube)) {
    const message = `${shown} is not of one of the two cubes that are joined here.`;
    problems.add(raw.spot, 'not_allowed_here', message);
    return undefined;
  }
  if (!only && !graph.connects(cube.name, found.cube)) {
    const message = `No join leads from \`${cube.name}\` to \`${found.cube}\`.`;
    problems.add(raw.spot, 'no_join_path', message, `Add a join to \`${cube.name}\`.`);
    return undefined;
  }
  if (!only && member === undefined) return found;
  const from = only ? joinId(...only) : `${cube.name}.${member}`;
  if (found.kind !== 'table') add(only ? passes : uses, from, `${found.cube}.${found.member}`);
  if (!only) for (const join of joinsTo(found, cube, graph)) add(passes, from, join);
  return found;
}

function add(map: Map<string, string[]>, key: string, item: string) {
  if (!map.has(key)) map.set(key, []);
  map.get(key)!.push(item);
}

const joinId = (owner: string, to: string) => `${owner} ${to}`;

/** The joins of a path. If a cube that is several joins away is named alone, the planner finds the way. */
function joinsTo({ path }: Reference, own: CubeNames, { edges }: Graph): string[] {
  const way = path[0] === own.name ? path : [own.name, ...path];
  return way.flatMap((to, i) => {
    const edge = i === 0 ? undefined : edges.get(way[i - 1]!)!.get(to);
    return edge ? [joinId(edge.owner, edge.raw.name.text)] : [];
  });
}

/** Walks along the path: own members first, then cubes, then their members. */
function follow({ path, spot }: RawReference, { cube: own }: Scope, context: Context): Reference | undefined {
  const { names, graph, problems } = context;
  let rest = path;
  let cube = own;
  if (path[0] === 'CUBE' || (path[0] === own.name && !own.kinds.has(own.name))) rest = path.slice(1);
  else if (!isOwn(path, own, names)) {
    const other = names.cubes.get(path[0]!);
    if (!other) {
      const hint = () => didYouMean(path[0]!, candidates(own, names));
      problems.add(spot, 'unknown_name', `There is no member or cube \`${shorten(path[0]!)}\` here.`, hint);
      return undefined;
    }
    cube = other;
    rest = path.slice(1);
  }
  const through = [cube.name];
  for (let next = rest[0]; next !== undefined && !cube.kinds.has(next); next = rest[0]) {
    const { kinds } = cube;
    const joined = names.cubes.get(next);
    if (!joined || !graph.edges.get(cube.name)!.has(next)) {
      const message = joined
        ? `\`${cube.name}\` is not joined to \`${next}\`.`
        : `The cube \`${cube.name}\` has no member \`${shorten(next)}\`.`;
      problems.add(spot, joined ? 'no_join_path' : 'unknown_name', message, () =>
        didYouMean(next!, kinds.keys()),
      );
      return undefined;
    }
    cube = joined;
    through.push(next);
    rest = rest.slice(1);
  }
  const [member, granularity, ...more] = rest;
  if (member === undefined) return { kind: 'table', cube: cube.name, path: through };
  const kind = cube.kinds.get(member)!;
  if (kind === 'hierarchy') {
    problems.add(spot, 'not_allowed_here', `\`${member}\` is a hierarchy, which has no value.`);
    return undefined;
  }
  if (granularity !== undefined && !isGranularity(cube, member, granularity, more)) {
    const message = `\`${member}\` has no granularity \`${shorten([granularity, ...more].join('.'))}\`.`;
    const own = cube.dimensions.get(member)?.granularities.map(({ name }) => name.text) ?? [];
    problems.add(spot, 'unknown_name', message, didYouMean(granularity, [...UNITS, ...own]));
    return undefined;
  }
  return { kind, cube: cube.name, member, path: through, granularity };
}

/** A name with dots behind it is a cube, if there is one, and not a member of the same name. */
const isOwn = ([first, next]: readonly string[], own: CubeNames, names: Names) =>
  own.kinds.has(first!) &&
  (next === undefined || !names.cubes.has(first!) || isGranularity(own, first!, next, []));

function* candidates(own: CubeNames, names: Names) {
  yield* own.kinds.keys();
  yield* names.cubes.keys();
}

function isGranularity(cube: CubeNames, member: string, granularity: string, more: readonly string[]) {
  const dimension = cube.dimensions.get(member);
  if (dimension?.type !== 'time' || more.length) return false;
  return (
    (UNITS as readonly string[]).includes(granularity) ||
    dimension.granularities.some(({ name }) => name.text === granularity)
  );
}

const PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$/;

/** For lists that name members without braces: `status`, `orders.status`. */
export function resolveNamed(name: Name, scope: Scope, context: Context): MemberReference | undefined {
  if (name.text === '') return undefined;
  if (!PATH.test(name.text)) {
    context.problems.add(
      name.spot,
      'bad_reference',
      `\`${shorten(name.text)}\` is not the name of a member.`,
    );
    return undefined;
  }
  const reference = { path: name.text.split('.'), spot: name.spot };
  const found = resolveReference(reference, scope, context);
  if (found?.kind === 'table') {
    context.problems.add(name.spot, 'not_allowed_here', `\`${name.text}\` is a cube, and not a member.`);
    return undefined;
  }
  return found;
}

/** Reports members that refer to themselves, perhaps through others. */
export function refuseCycles({ names, problems, uses }: Context) {
  const usesOf = (member: string) => uses.get(member) ?? [];
  walk(uses.keys(), usesOf, { onCycle: (cycle) => reportCycle(cycle, names, problems) });
}

/** The planner calls itself for each, and databases refuse SQL that is nested much deeper. */
export const CHAIN_MAX = 200;

/** Reports members that refer to others, which refer to others, and so on, also through the conditions of joins. */
export function refuseLongChains({ names, problems, uses, passes }: Context) {
  const depths = new Map<string, number>();
  // Members that were reported, and those that refer to them, which the same change mends.
  const reported = new Set<string>();
  const usesOf = (item: string) => [...(uses.get(item) ?? []), ...(passes.get(item) ?? [])];
  const onDone = (item: string) => {
    const depth = 1 + usesOf(item).reduce((most, next) => Math.max(most, depths.get(next) ?? 0), 0);
    depths.set(item, depth);
    const [cube, member] = item.split('.') as [string, string?];
    const isReported = usesOf(item).some((next) => reported.has(next));
    if (isReported) reported.add(item);
    if (depth <= CHAIN_MAX || member === undefined || isReported) return;
    reported.add(item);
    const message = `\`${member}\` refers to others that refer to others, more than ${CHAIN_MAX} deep.`;
    const hint = 'Write the SQL of some of them directly.';
    problems.add(memberNamed(names, cube, member).name.spot, 'too_deep', message, hint);
  };
  walk([...uses.keys(), ...passes.keys()], usesOf, { onDone });
}

interface Walker {
  onCycle?(items: readonly string[]): void;
  /** Called once everything that the item uses is done. */
  onDone?(item: string): void;
}

/** Does not call itself, because chains can be long. */
function walk(starts: Iterable<string>, usesOf: (item: string) => readonly string[], walker: Walker) {
  const done = new Set<string>();
  for (const start of starts) {
    // What is on the way from the start, each with the number of its uses that were followed.
    const way = done.has(start) ? [] : [{ item: start, uses: usesOf(start), followed: 0 }];
    const onWay = new Set(way.map(({ item }) => item));
    while (way.length) {
      const last = way.at(-1)!;
      const next = last.uses[last.followed++];
      if (next === undefined) {
        done.add(last.item);
        onWay.delete(last.item);
        way.pop();
        walker.onDone?.(last.item);
      } else if (onWay.has(next)) {
        if (!walker.onCycle) continue;
        walker.onCycle(way.slice(way.findIndex(({ item }) => item === next)).map(({ item }) => item));
        done.add(next);
      } else if (!done.has(next)) {
        way.push({ item: next, uses: usesOf(next), followed: 0 });
        onWay.add(next);
      }
    }
  }
}

function memberNamed(names: Names, cube: string, member: string) {
  const found = names.cubes.get(cube)!;
  return (found.dimensions.get(member) ?? found.measures.get(member) ?? found.segments.get(member))!;
}

function reportCycle(cycle: readonly string[], names: Names, problems: Problems) {
  const [cube, member] = cycle[0]!.split('.') as [string, string];
  const { name } = memberNamed(names, cube, member);
  const shown = [...cycle.slice(0, 5), ...(cycle.length > 5 ? ['…'] : []), cycle[0]].join(' → ');
  problems.add(name.spot, 'reference_cycle', `\`${member}\` refers to itself: ${shown}.`);
}
