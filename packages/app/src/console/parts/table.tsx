/** A list of the console as a table. Columns for wide screens leave on phones. */
import type { ComponentChildren } from 'preact';
import type { LoadState } from '../../data/cache.ts';
import { Empty, Failed, Skeleton } from '../../parts/states.tsx';
import { say } from '../say.ts';

export interface Column<Row> {
  title: string;
  cell(row: Row): ComponentChildren;
  isNumber?: boolean;
  /** Not shown on phones. */
  isWide?: boolean;
  /** Buttons: the head of the column is read but not seen. */
  isActions?: boolean;
}

export interface TableProps<Row> {
  /** What the table lists, for screen readers. */
  label: string;
  loaded: LoadState<RowList<Row>>;
  columns: readonly Column<Row>[];
  keyOf(row: Row): string | number;
  empty: string;
  /** What to do if there is nothing. */
  emptyHint?: string | undefined;
  more?: (() => void) | undefined;
}

export interface RowList<Row> {
  items: readonly Row[];
  hasMore: boolean;
}

export function Table<Row>({ label, loaded, columns, keyOf, empty, emptyHint, more }: TableProps<Row>) {
  const { data, problem, reload, isLoading } = loaded;
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  if (data.items.length === 0) return <Empty title={empty} {...(emptyHint && { hint: emptyHint })} />;
  const classOf = ({ isNumber, isWide, isActions }: Column<Row>) =>
    [isNumber && 'number', isWide && 'wide-only', isActions && 'narrow'].filter(Boolean).join(' ');
  /** What a row is about needs no title on a phone. */
  const titled = columns.find(({ isActions }) => !isActions);
  return (
    <>
      <div class="console-table" role="region" aria-label={label} tabIndex={0}>
        <table class="items stacked" aria-busy={isLoading}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column.title} scope="col" class={classOf(column)}>
                  {column.isActions ? <span class="hidden">{column.title}</span> : column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.items.map((row) => (
              <tr key={keyOf(row)}>
                {columns.map((column) => (
                  <td
                    key={column.title}
                    class={classOf(column)}
                    data-title={column === titled || column.isActions ? undefined : column.title}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {data.hasMore && more && (
        <div class="actions">
          <button type="button" disabled={isLoading} onClick={more}>
            {say('more')}
          </button>
        </div>
      )}
    </>
  );
}
