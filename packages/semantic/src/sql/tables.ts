/** A cube or a view as a table: the rows and columns that the viewer may see, and nothing else. */
import type { Expression } from '../model.ts';
import { guardDivisions } from '../plan/divisions.ts';
import type { Base } from '../plan/facts.ts';
import {
  aggregate,
  expandMeasure,
  type InheritedFilter,
  isOwnAggregate,
  referredMeasure,
  typeOfMeasure,
} from '../plan/measures.ts';
import { findMember, isHint, type MeasureMember, type Member } from '../plan/members.ts';
import { modelText } from '../plan/rows.ts';
import { joined, type Piece, type Select, type Sql, shownInUtc, sql } from '../plan/sql.ts';
import {
  keyOfPart,
  PART,
  type Part,
  type PartRows,
  type PolicyContext,
  partsBelow,
  rowsOfPart,
} from './parts.ts';
import { unsupported } from './tree.ts';

export type { PolicyContext } from './parts.ts';

export interface Table {
  readonly name: string;
  /** The name of its rows in the statement that runs, where it is joined with others. */
  readonly source: string;
  readonly dataSource: string;
  /** The columns of `*`, and of hints: the dimensions, without those that a policy shuts the viewer out of. */
  readonly columns: readonly string[];
  /** The name of the column in the rows. Undefined if the viewer cannot use such a column. */
  use(column: string): string | undefined;
  isMeasure(name: string): boolean;
  measureNames(): readonly string[];
  /** The measure, aggregated over the rows that the alias stands for. Undefined if the viewer cannot use it. */
  measure(name: string): Sql | undefined;
  /** For an aggregate of the statement itself: a condition by which it leaves out rows that are there for measures only. */
  ownRows(hasFilter: boolean): Sql;
  /** FROM and WHERE of the only select that reads the table, with what it groups by. */
  clauses(where: Sql | undefined, groupBy: readonly Sql[]): { readonly from: Sql; readonly where: Sql };
  /** Returns the selects of the rows. Call it once everything that the statement names was used. */
  rows(): { readonly selects: readonly NamedSelect[]; readonly cubes: readonly string[] };
}

export interface NamedSelect {
  readonly name: string;
  readonly select: Select;
}

/** Names in the statement that runs: of the rows, and of the table in its select. */
export interface Place {
  readonly source: string;
  readonly alias: string;
}

interface Layout {
  readonly parts: readonly PartRows[];
  /** Whether a row of the cube may be there several times in a group, by the path of the part. */
  isRepeated(path: readonly string[]): boolean;
  flagOf(path: readonly string[]): string;
  /** The number of the part with the rows of the table itself. */
  readonly ownPart: number;
}

