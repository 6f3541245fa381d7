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

export interface Context {
  readonly names: Names;
  readonly graph: Graph;
  readonly problems: Problems;
  /** For each member, the members that it refers to, as `cube.member`. */
  readonly uses: Map<string, string[]>;
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
  /** Only these cubes, for the condition of a join. */
  readonly only?: readonly string[];
}

export function resolveExpression(raw: RawExpression, scope: Scope, context: Context): Expression {
  return raw.parts.map((part) =>
    typeof part === 'string' ? part : (resolveReference(part, scope, context) ?? ''),
  );
}

export function resolveReference(raw: RawReference, scope: Scope, context: Context): Reference | undefined {
  const found = follow(raw, scope, context);
  if (!found) return undefined;
  const { problems, graph, uses } = context;
  const { cube, what, kinds, only, member } = scope;
  const shown = `\`{${shorten(raw.path.join('.'))}}\``;
  if (found.kind !== 'table' && !kinds.includes(found.kind)) {
    const hint = kinds.length
      ? `Only ${kinds.map((kind) => `${kind}s`).join(' and ')} can be used here.`
      : undefined;
    problems.add(
      raw.spot,
      'not_allowed_here',
      `${shown} is a ${found.kind}, which ${what} can not use.`,
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
  if (member !== undefined && found.kind !== 'table') {
    const from = `${cube.name}.${member}`;
    if (!uses.has(from)) uses.set(from, []);
    uses.get(from)!.push(`${found.cube}.${found.member}`);
  }
  return found;
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

/** For lists that name dimensions without braces: `status`, `orders.status`. */
export function resolveDimension(
  name: Name,
  scope: Omit<Scope, 'kinds'>,
  context: Context,
): MemberReference | undefined {
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
  const found = resolveReference(reference, { ...scope, kinds: ['dimension'] }, context);
  if (found?.kind === 'table') {
    context.problems.add(name.spot, 'not_allowed_here', `\`${name.text}\` is a cube, and not a dimension.`);
    return undefined;
  }
  return found;
}

/** Reports members that refer to themselves, perhaps through others. */
export function refuseCycles({ names, problems, uses }: Context) {
  const done = new Set<string>();
  for (const start of uses.keys()) {
    // The members on the way from the start, each with the number of its uses that were followed.
    const way: { member: string; followed: number }[] = done.has(start)
      ? []
      : [{ member: start, followed: 0 }];
    const onWay = new Set(way.map(({ member }) => member));
    while (way.length) {
      const last = way.at(-1)!;
      const next = uses.get(last.member)?.[last.followed++];
      if (next === undefined) {
        done.add(last.member);
        onWay.delete(last.member);
        way.pop();
      } else if (onWay.has(next)) {
        const cycle = way.slice(way.findIndex(({ member }) => member === next)).map(({ member }) => member);
        reportCycle(cycle, names, problems);
        done.add(next);
      } else if (!done.has(next)) {
        way.push({ member: next, followed: 0 });
        onWay.add(next);
      }
    }
  }
}

function reportCycle(cycle: readonly string[], names: Names, problems: Problems) {
  const [cube, member] = cycle[0]!.split('.') as [string, string];
  const found = names.cubes.get(cube)!;
  const raw = found.dimensions.get(member) ?? found.measures.get(member) ?? found.segments.get(member);
  const shown = [...cycle.slice(0, 5), ...(cycle.length > 5 ? ['…'] : []), cycle[0]].join(' → ');
  problems.add(raw!.name.spot, 'reference_cycle', `\`${member}\` refers to itself: ${shown}.`);
}
