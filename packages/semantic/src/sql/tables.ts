/** A cube or a view as a table: the rows and columns that the viewer may see, and nothing else. */
import type { Model } from '../model.ts';
import type { Budget } from '../plan/budget.ts';
import { queryError } from '../plan/errors.ts';
import { behindPolicies } from '../plan/fences.ts';
import { keySql, type PlanContext } from '../plan/groups.ts';
import { homeOf } from '../plan/homes.ts';
import {
  aggregate,
  expandMeasure,
  type InheritedFilter,
  typeOfMeasure,
  valueOfRow,
} from '../plan/measures.ts';
import { createMembers, findMember, type MeasureMember, type Member } from '../plan/members.ts';
import type { Dialect } from '../plan/render.ts';
import { createRows, type Rows } from '../plan/rows.ts';
import { type Column, type Select, type Sql, shownInUtc, sql } from '../plan/sql.ts';
import { subQueryOf } from '../plan/sub-queries.ts';
import type { Viewer } from '../plan/viewer.ts';
import { createNow } from '../times/ranges.ts';
import { UTC } from '../times/zones.ts';
import { unsupported } from './tree.ts';

export interface Governed {
  readonly model: Model;
  readonly viewer: Viewer;
  readonly nowMs: number;
  readonly budget: Budget;
  /** Throws a `QueryError` if SQL can not run in this data source. */
  dialect(dataSource: string): Dialect;
}

export interface Table {
  readonly name: string;
  readonly dataSource: string;
  /** The columns of `*`: the dimensions. */
  readonly columns: readonly string[];
  /** The name of the column in the rows. Undefined if the viewer can not use such a column. */
  use(column: string): string | undefined;
  isMeasure(name: string): boolean;
  measureNames(): readonly string[];
  /** The measure, aggregated over the rows that the alias stands for. Undefined if the viewer can not use it. */
  measure(name: string, alias: string): Sql | undefined;
  /** Once everything that the statement names was used. */
  rows(): { readonly select: Select; readonly cubes: readonly string[] };
}

interface Base {
  readonly column: string;
  readonly member: MeasureMember;
  readonly inherited: readonly InheritedFilter[];
}

/** Undefined if there is no such cube or view that the viewer can use. */
export function openTable(governed: Governed, name: string): Table | undefined {
  const { model, viewer } = governed;
  const owner = model.views.get(name) ?? model.cubes.get(name);
  if (!owner) return undefined;
  const known = new Map<string, Member | undefined>();
  const find = (member: string) => {
    if (!known.has(member)) known.set(member, findMember(model, name, member, viewer));
    return known.get(member);
  };
  const members = 'members' in owner ? [...owner.members.keys()] : [...owner.dimensions.keys()];
  const columns = members.filter((member) => find(member)?.kind === 'dimension');
  const [first] = columns;
  if (first === undefined) return undefined;

  const { dataSource } = find(first)!.cube;
  const used = new Map<string, string>();
  const measures = new Set<string>();
  const bases = new Map<string, Base>();

  const baseOf = (member: MeasureMember, inherited: readonly InheritedFilter[], alias: string): Sql => {
    const id = JSON.stringify([member.key, member.path, inherited]);
    const base = bases.get(id) ?? { column: `m${bases.size + 1}`, member, inherited };
    bases.set(id, base);
    const isPlainCount = member.measure.type === 'count' && !hasValue(base);
    return aggregate(member.measure.type, isPlainCount ? undefined : [`${alias}.${base.column}`]);
  };

  return {
    name,
    dataSource,
    columns,
    use(column) {
      const kind = find(column)?.kind;
      if (kind !== 'dimension' && kind !== 'segment') return undefined;
      if (!used.has(column)) used.set(column, `c${used.size + 1}`);
      return used.get(column);
    },
    isMeasure: (member) => find(member)?.kind === 'measure',
    measureNames: () =>
      [...('members' in owner ? owner.members : owner.measures).keys()].filter(
        (member) => find(member)?.kind === 'measure',
      ),
    measure(measure, alias) {
      const member = find(measure);
      if (member?.kind !== 'measure') return undefined;
      measures.add(measure);
      const context = { model, dialect: governed.dialect(dataSource), budget: governed.budget };
      const made = expandMeasure(context, member, (part, inherited) => baseOf(part, inherited, alias));
      return typeOfMeasure(model, member.measure) === 'time' ? shownInUtc(made) : made;
    },
    rows() {
      // A policy must open something of the table, even if the statement only counts its rows.
      const names = used.size || measures.size ? used : new Map([[first, 'c1']]);
      return rowsOf(governed, name, { columns: names, measures, bases: [...bases.values()] });
    },
  };
}

