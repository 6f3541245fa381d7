/** What the page and the frame of an application say to each other, over a port of their own. */
import type { ApplicationSource, FilterValue, Row } from '../types.ts';

/** What an application may know of its page. It changes while the application runs. */
export interface Settings {
  locale: string;
  timezone: string | null;
  /** The colours and the font of the page. */
  theme: object;
  filters: Record<string, FilterValue>;
}

export interface DashboardDescription {
  title: string;
  description: string | null;
  /** The charts, whose rows can be asked for. */
  charts: { id: string; title: string | null; kind: string | null }[];
  /** The members that can be filtered. */
  filters: { member: string; title: string | null }[];
}

export interface Start {
  source: ApplicationSource;
  dashboard: DashboardDescription;
  settings: Settings;
}

export interface Column {
  member: string;
  title: string;
  type: string;
}

export interface Answer {
  rows: Row[];
  columns: Column[];
}

/** To the application. `changed` comes when rows should be asked for again. */
export type ToApplication =
  | { type: 'rows'; id: number; answer: Answer }
  | { type: 'failed'; id: number; code: string; message: string }
  | { type: 'changed'; settings: Settings };

/** From the application, as JSON. Its author may have written anything else. */
export type FromApplication =
  | { type: 'started' }
  | { type: 'load'; id: number; chart: string }
  | { type: 'filter'; member: string; filter: FilterValue | null };
