/** What a measure is made of: values of rows, and how they are aggregated. */
import type { DimensionType, Expression, Measure, MeasureType, MemberReference, Model } from '../model.ts';
import { following, spendCharacters } from './budget.ts';
import { guardDivisions } from './divisions.ts';
import { queryError } from './errors.ts';
import type { MeasureMember } from './members.ts';
import { shortestPath, withoutReturns } from './paths.ts';
import { modelText, type Node, type Rows, type RowsContext } from './rows.ts';
import { allOf, type Condition, call, type Sql, sql } from './sql.ts';

/** A filter of a `number`, which applies to the measures that it refers to. */
export interface InheritedFilter {
  readonly path: readonly string[];
  readonly expression: Expression;
}

export const isCount = (type: MeasureType) => type.startsWith('count');

const isReference = (part: Expression[number], ...kinds: readonly string[]) =>
  typeof part !== 'string' && kinds.includes(part.kind);

/** A `number` that aggregates columns itself, as in `sum({CUBE}.a) / count(*)`, instead of combining measures. */
export const isOwnAggregate = ({ type, sql: expression }: Measure) =>
  type === 'number' &&
  (expression!.some((part) => isReference(part, 'table', 'dimension')) ||
    !expression!.some((part) => isReference(part, 'measure')));

/** The type of the value of a measure. Only the least and the largest value can be other than a number. */
export function typeOfMeasure(model: Model, { type, sql: expression }: Measure): DimensionType {
  const [part, ...more] = expression ?? [];
  if (
    (type !== 'min' && type !== 'max') ||
    more.length ||
    typeof part !== 'object' ||
    part.kind !== 'dimension'
  ) {
    return 'number';
  }
  return model.cubes.get(part.cube)!.dimensions.get(part.member)!.type;
}

/** The measure that another one refers to. */
export function referredMeasure(
  model: Model,
  from: MeasureMember,
  reference: MemberReference,
): MeasureMember {
  const cube = model.cubes.get(reference.cube)!;
  const { path } = reference;
  const measure = cube.measures.get(reference.member)!;
  const start = from.path.at(-1)!;
  const isFree = from.path.length === 1 && path.length === 1;
  const way = path[0] === start ? path : [...shortestPath(model, start, path[0]!), ...path.slice(1)];
  return {
    kind: 'measure',
    key: `${cube.name}.${measure.name}`,
    cube,
    path: isFree ? path : withoutReturns([...from.path, ...way.slice(1)]),
    measure,
  };
}

const lengthOf = (filters: readonly InheritedFilter[]) =>
  filters.reduce((sum, { expression }) => sum + lengthIn(expression), 0);

const lengthIn = (expression: Expression) =>
  expression.reduce((sum, part) => sum + (typeof part === 'string' ? part.length : 1), 0);

/** What a `number` makes of other measures, each of which `base` writes. Other measures are written by `base` alone. */
export function expandMeasure(
  context: Pick<RowsContext, 'model' | 'dialect' | 'budget'>,
  member: MeasureMember,
  base: (member: MeasureMember, inherited: readonly InheritedFilter[]) => Sql,
  inherited: readonly InheritedFilter[] = [],
): Sql {
  const { measure, path } = member;
  if (measure.type !== 'number' || isOwnAggregate(measure)) return base(member, inherited);
  spendCharacters(context.budget, lengthOf(inherited));
  const passedOn = [...inherited, ...measure.filters.map((expression) => ({ path, expression }))];
  const parts = measure.sql!.map((part): string | Sql => {
    if (typeof part === 'string') return modelText(context, part);
    if (part.kind !== 'measure') throw new Error('A number that combines measures refers to measures only.');
    const referred = referredMeasure(context.model, member, part);
    const value = following(context.budget, () => expandMeasure(context, referred, base, passedOn));
    return referred.measure.type === 'number' ? sql`(${value})` : value;
  });
  return guardDivisions(parts, context.dialect);
}

/** The value of a row that is aggregated. Undefined if rows themselves are counted. */
export function valueOfRow(
  rows: Rows,
  node: Node,
  measure: Measure,
  inherited: readonly InheritedFilter[],
): Sql | undefined {
  const value = measure.sql && rows.expression(node, measure.sql);
  const condition = allOf([
    ...measure.filters.map((filter) => sql`(${rows.expression(node, filter)})`),
    ...inherited.map(({ path, expression }) => sql`(${rows.expression(rows.at(path), expression)})`),
  ]);
  if (typeof condition === 'boolean') return value;
  return sql`case when ${condition} then ${value ?? sql`1`} end`;
}

/** Whether a row counts for the measure. */
export function measureCondition(rows: Rows, { measure, path }: MeasureMember): Condition {
  const node = rows.at(path);
  return allOf(measure.filters.map((filter) => sql`(${rows.expression(node, filter)})`));
}

export function aggregate(type: MeasureType, value: Sql | undefined): Sql {
  if (!value) return sql`count(*)`;
  if (type === 'count_distinct') return sql`count(distinct ${value})`;
  if (type === 'count_distinct_approx') return call('approxDistinct', value);
  return sql`${type}(${value})`;
}

/** The aggregate that a `number` writes itself, with measures of the same cube put in. */
export function ownAggregate(rows: Rows, node: Node, member: MeasureMember): Sql {
  const { model } = rows.context;
  const parts = member.measure.sql!.map((part): string | Sql => {
    if (typeof part === 'string') return modelText(rows.context, part);
    if (part.kind !== 'measure') return rows.expression(node, [part]);
    const { measure, path } = referredMeasure(model, member, part);
    if (path.join('.') !== member.path.join('.') || measure.rollingWindow || isOwnAggregate(measure)) {
      const message = `\`${member.key}\` aggregates columns, so it can only refer to plain measures of its own cube.`;
      throw queryError('unsupported_query', message);
    }
    if (measure.type === 'number') {
      const inner = { ...member, measure };
      return following(rows.context.budget, () => sql`(${ownAggregate(rows, node, inner)})`);
    }
    return aggregate(measure.type, valueOfRow(rows, node, measure, []));
  });
  return guardDivisions(parts, rows.context.dialect);
}
