/** Which cubes are joined, in both directions, and which of them can be joined in two ways. */
import type { RawJoin } from '../language/files.ts';
import type { Relationship } from '../model.ts';
import type { Problems } from '../problems.ts';
import { atKey } from '../read.ts';
import { dataSourceOf, type Names, requireCube } from './names.ts';

export interface Edge {
  readonly to: string;
  readonly relationship: Relationship;
  /** The cube whose file has the join. */
  readonly owner: string;
  readonly raw: RawJoin;
}

export interface Graph {
  readonly edges: ReadonlyMap<string, ReadonlyMap<string, Edge>>;
  /** Whether some path of joins leads from one cube to the other. */
  connects(from: string, to: string): boolean;
}

const TURNED: Record<Relationship, Relationship> = {
  many_to_one: 'one_to_many',
  one_to_many: 'many_to_one',
  one_to_one: 'one_to_one',
};

export function buildGraph(names: Names, problems: Problems): Graph {
  const edges = new Map<string, Map<string, Edge>>([...names.cubes.keys()].map((name) => [name, new Map()]));
  for (const cube of names.cubes.values()) {
    const { name, raw } = cube;
    for (const join of raw.joins) {
      const target = requireCube(names, join.name, problems);
      if (!target) continue;
      if (target.name === name) {
        problems.add(
          join.name.spot,
          'not_allowed_here',
          'A cube cannot be joined to itself.',
          'Make a second cube of the same table.',
        );
      } else if (edges.get(name)!.get(target.name)?.owner === name) {
        problems.add(join.name.spot, 'duplicate_name', `The cube is joined to \`${target.name}\` twice.`);
      } else {
        if (dataSourceOf(target) !== dataSourceOf(cube)) {
          const message = `\`${name}\` and \`${target.name}\` are of different data sources, which cannot be joined.`;
          problems.add(atKey(join, 'name'), 'not_allowed_here', message);
        }
        edges
          .get(name)!
          .set(target.name, { to: target.name, relationship: join.relationship, owner: name, raw: join });
      }
    }
  }
  turnAround(edges);
  const components = componentsOf(edges);
  return { edges, connects: (from, to) => components.get(from) === components.get(to) };
}

/** A join can be used in both directions. If both cubes define it, each uses its own. */
function turnAround(edges: ReadonlyMap<string, Map<string, Edge>>) {
  for (const [from, targets] of edges) {
    for (const [to, edge] of targets) {
      if (edge.owner !== from || edges.get(to)!.has(from)) continue;
      edges.get(to)!.set(from, { ...edge, to: from, relationship: TURNED[edge.relationship] });
    }
  }
}

function componentsOf(edges: Graph['edges']): Map<string, number> {
  const components = new Map<string, number>();
  let next = 0;
  for (const start of edges.keys()) {
    if (components.has(start)) continue;
    const waiting = [start];
    components.set(start, ++next);
    for (let cube = waiting.pop(); cube !== undefined; cube = waiting.pop()) {
      for (const to of edges.get(cube)!.keys()) {
        if (components.has(to)) continue;
        components.set(to, next);
        waiting.push(to);
      }
    }
  }
  return components;
}

/** Above this many cubes, comparing all pairs takes too long, and only queries notice that they are ambiguous. */
const COMPARED_CUBES_MAX = 1000;
const WARNINGS_MAX = 20;

/**
 * Warns about two cubes that are joined by several shortest paths. A query for both of them is refused. Pairs that are
 * ambiguous only because their path goes through such a pair are left out.
 */
export function warnOfAmbiguity(names: Names, { edges }: Graph, warnings: Problems) {
  if (edges.size > COMPARED_CUBES_MAX) return;
  const order = [...edges.keys()];
  const meetings = new Map(order.map((cube) => [cube, meetingsFrom(cube, edges)]));
  for (const [i, a] of order.entries()) {
    for (const b of order.slice(i + 1)) {
      if (warnings.list.length >= WARNINGS_MAX) return;
      const ways = meetings.get(a)!.get(b);
      if (!ways || !meetings.get(b)!.has(a)) continue;
      const message = `\`${a}\` and \`${b}\` can be joined by several paths of the same length: through ${ways.map((way) => `\`${way}\``).join(' or ')}.`;
      const hint = 'A query for both is refused. A view can choose one by its `join_path`.';
      warnings.add(names.cubes.get(a)!.raw.name.spot, 'ambiguous_join', message, hint);
    }
  }
}

/** For each cube that several shortest paths from the start reach, the last cubes before it. */
function meetingsFrom(start: string, edges: Graph['edges']): Map<string, string[]> {
  const distances = new Map([[start, 0]]);
  const before = new Map<string, string[]>();
  const queue = [start];
  for (let i = 0; i < queue.length; i++) {
    const cube = queue[i]!;
    const distance = distances.get(cube)! + 1;
    for (const to of edges.get(cube)!.keys()) {
      const known = distances.get(to);
      if (known === undefined) {
        distances.set(to, distance);
        before.set(to, [cube]);
        queue.push(to);
      } else if (known === distance) before.get(to)!.push(cube);
    }
  }
  return new Map([...before].filter(([, cubes]) => cubes.length > 1));
}
