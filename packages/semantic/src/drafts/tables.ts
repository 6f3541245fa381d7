/** Tables of a data source, as far as a draft needs them. */

export interface DraftTable {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly DraftColumn[];
  readonly primaryKey: readonly string[];
  readonly foreignKeys: readonly DraftForeignKey[];
  /** Whether a person has checked the keys and joins, so that none is guessed. */
  readonly isChosen?: boolean;
}

export interface DraftColumn {
  readonly name: string;
  /** Columns of other types than a dimension can have are left out. */
  readonly type: 'number' | 'time' | 'boolean' | 'string' | 'other';
}

export interface DraftForeignKey {
  readonly columns: readonly string[];
  readonly toSchema: string;
  readonly toTable: string;
  readonly toColumns: readonly string[];
}
