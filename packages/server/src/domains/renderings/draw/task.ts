/** What is sent to the thread that draws, and what it answers. */
import type { Dashboard, FilterValue, Narrowing, Rows, Scheme, ThemeOptions } from '@oriel/charts/pure';

export type PictureFormat = 'png' | 'pdf';

export interface DrawTask {
  dashboard: Dashboard;
  filters: [string, FilterValue][];
  grains: [string, string][];
  crossFilters: [widgetId: string, { narrowings: Narrowing[] }][];
  timezone: string | undefined;
  /** When the rows were asked for, in milliseconds. */
  askedAt: number;
  /** The answer of the query API for each chart, as JSON. */
  answers: [widgetId: string, answer: Uint8Array][];
  scheme: Scheme;
  themeOverrides: ThemeOptions[];
  locale: string;
  format: PictureFormat;
}

/** A figure of the dashboard, in words. */
export interface HeadlineFigure {
  title: string;
  text: string;
  change?: { text: string; note: string; isGood?: boolean };
}

export interface SmallTable {
  title: string;
  columns: { title: string; align: 'left' | 'right' | 'center' }[];
  rows: string[][];
  /** How many rows the dashboard has beyond these. */
  more: number;
}

export interface Drawing {
  bytes: Uint8Array;
  /** The width of a PNG, at its size on a screen. */
  width: number;
  height: number;
  title: string;
  /** The filters and grains in force. */
  inForce: { title: string; text: string }[];
  /** The time and zone of the data. */
  asOf: string;
  figures: HeadlineFigure[];
  table: SmallTable | undefined;
}

/** `isBlank` if the picture has one colour only. */
export type DrawAnswer = Drawing | { failure: { title: string; reason: string; isBlank?: boolean } };

/** A dashboard with its rows. */
export interface DrawnBoard {
  dashboard: Dashboard;
  rows: ReadonlyMap<string, Rows>;
  /** The ids of the charts. */
  order: readonly string[];
}
