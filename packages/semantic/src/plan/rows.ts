/** The rows that something is computed from: a cube, the cubes that are joined to it, and the SQL of members on them. */
import type {
  Case,
  Cube,
  Expression,
  Join,
  Label,
  MemberReference,
  Model,
  Reference,
  Unit,
} from '../model.ts';
import { type Periods, periodsOf } from '../times/calendar.ts';
import { writeLocal } from '../times/moments.ts';
import { UTC, type Zone } from '../times/zones.ts';
import { type Aliases, createAliases } from './aliases.ts';
import { type Budget, following, spend, spendCharacters } from './budget.ts';
import { queryError } from './errors.ts';
import { type Hints, multiplies, pathBetween, shortestPath } from './paths.ts';
import { type Dialect, plainText } from './render.ts';
import {
  call,
  inBrackets,
  type JoinClause,
  joined,
  name,
  type Piece,
  type Source,
  type Sql,
  sql,
  tableOfColumn,
  value,
} from './sql.ts';

/** A cube at one place of the joins. A cube that two paths lead to is there twice. */
export interface Node {
  readonly cube: Cube;
  readonly alias: string;
  readonly parent: Node | undefined;
  /** Whether a row of the first cube may have several rows here. */
  readonly multiplied: boolean;
  readonly children: Map<string, Node>;
}

export interface RowsJoin extends JoinClause {
  readonly on: Sql;
}

export interface RowsContext {
  readonly model: Model;
  readonly zone: Zone;
  readonly dialect: Dialect;
  /** The names of all cubes that the statement reads. The set grows while SQL is made. */
  readonly cubes: Set<string>;
  readonly budget: Budget;
  /** The join hints of the query. They hold for members that the query names, not for references inside the model. */
  readonly hints?: Hints | undefined;
  /** The SQL of a `sub_query` dimension, after joining what it needs. */
  subQuery(rows: Rows, node: Node, dimension: string): Sql;
}

export interface Rows {
  readonly context: RowsContext;
  readonly root: Node;
  /** The path to the cube of the root. */
  readonly home: readonly string[];
  readonly from: Source;
  /** In the order in which they were joined. The list grows while SQL is made. */
  readonly nodes: readonly Node[];
  readonly joins: RowsJoin[];
  readonly aliases: Aliases;
  /** The cube at the end of a path, joined if it is not there yet. */
  at(path: readonly string[]): Node;
  /** Joins these cubes, one after the other, beginning at the first cube of the rows. */
  along(cubes: readonly string[]): void;
  dimension(node: Node, dimension: string, granularity?: string): Sql;
  segment(node: Node, segment: string): Sql;
  expression(node: Node, expression: Expression, onMeasure?: (reference: MemberReference) => Sql): Sql;
  /** The time zone of granularities in the SQL that is being made. */
  readonly zone: Zone;
  /** Whether the SQL that is being made is that of a policy, or of the condition of a join. */
  readonly isDeciding: boolean;
  /** Calls the function, whose SQL decides about rows and so must not depend on the time zone of the query. */
  deciding<T>(make: () => T): T;
  /** Whether it is a column of a table, so that no other SQL is behind it. */
  isPlain(part: Sql): boolean;
  /** Calls the function, and returns the nodes that it used. */
  watching<T>(make: () => T): { readonly made: T; readonly used: ReadonlySet<Node> };
}

