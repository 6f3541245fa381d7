/** The shapes that pages read from the server. All of them were written by users: nothing in them is trusted. */

export type Row = Record<string, unknown>;

export interface TimeDimension {
  dimension: string;
  granularity?: string;
  dateRange?: string | string[];
}

export interface Query {
  measures?: string[];
  dimensions?: string[];
  timeDimensions?: TimeDimension[];
  filters?: unknown[];
  segments?: string[];
  /** Columns that are computed for this query alone. */
  calculated?: { name: string; kind?: string; of?: string }[];
  order?: unknown;
  limit?: number;
  timezone?: string;
  [other: string]: unknown;
}

export interface FieldDisplay {
  title: string;
  shortTitle: string;
  type: string;
  format?: string;
  meta?: unknown;
  granularity?: { name: string; interval?: string };
  /** The members that show the rows behind a measure. */
  drillMembersGrouped?: { dimensions: string[] };
  /** Set by us. */
  isDimension?: boolean;
}

export interface Annotation {
  measures: Record<string, FieldDisplay>;
  dimensions: Record<string, FieldDisplay>;
  timeDimensions: Record<string, FieldDisplay>;
}

export interface Result {
  query: Query;
  annotation: Annotation;
  data: Row[];
  rowsCapped?: boolean;
  /** How many rows there are, if the query asks for it. */
  total?: number;
}

export interface Position {
  x: number;
  y: number;
  w: number;
  h: number;
}

export type Breakpoint = 'lg' | 'md' | 'sm' | 'xs' | 'xxs';

export interface Widget {
  id: string;
  type: 'CHART' | 'TEXT' | 'FILTER' | 'AI' | 'TIME_GRAIN' | 'SPACER' | 'DIVIDER' | 'CONTAINER' | 'APP';
  position: Position;
  responsiveLayouts?: Partial<Record<Breakpoint, Position | null>> | null;
  // biome-ignore lint/suspicious/noExplicitAny: each kind of widget has fields of its own
  config?: Record<string, any> | null;
}

export interface Offset {
  amount: number;
  unit: string;
}

export interface PeriodComparison {
  measure: string;
  offset: Offset;
  outputs?: string[] | null;
  timeDimension: string;
}

export interface ColumnFormat {
  type: 'currency' | 'percent' | 'number';
  decimalPlaces?: number | null;
}

export interface Snapshot {
  reportId: number;
  name?: string | null;
  title?: string | null;
  description?: string | null;
  kind?: 'vega' | 'table' | 'kpi' | 'html' | 'map' | null;
  // biome-ignore lint/suspicious/noExplicitAny: each kind has a spec of its own
  spec?: any;
  /** `problem`: why the server refuses to show it. */
  meta?: { query?: Query; problem?: string } | null;
  fillMissingRows?: { member: string; excludedDimensions?: string[] | null } | null;
  periodComparisons?: PeriodComparison[] | null;
  preferences?: { columnFormats?: Record<string, ColumnFormat> | null; tooltip?: string[] | null } | null;
}

export interface Dashboard {
  publicId: string;
  deploymentId: number;
  workbookId?: number;
  title?: string | null;
  description?: string | null;
  restrictDataDownload?: boolean | null;
  reportSnapshots: Snapshot[];
  /** Reports that were asked for and are not here yet: their charts are not missing. */
  pendingReports?: ReadonlySet<number> | undefined;
  config: {
    kind?: 'CLASSIC' | 'APP' | null;
    title?: string | null;
    description?: string | null;
    app?: ApplicationSource | null;
    layout?: {
      breakpoints?: Partial<Record<Breakpoint, number | null>> | null;
      /** For each width of the page, or for all of them. */
      cols?: Partial<Record<Breakpoint, number | null>> | number | null;
      margin?: number[] | null;
      rowHeight?: number | null;
    } | null;
    settings?: { timezone?: string; locale?: string; refreshSeconds?: number } | null;
    theme?: Record<string, unknown> | null;
    widgets?: Widget[] | null;
  };
}

export interface AccountConfig {
  embedding?: { locale?: string | null; timezone?: string | null; showDashboardChat?: boolean | null } | null;
  timezoneSettings?: { timezone?: string | null } | null;
  appTheme?: Record<
    'light' | 'dark',
    { accentColor: string; backgroundColor: string; foregroundColor: string }
  > | null;
}

export interface MetaCube {
  name: string;
  measures: { name: string; drillMembersGrouped: { dimensions: string[] } }[];
  dimensions: { name: string; type: string; aliasMember?: string }[];
}

export interface FilterValue {
  operator: string;
  value: unknown;
}

/** A problem that a page can show: what happened, and what the viewer can do. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** What `app` of a dashboard holds. */
export interface ApplicationSource {
  entry?: string | null;
  files?: Record<string, string> | null;
  html?: string | null;
}
