/** Rows as they are, with the value that each measure would aggregate. */
import { queryError } from './errors.ts';
import { keySql, type PlanContext, primaryKeyOf, type RowFilter } from './facts.ts';
import type { QueryMembers } from './find.ts';
import { homeOf } from './homes.ts';
import { expandMeasure, type InheritedFilter, isCount, isOwnAggregate, valueOfRow } from './measures.ts';
import type { MeasureMember } from './members.ts';
import { behindPolicies } from './policy-barriers.ts';
import { createRows, type Rows } from './rows.ts';
import { requireShown } from './shown-values.ts';
import { inBrackets, type Select, type Sql, sql } from './sql.ts';

export function planUngrouped(
  context: PlanContext,
  found: QueryMembers,
  filters: readonly RowFilter[],
): Select {
  const {
    outputs,
    filters: { onMeasures },
  } = found;
  if (onMeasures.length) {
    throw queryError('invalid_query', 'An ungrouped query can only be filtered by dimensions.', 'filters');
  }
  if (found.calculated.fields.length) {
    throw queryError('invalid_query', 'An ungrouped query has no calculated fields.', 'calculated');
  }
  for (const { kind, member } of outputs)
    if (kind === 'measure') requireShown(context, found.members, member);
  const paths = [...outputs.map(({ member }) => member.path), ...found.paths];
  const rows = createRows(context, homeOf(context.model, context.view, paths, context.hints));
  const columns = outputs.map((output) => ({
    name: output.column,
    sql: output.kind === 'measure' ? rowMeasure(context, rows, output.member) : keySql(rows, output),
  }));
  const where = filters.map((filter) => filter.make(rows));
  return { columns, from: rows.from, ...behindPolicies(rows, context, where) };
}

const rowMeasure = (context: PlanContext, rows: Rows, measure: MeasureMember): Sql =>
  expandMeasure(context, measure, (member, inherited) => {
    const value = rowValue(rows, member, inherited);
    return member === measure ? value : sql`(${value})`;
  });

function rowValue(
  rows: Rows,
  { measure, path, key }: MeasureMember,
  inherited: readonly InheritedFilter[],
): Sql {
  if (measure.rollingWindow || isOwnAggregate(measure)) {
    throw queryError(
      'unsupported_query',
      `\`${key}\` has no value for a single row, so the query cannot be ungrouped.`,
    );
  }
  const node = rows.at(path);
  const value = valueOfRow(rows, node, measure, inherited);
  if (!isCount(measure.type)) return value!;
  const counted = value ?? (node === rows.root ? undefined : primaryKeyOf(rows, node)[0]!.sql);
  return counted ? sql`case when ${inBrackets(counted)} is not null then 1 else 0 end` : sql`1`;
}
