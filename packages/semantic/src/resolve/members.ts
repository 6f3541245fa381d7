/** Dimensions, measures, segments and hierarchies with their references resolved. */
import type { RawExpression } from '../expressions.ts';
import { UNITS } from '../language/intervals.ts';
import type {
  RawDimension,
  RawGranularity,
  RawHierarchy,
  RawLabel,
  RawMeasure,
  RawSegment,
} from '../language/members.ts';
import type {
  Case,
  Dimension,
  Expression,
  Granularity,
  Hierarchy,
  Json,
  Label,
  Measure,
  MemberReference,
  ModelElement,
  Segment,
} from '../model.ts';
import { atKey, type Name } from '../read.ts';
import type { CubeNames } from './names.ts';
import { type Context, resolveExpression, resolveNamed, type Scope } from './references.ts';

interface RawElement {
  readonly name: Name;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly public: boolean | undefined;
  readonly meta: Json | undefined;
}

export const describe = (raw: RawElement, isPublic = true): ModelElement => ({
  name: raw.name.text,
  title: raw.title,
  description: raw.description,
  meta: raw.meta,
  public: raw.public ?? isPublic,
});

export function resolveDimensionOf(cube: CubeNames, raw: RawDimension, context: Context): Dimension {
  const { problems } = context;
  const member = raw.name.text;
  const scope: Scope = {
    cube,
    member,
    what: 'a dimension',
    kinds: raw.sub_query ? ['dimension', 'measure'] : ['dimension'],
  };
  if (!raw.sql === !raw.case) {
    problems.add(raw.where.spot, 'missing_key', 'A dimension needs `sql` or `case`, and not both.');
  }
  if (raw.granularities.length && raw.type !== 'time') {
    problems.add(
      atKey(raw, 'granularities'),
      'not_allowed_here',
      'Only a dimension of type `time` has granularities.',
    );
  }
  const value = raw.case ? resolveCase(raw.case, scope, context) : expressionOf(raw.sql, scope, context);
  if (raw.sub_query) checkSubQuery(cube, raw, value, context);
  return {
    // Ids of rows are of use inside of the model. People who need them say so.
    ...describe(raw, !raw.primary_key),
    type: raw.type,
    value,
    primaryKey: raw.primary_key,
    subQuery: raw.sub_query,
    format: raw.format,
    granularities: granularitiesOf(raw, context),
  };
}

const expressionOf = (raw: RawExpression | undefined, scope: Scope, context: Context): Expression =>
  raw ? resolveExpression(raw, scope, context) : [];

function resolveCase(raw: NonNullable<RawDimension['case']>, scope: Scope, context: Context): Case {
  const labelOf = (label: RawLabel): Label =>
    'sql' in label ? { sql: resolveExpression(label.sql, scope, context) } : label;
  return {
    when: raw.when.map(({ sql, label }) => ({
      condition: resolveExpression(sql, scope, context),
      label: labelOf(label),
    })),
    otherwise: raw.else && labelOf(raw.else.label),
  };
}

function checkSubQuery(cube: CubeNames, raw: RawDimension, value: Expression | Case, { problems }: Context) {
  const measures = 'when' in value ? [] : value.filter(isMeasureReference);
  const spot = atKey(raw, 'sub_query');
  if (!measures.some((reference) => reference.cube !== cube.name)) {
    const hint = 'For example `sql: "{orders.count}"`.';
    problems.add(spot, 'bad_value', 'A `sub_query` refers to a measure of another cube.', hint);
  }
  if (!hasPrimaryKey(cube)) {
    const message = `The cube \`${cube.name}\` needs a primary key for a \`sub_query\`.`;
    problems.add(spot, 'no_primary_key', message, PRIMARY_KEY_HINT);
  }
}

export const PRIMARY_KEY_HINT = 'Set `primary_key: true` for the dimension that identifies a row.';

const isMeasureReference = (part: Expression[number]): part is MemberReference =>
  typeof part !== 'string' && part.kind === 'measure';

