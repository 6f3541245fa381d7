/** Rows as a table: sortable, with totals and bars. Only the rows that are in sight are in the board. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { cellColors } from '../cell-colors.ts';
import { canDrill, drillFrom } from '../drill-query.ts';
import type { DrawProps } from '../rows.ts';
import { useScrollHint } from '../scroll-hint.ts';
import { opensOn, useShared } from '../shared.ts';
import {
  type Column,
  formattedColumns,
  isWholeTable,
  largestOf,
  type Sort,
  sortedRows,
  sumsOf,
} from '../table.ts';
import type { Row } from '../types.ts';

const ROW_HEIGHT = 36;
const OVERSCAN = 8;
/** More rows are asked for when the end is this near. */
const MORE_WITHIN_PX = 20 * ROW_HEIGHT;
/** Below this, all rows are drawn: printing and searching in the page then find all of them. */
const VIRTUAL_FROM = 200;

export function Table({
  widgetId,
  title,
  snapshot,
  spec,
  rows: { rows, result, query, total },
  more,
}: DrawProps & {
  spec?: Record<string, unknown> | undefined;
  /** The further pages, for a table whose rows come in pages and are sorted by the server. */
  more?: { count: number; sort: Sort; setSort(sort: Sort): void; load(): void };
}) {
  const { board, drill, details = drill } = useShared();
  const { formats, say } = board;
  const { annotation } = result;
  // Details filter no other charts.
  const open = more ? details : drill;
  const opens = ({ isMeasure, member }: Column) =>
    isMeasure &&
    (more ? canDrill(annotation, member) : opensOn(board, { widgetId, annotation, member, query }));
  const all = formattedColumns(snapshot, { rows, result, query }, formats);
  const columns = [...all.filter(({ isPinned }) => isPinned), ...all.filter(({ isPinned }) => !isPinned)];
  // Only the first column can be pinned: the position of the next one would depend on its width.
  const pinned = columns[0]?.isPinned ? columns[0] : undefined;
  const classOf = (column: Column) => (column === pinned ? `${column.align} pinned` : column.align);
  const [first] = (Array.isArray(spec?.sort) ? spec.sort : []) as Sort[];
  const [ownSort, setOwnSort] = useState<Sort | undefined>(first);
  const [sort, setSort] = more ? [more.sort, more.setSort] : [ownSort, setOwnSort];
  const [top, setTop] = useState(0);
  const frame = useRef<HTMLDivElement>(null);
  useScrollHint(frame);

  const sorted = useMemo(
    () => (more ? rows : sortedRows(rows, columns, sort, formats)),
    [rows, sort?.member, sort?.desc, formats],
  );

  const largest = largestOf(rows, columns);
  const colors = new Map(columns.map((column) => [column.member, cellColors(rows, column)]));
  const isWhole = isWholeTable({ rows, result, query, total });
  const totals = total ?? sumsOf(rows, columns);
  const isVirtual = sorted.length >= VIRTUAL_FROM;
  const height = frame.current?.clientHeight || 600;
  const from = isVirtual ? Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN) : 0;
  const to = isVirtual
    ? Math.min(sorted.length, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN)
    : sorted.length;
  const cell = (row: Row, column: Column) => formats.value(row[column.member], column.shown, column.format);
  const press = ({ member }: Column) => {
    // Scroll to the beginning: after a sort, the rows in sight would be some in the middle.
    if (more) frame.current!.scrollTop = 0;
    setSort({
      member,
      desc:
        sort?.member === member
          ? !sort.desc
          : (columns.find((column) => column.member === member)?.isNumber ?? false),
    });
  };

  return (
    <div
      class={isVirtual ? 'table scrolls virtual' : 'table scrolls'}
      ref={frame}
      tabIndex={0}
      role="region"
      aria-label={title}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        if (isVirtual) setTop(scrollTop);
        if (scrollHeight - scrollTop - clientHeight < MORE_WITHIN_PX) more?.load();
      }}
    >
      <table aria-rowcount={(more?.count ?? sorted.length) + 1}>
        <caption class="hidden">{`${title}. ${say('rows', { count: formats.count(more?.count ?? rows.length) })}`}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.member}
                scope="col"
                class={classOf(column)}
                style={column.width ? { width: `${column.width}px` } : {}}
                aria-sort={sort?.member === column.member ? (sort.desc ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  title={say('sortBy', { title: column.title })}
                  onClick={() => press(column)}
                >
                  {column.title}
                  <span class="arrow" aria-hidden="true">
                    {sort?.member === column.member ? (sort.desc ? '↓' : '↑') : ''}
                  </span>
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {from > 0 && <Space rows={from} columns={columns.length} />}
          {sorted.slice(from, to).map((row, i) => (
            <tr key={from + i} aria-rowindex={from + i + 2}>
              {columns.map((column) => {
                const text = cell(row, column);
                const share = largest.get(column.member);
                return (
                  <td
                    key={column.member}
                    class={classOf(column)}
                    title={text}
                    style={{ backgroundImage: colors.get(column.member)?.(row[column.member]) ?? '' }}
                  >
                    {share ? (
                      <span
                        class="bar"
                        style={{ width: `${(Math.abs(Number(row[column.member]) || 0) / share) * 100}%` }}
                        aria-hidden="true"
                      />
                    ) : null}
                    {opens(column) ? (
                      <button
                        type="button"
                        class="drill"
                        onClick={() =>
                          open(
                            drillFrom({
                              widgetId,
                              title,
                              member: column.member,
                              row,
                              query,
                              value: row[column.member],
                              format: column.format,
                              annotation,
                            }),
                          )
                        }
                      >
                        {text}
                      </button>
                    ) : (
                      <span class="over">{text}</span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
          {to < sorted.length && <Space rows={sorted.length - to} columns={columns.length} />}
        </tbody>
        {spec?.totals === true && (
          <tfoot>
            <tr>
              {columns.map((column, i) => (
                <td key={column.member} class={column.align}>
                  {totals?.[column.member] !== undefined
                    ? formats.value(totals[column.member], column.shown, column.format)
                    : i === 0
                      ? say(isWhole ? 'total' : 'totalOf', { count: formats.count(rows.length) })
                      : ''}
                </td>
              ))}
            </tr>
          </tfoot>
        )}
      </table>
      {result.rowsCapped && <p class="note">{say('moreRows', { count: formats.count(rows.length) })}</p>}
    </div>
  );
}

const Space = ({ rows, columns }: { rows: number; columns: number }) => (
  <tr aria-hidden="true">
    <td colSpan={columns} style={{ height: `${rows * ROW_HEIGHT}px`, padding: 0 }} />
  </tr>
);
