/**
 * A data model that was checked: every reference is resolved, and nothing of it changes. It consists of plain values and
 * maps, so that it can be sent from one thread to another.
 */

/** The first character of a file is in line 1, column 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface Model {
  readonly cubes: ReadonlyMap<string, Cube>;
  readonly views: ReadonlyMap<string, View>;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** What people read about a cube, a view or a member. */
export interface ModelElement {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly meta: Json | undefined;
  /** Whether queries may name it. Views may include it in any case. */
  readonly public: boolean;
}

export interface Cube extends ModelElement {
  readonly place: Place;
  readonly dataSource: string;
  /** The name of a table or view of the data source, or a query in its SQL. */
  readonly from: { readonly table: string } | { readonly query: string };
  readonly dimensions: ReadonlyMap<string, Dimension>;
  readonly measures: ReadonlyMap<string, Measure>;
  readonly segments: ReadonlyMap<string, Segment>;
  readonly hierarchies: ReadonlyMap<string, Hierarchy>;
  /** The names of the dimensions that identify a row. */
  readonly primaryKey: readonly string[];
  /** The edges of the join graph that begin here: the joins of this cube, and those of others, turned around. */
  readonly joins: ReadonlyMap<string, Join>;
  /** Empty if the cube is open to people who may query the deployment, and closed to embed viewers. */
  readonly policies: readonly Policy[];
  readonly refreshKey: RefreshKey | undefined;
}

/** How long results that read the cube are cached. */
export interface RefreshKey {
  /** Time to live of cached results; or, if there is a query below, how often that query runs. */
  readonly everySeconds: number | undefined;
  /** A query in the SQL of the data source. Results stay cached as long as it returns the same. */
  readonly sql: string | undefined;
}

export type Relationship = 'many_to_one' | 'one_to_many' | 'one_to_one';

export interface Join {
  readonly to: string;
  /** Seen from the cube that holds this edge. */
  readonly relationship: Relationship;
  readonly sql: Expression;
}

/** SQL with references in it. The texts between them are kept as they were written. */
export type Expression = readonly (string | Reference)[];

export type Reference = TableReference | MemberReference;

/** The rows of a cube, as the planner names them: `{CUBE}` or `{orders}`. */
export interface TableReference {
  readonly kind: 'table';
  readonly cube: string;
  /** The cubes to go through, from the cube of the expression to `cube`. The planner chooses if only `cube` was given. */
  readonly path: readonly string[];
}

export interface MemberReference {
  readonly kind: 'dimension' | 'measure' | 'segment';
  readonly cube: string;
  readonly member: string;
  readonly path: readonly string[];
  /** For `{created_at.month}`. */
  readonly granularity: string | undefined;
}

export type DimensionType = 'string' | 'number' | 'boolean' | 'time';
export type DimensionFormat = 'imageUrl' | 'link' | 'id' | 'currency' | 'percent' | 'number';

export interface Dimension extends ModelElement {
  readonly type: DimensionType;
  readonly value: Expression | Case;
  readonly primaryKey: boolean;
  /** The value is a measure of other cubes, computed for each row of this one. */
  readonly subQuery: boolean;
  readonly format: DimensionFormat | undefined;
  readonly granularities: ReadonlyMap<string, Granularity>;
}

export interface Case {
  readonly when: readonly { readonly condition: Expression; readonly label: Label }[];
  readonly otherwise: Label | undefined;
}
export type Label = { readonly text: string } | { readonly sql: Expression };

export type Unit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';
export type Interval = readonly { readonly count: number; readonly unit: Unit }[];

export interface Granularity {
  readonly name: string;
  readonly title: string | undefined;
  readonly interval: Interval;
  readonly offset: Interval | undefined;
  /** The time at which one of the periods begins: a date, or a date and a time. */
  readonly origin: string | undefined;
}

export type MeasureType =
  | 'count'
  | 'count_distinct'
  | 'count_distinct_approx'
  | 'sum'
  | 'avg'
  | 'min'
  | 'max'
  | 'number';
export type MeasureFormat = 'currency' | 'percent' | 'number';

export interface Measure extends ModelElement {
  readonly type: MeasureType;
  /** What is aggregated. Only a `count` can do without it. */
  readonly sql: Expression | undefined;
  /** Conditions on rows, all of which must be true. Those of a `number` apply to each measure that it refers to. */
  readonly filters: readonly Expression[];
  readonly rollingWindow: RollingWindow | undefined;
  readonly format: MeasureFormat | undefined;
  /** Dimensions and measures to show when people look at the rows behind a number. */
  readonly drillMembers: readonly MemberReference[];
}

export interface RollingWindow {
  readonly trailing: Interval | 'unbounded' | undefined;
  readonly leading: Interval | 'unbounded' | undefined;
  readonly offset: 'start' | 'end';
}

export interface Segment extends ModelElement {
  readonly sql: Expression;
}

export interface Hierarchy extends ModelElement {
  /** The levels, from the coarsest to the finest. */
  readonly levels: readonly { readonly cube: string; readonly dimension: string }[];
}

export interface View extends ModelElement {
  readonly place: Place;
  /** The first cube of its join paths. Every query of the view reads rows of this cube, and joins the others to them. */
  readonly root: string;
  readonly members: ReadonlyMap<string, ViewMember>;
  readonly hierarchies: ReadonlyMap<string, ViewHierarchy>;
  readonly folders: readonly ViewFolder[];
  readonly policies: readonly Policy[];
}

export interface ViewMember extends ModelElement {
  readonly kind: 'dimension' | 'measure' | 'segment';
  readonly cube: string;
  readonly member: string;
  /** The cubes to go through, the first and the last included. */
  readonly path: readonly string[];
  readonly format: DimensionFormat | MeasureFormat | undefined;
}

export interface ViewHierarchy {
  readonly name: string;
  readonly title: string | undefined;
  /** Names of members of the view. */
  readonly levels: readonly string[];
}

/** For people who look for members: it changes nothing about queries. */
export interface ViewFolder {
  readonly name: string;
  /** Names of members of the view, and folders. */
  readonly members: readonly (string | ViewFolder)[];
}

/** The viewers that a policy admits, and the rows and members that it opens to them. */
export interface Policy {
  /** `*` admits everybody. */
  readonly groups: readonly string[] | '*';
  /** The condition on the rows; undefined opens all rows. */
  readonly rows: Condition | undefined;
  /** The names of the members that it opens, of all kinds. */
  readonly members: ReadonlySet<string>;
}

export type Condition =
  | { readonly and: readonly Condition[] }
  | { readonly or: readonly Condition[] }
  | Comparison;

export interface Comparison {
  /** The name of a dimension of the cube or view that has the policy. */
  readonly member: string;
  readonly operator: Operator;
  readonly values: readonly PolicyValue[];
}

export type PolicyValue =
  /** A value as the file writes it, so that no digit is lost. */
  | { readonly literal: string }
  /** A value of the viewer: `{ userAttributes.region }` or `{ securityContext.customer.id }`. */
  | { readonly viewer: 'userAttributes' | 'securityContext'; readonly path: readonly string[] };

export type Operator =
  | 'equals'
  | 'notEquals'
  | 'contains'
  | 'notContains'
  | 'startsWith'
  | 'notStartsWith'
  | 'endsWith'
  | 'notEndsWith'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'set'
  | 'notSet'
  | 'inDateRange'
  | 'notInDateRange'
  | 'beforeDate'
  | 'beforeOrOnDate'
  | 'afterDate'
  | 'afterOrOnDate';
