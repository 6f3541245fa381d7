/**
 * What calculated fields mean, for this viewer. The names in them are looked up as all names of a query are, so a
 * viewer who may not query a member may not use it in a calculated field either, and policies count it as named.
 */
import type { DimensionType, Measure, MeasureFormat, Model } from '../../model.ts';
import type { Aliases } from '../aliases.ts';
import { queryError } from '../errors.ts';
import { typeOfMeasure } from '../measures.ts';
import type { DimensionMember, MeasureMember, Members } from '../members.ts';
import type { NamedMember } from '../named-member.ts';
import type { OutputColumn } from '../pages.ts';
import { columnOf, type Sql } from '../sql.ts';
import { ExpressionError, type Range } from './expressions.ts';
import { AGGREGATES, type Calculated, namesOf, type OverRowsField } from './fields.ts';
import { placeIn } from './read.ts';
import { overRows, type RowOrder } from './windows.ts';
import { type AggregateName, writeExpression } from './write.ts';

export interface FoundCalculated {
  /** Measures that are computed for the fields, beside those that the query shows. */
  readonly bases: readonly BaseColumn[];
  readonly fields: readonly FoundField[];
}

export interface BaseColumn {
  readonly column: string;
  readonly member: MeasureMember;
  readonly type: DimensionType;
}

export interface FoundField extends OutputColumn {
  readonly kind: 'measure';
  readonly title: string | undefined;
  readonly format: MeasureFormat | undefined;
  /** The selects below it: 0 for a column that is a measure itself. */
  readonly level: number;
  /** On the columns of the select below, which is called `BELOW`. */
  readonly sql: Sql;
}

export const BELOW = 'below';

export interface Finding {
  readonly model: Model;
  readonly members: Members;
  readonly aliases: Aliases;
  /** The columns that are members. */
  readonly outputs: readonly OutputColumn[];
  /** How the answer is ordered, by the keys of its columns. */
  readonly order: (columns: readonly OutputColumn[]) => readonly { name: string; descending: boolean }[];
}

/** Enough for fields that build on each other; each level is a select around the others. */
const LEVELS_MAX = 10;

export function findCalculated(calculated: readonly Calculated[], finding: Finding): FoundCalculated {
  const { model, members, aliases, outputs } = finding;
  const bases = new Map<string, BaseColumn>();
  const found = new Map<string, FoundField>();
  const ordered = orderedOnes(calculated);

  const baseOf = (id: string, member: MeasureMember): BaseColumn => {
    const base = bases.get(id) ?? {
      column: aliases.next(id),
      member,
      type: typeOfMeasure(model, member.measure),
    };
    bases.set(id, base);
    return base;
  };
  /** A measure, or a field that stands before this one. */
  const operand = (wanted: NamedMember, index: number) => {
    if (!wanted.name.includes('.')) {
      const field = calculated.slice(0, index).some(({ name }) => name === wanted.name)
        ? found.get(wanted.name)
        : undefined;
      if (field) return field;
      const message = `No calculated field before this one is called \`${wanted.name.slice(0, 100)}\`.`;
      throw queryError('invalid_query', message, wanted.path);
    }
    const member = members.measure(wanted);
    const shown = outputs.find(({ key }) => key === member.key);
    return { ...(shown ?? baseOf(member.key, member)), level: 0, format: member.measure.format };
  };
  const keys = outputs.filter(({ kind }) => kind !== 'measure');
  const keyOf = ({ name, path }: NamedMember) => {
    const key = keys.find((one) => one.key === name);
    if (key) return key;
    const message = 'This must be a dimension that the query asks for, such as `orders.created_at.month`.';
    throw queryError('invalid_query', message, path);
  };
  const aggregateOf = (dimension: DimensionMember, name: AggregateName, path: string) =>
    baseOf(`${name} ${dimension.key}`, aggregated(dimension, name, path));

  const overOthers = (field: Calculated & OverRowsField, index: number) => {
    const of = operand(field.of, index);
    if (of.type !== 'number')
      throw queryError('invalid_query', `\`${field.of.name}\` is not a number.`, field.of.path);
    const isByOrder = BY_ORDER.includes(field.kind);
    const given = field.along ? keyOf(field.along) : undefined;
    const along = given ?? (isByOrder ? keys.find(({ kind }) => kind === 'timeDimension') : undefined);
    const within = field.within ? field.within.map(keyOf) : along ? keys.filter((key) => key !== along) : [];
    // A field that depends on the order of the rows cannot be part of that order.
    const known = [...outputs, ...[...found.values()].filter(({ key }) => !ordered.has(key))];
    const answer = finding.order([...outputs, ...fieldsInOrder(calculated, found)]);
    const items = along
      ? [{ column: along, descending: false }]
      : answer.flatMap(({ name, descending }) => {
          const column = known.find(({ key }) => key === name);
          return column ? [{ column, descending }] : [];
        });
    const rest = keys.filter((key) => !items.some(({ column }) => column === key));
    const order = [...items, ...rest.map((column) => ({ column, descending: false }))]
      .filter(({ column }) => !within.includes(column))
      .map(({ column, descending }): RowOrder => {
        return { sql: columnOf(BELOW, column.column), isText: column.type === 'string', descending };
      });
    const levels = items.map(({ column }) => ('level' in column ? (column as FoundField).level : 0));
    return {
      type: 'number' as const,
      format: FORMATS[field.kind] ?? (field.kind === 'rank' ? undefined : of.format),
      level: 1 + Math.max(of.level, ...levels),
      sql: overRows(field, columnOf(BELOW, of.column), {
        within: within.map(({ column }) => columnOf(BELOW, column)),
        order,
      }),
    };
  };

  const ofExpression = (field: Extract<Calculated, { kind: 'expression' }>, index: number) => {
    let level = 0;
    const place = (at: Range) => placeIn(field.path, at);
    const made = writeExpression(field.tree, {
      value(name, at) {
        const wanted = { name, path: place(at) };
        const key = keys.find((one) => one.key === name);
        const column = key ? { ...key, level: 0 } : operand(checked(wanted), index);
        level = Math.max(level, column.level);
        return { type: column.type, sql: columnOf(BELOW, column.column) };
      },
      aggregate(name, dimension, at) {
        const wanted = checked({ name: dimension, path: place(at) });
        const { column, type } = aggregateOf(members.dimension(wanted), name, wanted.path);
        return { type, sql: columnOf(BELOW, column) };
      },
    });
    return { type: made.type!, format: undefined, level: level + 1, sql: made.sql };
  };

  const make = (field: Calculated, index: number): FoundField => {
    const { name, title, path } = field;
    const common = { key: name, kind: 'measure' as const, title };
    if (field.kind === 'aggregate') {
      const dimension = members.dimension(field.of);
      const { column, type } = aggregateOf(dimension, AGGREGATES[field.aggregate], field.of.path);
      const format =
        field.aggregate === 'countDistinct' ? undefined : numberFormat(dimension.dimension.format);
      return { ...common, column, type, format: field.format ?? format, level: 0, sql: [] };
    }
    const made = atItsPlace(path, () =>
      field.kind === 'expression' ? ofExpression(field, index) : overOthers(field, index),
    );
    if (made.level > LEVELS_MAX) {
      const message = `Calculated fields build on each other at most ${LEVELS_MAX} deep.`;
      throw queryError('unsupported_query', message, path);
    }
    return { ...common, ...made, column: aliases.next(name), format: field.format ?? made.format };
  };

  // The others first, because the rows may be ordered by them.
  for (const isOrdered of [false, true])
    calculated.forEach((field, i) => {
      if (ordered.has(field.name) === isOrdered) found.set(field.name, make(field, i));
    });
  return { bases: [...bases.values()], fields: fieldsInOrder(calculated, found) };
}

