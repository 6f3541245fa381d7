/** What the page and the worker that compiles the model tell each other. Both are plain values. */

export interface ShownProblem {
  file: string;
  line: number;
  column: number;
  message: string;
  hint: string | undefined;
  isError: boolean;
}

export interface KnownMember {
  name: string;
  kind: 'dimension' | 'measure' | 'segment' | 'hierarchy';
  type: string;
  title: string | undefined;
  description: string | undefined;
  /** Whether queries can ask for it. */
  isPublic: boolean;
}

export interface KnownCube {
  name: string;
  isView: boolean;
  file: string;
  line: number;
  title: string | undefined;
  description: string | undefined;
  /** The table that it reads; empty for a query, and for views. */
  table: string;
  /** The query that it reads, if it reads no table. */
  query: string;
  dataSource: string;
  members: KnownMember[];
  joins: { to: string; relationship: string }[];
  isOpen: boolean;
}

export interface CompileResult {
  problems: ShownProblem[];
  /** Of the last model that compiled, so that completion goes on while a file is half written. Only what is new or differs. */
  changed: KnownCube[];
  removed: string[];
}

export type Order =
  | { id: number; kind: 'compile'; changed: [path: string, text: string | null][]; isAll: boolean }
  | { id: number; kind: 'compare'; before: [path: string, text: string][] }
  | { id: number; kind: 'propose'; tables: DraftedTable[] }
  | { id: number; kind: 'rename'; cube: string; member: string; newName: string }
  | { id: number; kind: 'format'; texts: string[] }
  | { id: number; kind: 'draft'; tables: DraftedTable[]; dataSource: string | undefined };

export type Answer =
  | { id: number; kind: 'compiled'; compiled: CompileResult }
  | { id: number; kind: 'compared'; changes: MeaningChange[] | null }
  | { id: number; kind: 'renamed'; renamed: RenamedMember }
  | { id: number; kind: 'formatted'; texts: string[] }
  | { id: number; kind: 'proposed'; tables: DraftedTable[] }
  | { id: number; kind: 'drafted'; drafts: Draft[] };

export interface RenamedMember {
  files: [path: string, text: string][];
  places: number;
  /** What views call it, as `view.member`. */
  shownBy: { before: string; after: string }[];
  takenIn: string | undefined;
}

/** A table of a data source, with the keys and joins that its cube gets. */
export interface DraftedTable {
  schema: string;
  name: string;
  columns: { name: string; type: 'number' | 'time' | 'boolean' | 'string' | 'other' }[];
  primaryKey: string[];
  foreignKeys: { columns: string[]; toSchema: string; toTable: string; toColumns: string[] }[];
  /** Whether a person has checked the keys and joins, so that none is guessed. */
  isChosen?: boolean;
}

export interface Draft {
  table: string;
  path: string;
  text: string;
}

/** A change by meaning: `measure revenue of orders changed its filters`. */
export interface MeaningChange {
  /** `orders` or `orders.revenue`. */
  name: string;
  what: string;
  change: 'added' | 'removed' | 'changed';
  /** What of it changed, as the language names and writes it. */
  values: { key: string; from: string; to: string }[];
}
