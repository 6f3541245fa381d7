/** What charts are made of: the settings of a report, its query, and what the model says about its members. */
import type { ReportChart, Visualization } from '@oriel/contract';

export type { Visualization };
export type VisualizationType = Visualization['type'];
/** What `meta.chart` of a report holds, and what pages draw. */
export type Chart = ReportChart;

export interface TimeDimension {
  dimension: string;
  granularity?: string;
  dateRange?: string | string[];
}

/** A column that is computed for the query alone. */
export interface CalculatedField {
  name: string;
  kind?: string;
  title?: string;
  format?: string;
}

/** The part of a query that decides which columns its rows have. */
export interface QueryColumns {
  measures?: readonly string[];
  dimensions?: readonly string[];
  timeDimensions?: readonly TimeDimension[];
  calculated?: readonly CalculatedField[];
  [other: string]: unknown;
}

/** What an answer or the model says about a member. */
export interface MemberInfo {
  shortTitle: string;
  /** `string`, `number`, `boolean`, `time` or `geo`. */
  type: string;
  format?: string;
}

/** Describes a member; undefined if neither the model nor the query does. */
export type Describe = (member: string) => MemberInfo | undefined;

/** Why settings cannot be drawn, with the place in them. */
export class VisualizationError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}