export const hasPrimaryKey = ({ dimensions }: CubeNames) =>
  [...dimensions.values()].some(({ primary_key }) => primary_key);

function granularitiesOf(raw: RawDimension, { problems }: Context): Map<string, Granularity> {
  const found = new Map<string, Granularity>();
  const wrong = ({ name, where, offset, origin }: RawGranularity): boolean => {
    if (found.has(name.text)) {
      problems.add(name.spot, 'duplicate_name', `There is another granularity \`${name.text}\`.`);
      return true;
    }
    if (offset && origin !== undefined) {
      problems.add(
        where.spot,
        'not_allowed_here',
        'A granularity has an `offset` or an `origin`, and not both.',
      );
    }
    return name.text === '';
  };
  for (const item of raw.granularities) {
    if (wrong(item)) continue;
    const { name, title, interval, offset, origin } = item;
    if ((UNITS as readonly string[]).includes(name.text)) {
      const message = `The granularity \`${name.text}\` of \`${raw.name.text}\` is ignored, because \`${name.text}\` always means the built-in one.`;
      problems.note(name.spot, 'not_used', message, 'Give it a name of its own.');
      continue;
    }
    found.set(name.text, { name: name.text, title, interval, offset, origin });
  }
  return found;
}

export function resolveMeasure(cube: CubeNames, raw: RawMeasure, context: Context): Measure {
  const { problems } = context;
  const member = raw.name.text;
  const isNumber = raw.type === 'number';
  const scope: Scope = {
    cube,
    member,
    what: isNumber ? 'a measure' : `a measure of type \`${raw.type}\``,
    kinds: isNumber ? ['dimension', 'measure'] : ['dimension'],
  };
  const sql = raw.sql && resolveExpression(raw.sql, scope, context);
  if (!sql && raw.type !== 'count' && raw.where.keys.has('type')) {
    problems.add(raw.where.spot, 'missing_key', `A measure of type \`${raw.type}\` needs \`sql\`.`);
  }
  if (isNumber && raw.rolling_window) {
    const message = 'A measure of type `number` has no rolling window.';
    problems.add(
      atKey(raw, 'rolling_window'),
      'not_allowed_here',
      message,
      'Give it to the measures that it refers to.',
    );
  }
  if (isNumber && raw.filters.length && !sql?.some(isMeasureReference)) {
    const message = 'Filters of a `number` apply to the measures that it refers to, and it refers to none.';
    problems.add(atKey(raw, 'filters'), 'not_allowed_here', message);
  }
  const { rolling_window: window } = raw;
  if (window && window.trailing === undefined && window.leading === undefined) {
    problems.add(window.where.spot, 'missing_key', 'A rolling window needs `trailing` or `leading`.');
  }
  const condition: Scope = { cube, member, what: 'a filter of a measure', kinds: ['dimension', 'segment'] };
  return {
    ...describe(raw),
    type: raw.type,
    sql,
    filters: raw.filters.map((filter) => resolveExpression(filter.sql, condition, context)),
    rollingWindow: window && { trailing: window.trailing, leading: window.leading, offset: window.offset },
    format: raw.format,
    drillMembers: membersOf(raw.drill_members, cube, '`drill_members`', context, ['dimension', 'measure']),
  };
}

const membersOf = (
  names: readonly Name[],
  cube: CubeNames,
  what: string,
  context: Context,
  kinds: Scope['kinds'] = ['dimension'],
) => names.flatMap((name) => resolveNamed(name, { cube, what, kinds }, context) ?? []);

export const resolveSegment = (cube: CubeNames, raw: RawSegment, context: Context): Segment => ({
  ...describe(raw),
  sql: resolveExpression(
    raw.sql,
    { cube, member: raw.name.text, what: 'a segment', kinds: ['dimension', 'segment'] },
    context,
  ),
});

export const resolveHierarchy = (cube: CubeNames, raw: RawHierarchy, context: Context): Hierarchy => ({
  ...describe(raw),
  levels: membersOf(raw.levels, cube, 'a hierarchy', context).map((level) => ({
    cube: level.cube,
    dimension: level.member,
  })),
});