interface Used {
  /** The names of the columns in the rows, by the names of the members. */
  readonly columns: ReadonlyMap<string, string>;
  readonly measures: ReadonlySet<string>;
  readonly bases: readonly Base[];
}

function rowsOf(governed: Governed, table: string, { columns, measures, bases }: Used) {
  const { model, viewer, nowMs } = governed;
  const members = createMembers(model, viewer);
  const find = (name: string) => members.find({ name: `${table}.${name}`, path: '' });
  const found = [...columns].map(([name, column]) => ({ column, member: find(name) }));
  for (const measure of measures) find(measure);
  const context: PlanContext = {
    model,
    viewer,
    now: createNow(nowMs),
    budget: governed.budget,
    dialect: governed.dialect((found[0]?.member ?? bases[0]!.member).cube.dataSource),
    zone: UTC,
    cubes: new Set(),
    named: members.named,
    view: members.view,
    subQuery: (rows, node, dimension) =>
      subQueryOf(context, rows, node, node.cube.dimensions.get(dimension)!),
  };
  const paths = found.map(({ member }) => member.path);
  const rows = createRows(context, bases[0]?.member.path ?? homeOf(model, paths));
  const made = [
    ...found.map(({ member, column }): Column => ({ name: column, sql: columnSql(rows, member) })),
    ...bases.flatMap((base): Column[] => {
      const rowValue = rowValueOf(rows, base);
      return rowValue ? [{ name: base.column, sql: rowValue }] : [];
    }),
  ];
  const source = behindPolicies(rows, context, []);
  for (const { member } of bases) requireOnce(rows, member);
  const select: Select = {
    // A count of rows needs no column, but a select has one.
    columns: made.length ? made : [{ name: 'c1', sql: sql`1` }],
    from: rows.from,
    ...source,
    isClosed: isGuarded(context),
  };
  return { select, cubes: [...context.cubes] };
}

function columnSql(rows: Rows, member: Member): Sql {
  if (member.kind === 'segment') return rows.segment(rows.at(member.path), member.segment.name);
  if (member.kind === 'measure') throw new Error('Measures are no columns.');
  return keySql(rows, { member, granularity: undefined });
}

const hasValue = ({ member: { measure }, inherited }: Base) =>
  measure.sql !== undefined || measure.filters.length > 0 || inherited.length > 0;

function rowValueOf(rows: Rows, { member, inherited }: Base): Sql | undefined {
  const { measure, path, key } = member;
  if (measure.rollingWindow || measure.type === 'number') {
    throw unsupported(`\`${key}\` is more than a combination of aggregates, so SQL can not use it.`);
  }
  const node = rows.at(path);
  if (node !== rows.root) throw repeated(key);
  return valueOfRow(rows, node, measure, inherited);
}

/** Each row of the measure's cube must be there once, or it would count several times. */
function requireOnce(rows: Rows, { key }: MeasureMember) {
  if (rows.nodes.some(({ multiplied }) => multiplied)) throw repeated(key);
}

const repeated = (key: string) =>
  queryError(
    'unsupported_query',
    `The columns beside \`${key}\` repeat the rows that it is computed from. Ask for them in another SELECT, or by a JSON query.`,
  );

/**
 * Whether conditions of the statement must stay outside: one that fails for a row which the viewer may not see would
 * tell that there is such a row, and what is in it.
 */
function isGuarded({ model, cubes, view }: PlanContext): boolean {
  if (view?.policies.length) return true;
  return [...cubes].some((name) => {
    const { policies, from } = model.cubes.get(name)!;
    return policies.length > 0 || 'query' in from;
  });
}