const fieldsInOrder = (calculated: readonly Calculated[], found: ReadonlyMap<string, FoundField>) =>
  calculated.flatMap(({ name }) => found.get(name) ?? []);

const FORMATS: Partial<Record<Calculated['kind'], MeasureFormat>> = {
  shareOfTotal: 'percent',
  percentDifference: 'percent',
};

const numberFormat = (format: string | undefined) =>
  format === 'currency' || format === 'percent' ? format : undefined;

const BY_ORDER: readonly string[] = ['difference', 'percentDifference', 'runningTotal', 'movingAverage'];

/** The fields that depend on which row is before another, by themselves or through others. */
function orderedOnes(calculated: readonly Calculated[]): ReadonlySet<string> {
  const ordered = new Set<string>();
  for (const field of calculated) {
    const isByOthers = namesOf(field).some(({ name }) => ordered.has(name));
    if (BY_ORDER.includes(field.kind) || isByOthers) ordered.add(field.name);
  }
  return ordered;
}

const MEMBER = /^\w+(\.\w+)?$/;

/** `orders.created_at.month` is a name only where the query asks for it. */
function checked(wanted: NamedMember): NamedMember {
  if (MEMBER.test(wanted.name) && wanted.name.split('.').every((part) => part.length <= 128)) return wanted;
  const message = 'This must be a measure, another calculated field, or a dimension that the query asks for.';
  throw queryError('invalid_query', message, wanted.path);
}

/** A measure of this query alone. Model names cannot have a blank. */
function aggregated(dimension: DimensionMember, name: AggregateName, path: string): MeasureMember {
  const { type } = dimension.dimension;
  const takes =
    name === 'count_distinct' || type === 'number' || (type === 'time' && /^m(in|ax)$/.test(name));
  if (!takes) {
    const message = `\`${name}\` does not take \`${dimension.key}\`, which is of type \`${type}\`.`;
    throw queryError('invalid_query', message, path);
  }
  const { cube } = dimension;
  const measure: Measure = {
    name: `${name} ${dimension.dimension.name}`,
    title: undefined,
    description: undefined,
    meta: undefined,
    public: true,
    type: name,
    sql: [
      {
        kind: 'dimension',
        cube: cube.name,
        member: dimension.dimension.name,
        path: [cube.name],
        granularity: undefined,
      },
    ],
    filters: [],
    rollingWindow: undefined,
    format: undefined,
    drillMembers: [],
  };
  return { kind: 'measure', key: dimension.key, cube, path: dimension.path, measure };
}

function atItsPlace<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof ExpressionError)
      throw queryError('invalid_query', error.message, placeIn(path, error.at));
    throw error;
  }
}
