/**
 * Measures by dimensions. Each cube with measures is aggregated by itself (a fact), so that no join multiplies what is
 * summed up; then the facts are put side by side, by their keys.
 */
import type { DimensionType, RollingWindow } from '../model.ts';
import { queryError } from './errors.ts';
import { type Fact, type Grouping, type Key, selectOfFact } from './facts.ts';
import { expandMeasure, type InheritedFilter, isCount, isOwnAggregate, ownAggregate } from './measures.ts';
import type { MeasureMember } from './members.ts';
import { pathBetween } from './paths.ts';
import { createRows } from './rows.ts';
import { allOf, call, columnOf, type JoinClause, type Source, type Sql, sql } from './sql.ts';

export interface Groups {
  /** Adds a measure to the facts. */
  add(member: MeasureMember): void;
  /** The value of a measure that was added, once all were added. */
  measure(member: MeasureMember): Sql;
  finish(): { readonly from: Source; readonly joins: readonly JoinClause[]; readonly keys: readonly Sql[] };
}

export function createGroups(grouping: Grouping): Groups {
  const { context, keys } = grouping;
  const facts = new Map<string, Fact>();

  const factOf = (path: readonly string[], window: RollingWindow | undefined, apart?: string): Fact => {
    const id = JSON.stringify([path, window, apart]);
    const known = facts.get(id);
    if (known) return known;
    const fact = { alias: `fact_${facts.size + 1}`, path, window, bases: new Map() };
    facts.set(id, fact);
    return fact;
  };
  /** Whether what it aggregates repeats the rows that other measures of the cube are computed from. */
  const repeatsItself = (member: MeasureMember) => {
    const rows = createRows(context, member.path);
    ownAggregate(rows, rows.root, member);
    if (!rows.nodes.some(({ multiplied }) => multiplied)) return false;
    if (member.measure.sql!.some((part) => typeof part === 'object' && part.kind === 'measure')) {
      const message = `\`${member.key}\` aggregates a cube that has several rows for each of its own, so it cannot refer to measures too.`;
      throw queryError('unsupported_query', message);
    }
    return true;
  };
  const baseOf = (member: MeasureMember, inherited: readonly InheritedFilter[]): Sql => {
    const { measure, path } = member;
    const isOwn = isOwnAggregate(measure);
    const isApart = isOwn && repeatsItself(member);
    const fact = factOf(path, measure.rollingWindow, isApart ? measure.name : undefined);
    // The fact has no row for a group without rows of its cube, so a fact of the root adds these groups.
    if (isOwn && context.view && keys.length) factOf([context.view.root], undefined);
    const id = JSON.stringify([measure.name, inherited]);
    let base = fact.bases.get(id);
    if (!base) {
      base = { column: `m${fact.bases.size + 1}`, member, inherited };
      fact.bases.set(id, base);
    }
    const column = columnOf(fact.alias, base.column);
    return facts.size > 1 && isCount(measure.type) ? sql`coalesce(${column}, 0)` : column;
  };
  return {
    add: (member) => void expandMeasure(context, member, baseOf),
    measure: (member) => expandMeasure(context, member, baseOf),
    finish() {
      if (facts.size === 0) factOf(grouping.home, undefined);
      const [first, ...others] = [...facts.values()];
      const sourceOf = (fact: Fact): Source => ({
        alias: fact.alias,
        of: { select: selectOfFact(fact, grouping, waysBetween(fact, [...facts.values()], grouping)) },
      });
      const keysSoFar = keys.map((key) => columnOf(first!.alias, key.name));
      const joins = others.map((fact): JoinClause => {
        const on = keys.map((key, i) => {
          const own = columnOf(fact.alias, key.name);
          const condition = sameKey(key, keysSoFar[i]!, own);
          keysSoFar[i] = sql`coalesce(${keysSoFar[i]!}, ${own})`;
          return condition;
        });
        const source = sourceOf(fact);
        return keys.length ? { type: 'full', source, on: allOf(on) } : { type: 'cross', source };
      });
      return { from: sourceOf(first!), joins, keys: keysSoFar };
    },
  };
}

const NOTHING: Record<DimensionType, string> = {
  string: "''",
  number: '0',
  boolean: 'false',
  time: "timestamp '2000-01-01'",
};

/** Null is a key like others. PostgreSQL can make a full join only of plain equalities. */
function sameKey({ member: { dimension } }: Key, a: Sql, b: Sql): Sql {
  const comparable = (key: Sql) =>
    sql`coalesce(${dimension.type === 'string' ? call('asText', key) : key}, ${NOTHING[dimension.type]})`;
  return sql`${comparable(a)} = ${comparable(b)} and (${a} is null) = (${b} is null)`;
}

/**
 * Without keys, facts stand side by side only because joins connect them. The cubes on the way to the other facts are
 * passed through, so their policies apply to this one too: the ways up to the last cube that has any.
 */
function waysBetween(
  { path }: Fact,
  facts: readonly Fact[],
  { context: { model, view, hints }, keys }: Grouping,
): string[][] {
  // In a view, the ways from the root are what connects them.
  if (keys.length || view) return [];
  return facts.flatMap((other) => {
    const between = pathBetween(model, path, other.path, hints).slice(1, -1);
    const last = between.findLastIndex((cube) => model.cubes.get(cube)!.policies.length > 0);
    return last < 0 ? [] : [between.slice(0, last + 1)];
  });
}