/** `home` is the path to the cube whose rows these are. */
export function createRows(context: RowsContext, home: readonly string[]): Rows {
  const { model, budget } = context;
  const aliases = createAliases();
  const nodes: Node[] = [];
  const joins: RowsJoin[] = [];
  const ready = new Set<Node>();
  const watchers: Set<Node>[] = [];
  let { zone } = context;
  let isDeciding = false;

  const addNode = (cube: Cube, parent: Node | undefined, multiplied: boolean): Node => {
    spend(budget, 1);
    context.cubes.add(cube.name);
    return { cube, alias: aliases.next(cube.name), parent, multiplied, children: new Map() };
  };
  const root = addNode(model.cubes.get(home.at(-1)!)!, undefined, false);
  nodes.push(root);
  ready.add(root);

  const step = (from: Node, to: string): Node => {
    if (from.parent?.cube.name === to) return from.parent;
    const known = from.children.get(to);
    if (known) return known;
    if (!ready.has(from)) {
      const message = `The join of \`${from.cube.name}\` depends on \`${to}\`, which is joined only after it.`;
      throw queryError('unsupported_query', message);
    }
    const join = from.cube.joins.get(to)!;
    const node = addNode(model.cubes.get(to)!, from, from.multiplied || join.relationship === 'one_to_many');
    from.children.set(to, node);
    // Which rows belong together decides which policies apply to them, so the viewer cannot choose it.
    const on = rows.deciding(() => following(budget, () => conditionOf(join, from, node)));
    ready.add(node);
    nodes.push(node);
    joins.push({ type: 'left', source: { alias: node.alias, of: node.cube.from }, on });
    return node;
  };
  const walk = (from: Node, path: readonly string[]) => path.reduce(step, from);
  const use = (node: Node) => {
    for (const watcher of watchers) watcher.add(node);
    return node;
  };

  /** The condition names the two cubes, whichever of them defines it. */
  const conditionOf = (join: Join, from: Node, to: Node): Sql =>
    join.sql.map((part): Piece => {
      if (typeof part === 'string') return modelText(context, part);
      return reference(part.cube === from.cube.name ? from : to, { ...part, path: [part.cube] });
    });

  const follow = (node: Node, path: readonly string[]): Node => {
    const [first, ...rest] = path;
    if (first === node.cube.name) return walk(node, rest);
    // One cube alone: whichever way leads there.
    return walk(walk(node, shortestPath(model, node.cube.name, first!).slice(1)), rest);
  };

  const reference = (node: Node, part: Reference): Sql => {
    const target = use(follow(node, part.path));
    if (part.kind === 'table') return [name(target.alias)];
    if (part.kind === 'segment') return rows.segment(target, part.member);
    return inBrackets(rows.dimension(target, part.member, part.granularity));
  };

  const rows: Rows = {
    context,
    root,
    home,
    from: { alias: root.alias, of: root.cube.from },
    nodes,
    joins,
    aliases,
    at: (path) => use(walk(root, pathBetween(model, home, path, context.hints).slice(1))),
    along: (cubes) => void walk(root, cubes),
    expression: (node, expression, onMeasure) =>
      expression.map((part): Piece => {
        if (typeof part === 'string') return modelText(context, part);
        if (part.kind === 'measure' && onMeasure) return onMeasure(part);
        return reference(node, part);
      }),
    dimension(node, dimensionName, granularity) {
      const dimension = node.cube.dimensions.get(dimensionName)!;
      const plain = following(budget, () =>
        dimension.subQuery
          ? context.subQuery(rows, node, dimensionName)
          : 'when' in dimension.value
            ? caseOf(rows, node, dimension.value)
            : rows.expression(node, dimension.value),
      );
      if (granularity === undefined) return plain;
      const custom = dimension.granularities.get(granularity);
      const local = call('local', plain, [value('text', zone.name)]);
      return custom
        ? inPeriods(local, requirePeriods(custom))
        : call(`truncate ${granularity as Unit}`, local);
    },
    segment: (node, segment) =>
      following(budget, () => sql`(${rows.expression(node, node.cube.segments.get(segment)!.sql)})`),
    get zone() {
      return zone;
    },
    get isDeciding() {
      return isDeciding;
    },
    deciding(make) {
      const before = { zone, isDeciding };
      zone = UTC;
      isDeciding = true;
      try {
        return make();
      } finally {
        ({ zone, isDeciding } = before);
      }
    },
    isPlain(part) {
      const table = tableOfColumn(part);
      return table !== undefined && !nodes.some(({ alias, cube }) => alias === table && hasExpressions(cube));
    },
    watching(make) {
      const used = new Set<Node>();
      watchers.push(used);
      try {
        return { made: make(), used };
      } finally {
        watchers.pop();
      }
    },
  };
  return rows;
}

/** Whether a row of the one may have several rows of the other. */
export function repeats({ context: { model } }: Rows, node: Node, other: Node): boolean {
  const up = pathFromRoot(node);
  const down = pathFromRoot(other);
  let shared = 0;
  while (up[shared] && up[shared] === down[shared]) shared++;
  const way = [...up.slice(shared - 1).reverse(), ...down.slice(shared)];
  return multiplies(
    model,
    way.map(({ cube }) => cube.name),
  );
}

export const pathFromRoot = (node: Node): Node[] =>
  node.parent ? [...pathFromRoot(node.parent), node] : [node];

/** A text of the model. */
export function modelText(
  { budget, dialect }: Pick<RowsContext, 'budget' | 'dialect'>,
  text: string,
): string {
  spendCharacters(budget, text.length);
  return plainText(text, dialect);
}
/**
 * A database may compute conditions before the SQL of a cube, so its columns count as expressions unless it only lists
 * columns.
 */
const hasExpressions = ({ from }: Cube) => 'query' in from && !COLUMNS_ONLY.test(from.query);
const COLUMNS_ONLY = /^\s*select\s+(?:\*|\w+(?:\s*,\s*\w+)*)\s+from\s(?!.*\bselect\b)/is;

function caseOf(rows: Rows, node: Node, { when, otherwise }: Case): Sql {
  const labelOf = (label: Label): Sql =>
    'sql' in label ? rows.expression(node, label.sql) : [value('text', label.text)];
  const branches = when.map(
    ({ condition, label }) => sql`when ${rows.expression(node, condition)} then ${labelOf(label)}`,
  );
  return sql`case ${joined(branches, ' ')}${otherwise ? sql` else ${labelOf(otherwise)}` : []} end`;
}

export function requirePeriods(granularity: Parameters<typeof periodsOf>[0]): Periods {
  const periods = periodsOf(granularity);
  if (periods) return periods;
  const message = `The granularity \`${granularity.name}\` mixes months with shorter units, which is not supported.`;
  throw queryError('unsupported_query', message);
}

/** Whole numbers of the model, as text of the statement. */
const number = (count: number): Sql => [String(count)];

function inPeriods(local: Sql, periods: Periods): Sql {
  if ('seconds' in periods) {
    return call('binSeconds', local, number(periods.seconds), [value('local', writeLocal(periods.originMs))]);
  }
  const { months, base, shiftSeconds } = periods;
  if (shiftSeconds === 0) return call('binMonths', local, number(months), number(base));
  const shifted = call('addSeconds', local, number(-shiftSeconds));
  return call('addSeconds', call('binMonths', shifted, number(months), number(base)), number(shiftSeconds));
}