/** Undefined if there is no such cube or view that the viewer can use. */
export function openTable(governed: PolicyContext, name: string, place: Place): Table | undefined {
  const { model, viewer } = governed;
  const view = model.views.get(name);
  const owner = view ?? model.cubes.get(name);
  if (!owner) return undefined;
  const known = new Map<string, Member | undefined>();
  const find = (member: string) => {
    if (!known.has(member)) known.set(member, findMember(model, name, member, viewer));
    return known.get(member);
  };
  const names = 'members' in owner ? [...owner.members.keys()] : [...owner.dimensions.keys()];
  const columns = names.filter((member) => find(member)?.kind === 'dimension');
  const [first] = columns;
  if (first === undefined) return undefined;
  const toldOf = (members: readonly string[], kind: Member['kind']) =>
    members.filter((member) => find(member)?.kind === kind && isHint(model, name, member, viewer));

  const { dataSource } = find(first)!.cube;
  const home = [view?.root ?? name];
  const { alias, source } = place;
  const used = new Map<string, string>();
  const measures = new Set<string>();
  const parts = new Map<string, Part>();
  let countsRows = false;
  // What depends on the columns of the whole statement is written at the end.
  const pending: ((layout: Layout) => void)[] = [];
  const later = (write: (layout: Layout) => Sql): Sql => {
    const made: Piece[] = [];
    pending.push((layout) => made.push(...write(layout)));
    return made;
  };

  const partAt = (path: readonly string[]): Part => {
    const id = path.join('.');
    const part = parts.get(id) ?? { path, bases: [], own: [] };
    parts.set(id, part);
    return part;
  };
  const newColumn = () =>
    `m${[...parts.values()].reduce((sum, { bases, own }) => sum + bases.length + own.length, 1)}`;

  const baseOf = (member: MeasureMember, inherited: readonly InheritedFilter[]): Sql => {
    const { measure, path, key } = member;
    if (measure.rollingWindow) throw unsupported(`\`${key}\` has a rolling window, so SQL cannot use it.`);
    if (isOwnAggregate(measure)) return ownOf(member);
    const part = partAt(path);
    const id = JSON.stringify([key, inherited]);
    let base: Base | undefined = part.bases.find(
      (one) => JSON.stringify([one.member.key, one.inherited]) === id,
    );
    if (!base) {
      base = { column: newColumn(), member, inherited };
      part.bases.push(base);
    }
    const { column } = base;
    return later(({ isRepeated, flagOf, parts: made }) => {
      const hasColumn = made.some(({ select }) => select.columns.some((one) => one.name === column));
      const value = aggregate(measure.type, hasColumn ? [`${alias}.${column}`] : undefined);
      const isOnce = !isRepeated(path) || !['count', 'sum', 'avg'].includes(measure.type);
      return isOnce ? value : sql`${value} filter (where ${alias}.${flagOf(path)})`;
    });
  };

  /** An aggregate that a `number` writes itself. The columns in it become columns of the rows. */
  const ownOf = (member: MeasureMember): Sql => {
    const { measure, key, path } = member;
    const part = partAt(path);
    const columnOf = (expression: Expression): Sql => {
      const column = newColumn();
      part.own.push({ column, measure: key, expression });
      return [`${alias}.${column}`];
    };
    const context = { budget: governed.budget, dialect: governed.dialect(dataSource) };
    const expression = measure.sql!;
    const written = expression.flatMap((piece, i): (string | Sql)[] => {
      const before = expression[i - 1];
      const afterTable = typeof before === 'object' && before.kind === 'table';
      if (typeof piece === 'string')
        return [modelText(context, afterTable ? piece.replace(COLUMN, '') : piece)];
      if (piece.kind === 'measure') {
        const referred = referredMeasure(model, member, piece);
        if (referred.path.join('.') !== path.join('.') || isOwnAggregate(referred.measure)) throw own(key);
        const context = { model, dialect: governed.dialect(dataSource), budget: governed.budget };
        return [sql`(${expandMeasure(context, referred, baseOf)})`];
      }
      if (piece.kind !== 'table') return [columnOf([piece])];
      const next = expression[i + 1];
      const column = typeof next === 'string' ? COLUMN.exec(next)?.[0] : undefined;
      if (column === undefined) throw own(key);
      return [columnOf([piece, column])];
    });
    return guardDivisions(written, context.dialect);
  };

  return {
    name,
    source,
    dataSource,
    columns: toldOf(columns, 'dimension'),
    use(column) {
      const kind = find(column)?.kind;
      if (kind !== 'dimension' && kind !== 'segment') return undefined;
      if (!used.has(column)) used.set(column, `c${used.size + 1}`);
      return used.get(column);
    },
    isMeasure: (member) => find(member)?.kind === 'measure',
    measureNames: () => toldOf([...('members' in owner ? owner.members : owner.measures).keys()], 'measure'),
    measure(measure) {
      const member = find(measure);
      if (member?.kind !== 'measure') return undefined;
      measures.add(measure);
      const context = { model, dialect: governed.dialect(dataSource), budget: governed.budget };
      const made = expandMeasure(context, member, baseOf);
      return typeOfMeasure(model, member.measure) === 'time' ? shownInUtc(made) : made;
    },
    ownRows(hasFilter) {
      countsRows = true;
      return later(({ parts: { length }, ownPart }) => {
        const condition = `${alias}.${PART} = ${ownPart}`;
        if (length === 1) return [];
        return hasFilter ? [`${condition} and `] : [` filter (where ${condition})`];
      });
    },
    clauses(where, groupBy) {
      const condition = where ? sql` where ${where}` : [];
      const isWrapped = ({ parts: made }: Layout) => made.length > 1 || made.some(({ keys }) => keys.length);
      return {
        where: later((layout) => (isWrapped(layout) ? [] : condition)),
        from: later((layout) => {
          const rows = rowsSql(source, layout.parts, [...used.values()]);
          if (!isWrapped(layout)) return sql`${rows} as ${alias}`;
          const several = layout.parts.length > 1;
          const flags = layout.parts.flatMap(({ keys }, i): Sql[] => {
            if (!keys.length) return [];
            const own = keys.map((key) => [`${alias}.${several ? keyOfPart(key, i) : key}`]);
            const by = [...groupBy, ...own, ...(several ? [[`${alias}.${PART}`]] : [])];
            return [sql`, row_number() over (partition by ${joined(by, ', ')}) = 1 as ${flag(i)}`];
          });
          return sql`(select ${alias}.*${joined(flags, '')} from ${rows} as ${alias}${condition}) as ${alias}`;
        }),
      };
    },
    rows() {
      if (countsRows || !parts.size) partAt(home);
      // A policy must open something of the table, even if the statement only counts its rows.
      const ofRoot = columns.find((column) => find(column)!.cube.name === home[0]);
      const isNothing = !used.size && !measures.size;
      // If nothing of the root is open, the policies of what is open decide about its rows.
      if (isNothing && ofRoot === undefined) used.set(first, 'c1');
      const named = isNothing ? [ofRoot ?? first] : [...used.keys(), ...measures];
      const made = [...parts.values()].map((part) =>
        rowsOfPart(governed, name, part, { columns: used, members: named }, { isOnly: parts.size === 1 }),
      );
      const ids = [...parts.keys()];
      const layout: Layout = {
        parts: made,
        isRepeated: (path) => made[ids.indexOf(path.join('.'))]!.keys.length > 0,
        flagOf: (path) => flag(ids.indexOf(path.join('.'))),
        ownPart: ids.indexOf(home.join('.')) + 1,
      };
      for (const write of pending) write(layout);
      return {
        selects: made.map(({ select }, i) => ({ name: partName(source, made, i), select })),
        cubes: made.flatMap(({ cubes }) => cubes),
      };
    },
  };
}

/** Behind a table. */
const COLUMN = /^\s*\.\s*(?:\w+|"(?:[^"]|"")+")/;

const own = (key: string) =>
  unsupported(`\`${key}\` is more than a combination of aggregates, so SQL cannot use it.`);

const flag = (part: number) => `f${part + 1}`;

const partName = (source: string, { length }: readonly PartRows[], i: number) =>
  length > 1 ? `${source}p${i + 1}` : source;

function rowsSql(source: string, parts: readonly PartRows[], columns: readonly string[]): Sql {
  if (parts.length === 1) return [source];
  const sources = parts.map((_, i) => partName(source, parts, i));
  return sql`(${partsBelow(sources, parts, columns)})`;
}
