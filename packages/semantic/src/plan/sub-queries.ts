/** Dimensions whose value is a measure of other cubes. The filters of a query do not reach into them; policies do. */
import type { Dimension, MemberReference } from '../model.ts';
import type { Grouping, Key, PlanContext } from './facts.ts';
import { createGroups } from './groups.ts';
import { isCount, referredMeasure } from './measures.ts';
import type { MeasureMember } from './members.ts';
import { withoutReturns } from './paths.ts';
import { type Node, pathFromRoot, type Rows } from './rows.ts';
import { columnOf, inBrackets, type Sql, sql } from './sql.ts';

/** Joins the measure, computed for each primary key of the node, and returns the value. */
export function subQueryOf(context: PlanContext, rows: Rows, node: Node, dimension: Dimension): Sql {
  const { cube } = node;
  // SQL that decides about rows, such as the policies of the view, cannot itself depend on these policies.
  const view = context.view?.policies.length && !rows.isDeciding ? context.view : undefined;
  const inner: PlanContext = {
    ...context,
    zone: rows.zone,
    view,
    hints: undefined,
    subQuery: (innerRows, innerNode, name) =>
      subQueryOf(inner, innerRows, innerNode, innerNode.cube.dimensions.get(name)!),
  };
  const home = view ? pathOf(rows, node) : [cube.name];
  const expression = 'when' in dimension.value ? [] : dimension.value;
  const keys = cube.primaryKey.map((name, i): Key => {
    const member = {
      kind: 'dimension' as const,
      key: name,
      cube,
      path: home,
      dimension: cube.dimensions.get(name)!,
    };
    return { name: `k${i + 1}`, member, granularity: undefined };
  });
  const grouping: Grouping = {
    context: inner,
    keys,
    filters: [],
    home,
    windows: undefined,
  };
  const groups = createGroups(grouping);
  const measures = new Map<string, MeasureMember>();
  const idOf = ({ path, member }: MemberReference) => [...path, member].join('.');
  for (const part of expression) {
    if (typeof part === 'string' || part.kind !== 'measure') continue;
    const measure = measureOf(context, node, home, part);
    measures.set(idOf(part), measure);
    groups.add(measure);
  }
  const columns = [...measures.values()].map((measure, i) => ({
    name: `m${i + 1}`,
    sql: groups.measure(measure),
  }));
  const { from, joins, keys: keyColumns } = groups.finish();
  const select = {
    columns: [...keyColumns.map((made, i) => ({ name: keys[i]!.name, sql: made })), ...columns],
    from,
    joins,
  };

  const alias = rows.aliases.next(`${cube.name}_${dimension.name}`);
  const on = cube.primaryKey.flatMap((name, i): Sql => {
    const own = inBrackets(rows.dimension(node, name));
    return [...(i ? [' and '] : []), own, ' = ', columnOf(alias, keys[i]!.name)];
  });
  rows.joins.push({ type: 'left', source: { alias, of: { select } }, on });
  const ids = [...measures.keys()];
  const isThere = sql`${inBrackets(rows.dimension(node, cube.primaryKey[0]!))} is not null`;
  return rows.expression(node, expression, (reference) => {
    const column = columnOf(alias, `m${ids.indexOf(idOf(reference)) + 1}`);
    if (!isCount(measures.get(idOf(reference))!.measure.type)) return column;
    const counted = sql`coalesce(${column}, 0)`;
    // Where no row of the cube was found, there is nothing to count for.
    return node.parent ? sql`case when ${isThere} then ${counted} end` : counted;
  });
}

/** The path from the root of the view to the node. */
const pathOf = ({ home }: Rows, node: Node) =>
  withoutReturns([
    ...home,
    ...pathFromRoot(node)
      .slice(1)
      .map(({ cube }) => cube.name),
  ]);

const measureOf = (
  { model }: PlanContext,
  { cube }: Node,
  path: readonly string[],
  reference: MemberReference,
): MeasureMember => {
  const from = {
    kind: 'measure' as const,
    key: '',
    cube,
    path,
    measure: [...cube.measures.values()][0]!,
  };
  return referredMeasure(model, from, reference);
};
