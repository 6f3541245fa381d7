/** Rows as a table: sortable, with totals and bars. Only the rows that are in sight are in the board. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { canDrill, drillFrom } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import { isPlainTime } from '../query.ts';
import type { DrawProps } from '../rows.ts';
import { useScrollHint } from '../scroll-hint.ts';
import { useShared } from '../shared.ts';
import type { Annotation, ColumnFormat, Query, Row, Shown, Snapshot } from '../types.ts';

const ROW_HEIGHT = 36;
const OVERSCAN = 8;
/** More rows are asked for when the end is this near. */
const MORE_WITHIN_PX = 20 * ROW_HEIGHT;
/** Below this, all rows are drawn: printing and searching in the page then find all of them. */
const VIRTUAL_FROM = 200;

export interface Column {
  member: string;
  title: string;
  shown: Shown | undefined;
  format: ColumnFormat | null | undefined;
  isNumber: boolean;
  align: string;
  width: number | undefined;
  hasBar: boolean;
  isMeasure: boolean;
}

export interface Sort {
  member: string;
  desc: boolean;
}

export function columnsOf(rows: Row[], annotation: Annotation, query: Query, snapshot: Snapshot): Column[] {
  const spec = snapshot.kind === 'table' ? snapshot.spec : undefined;
  const times = (query.timeDimensions ?? [])
    .filter(({ granularity }) => granularity)
    .map(({ dimension, granularity }) => `${dimension}.${granularity}`);
  const known = [...times, ...(query.dimensions ?? []), ...(query.measures ?? [])];
  const computed = Object.keys(rows[0] ?? {}).filter(
    (key) => /\.(previous|change|percent)$/.test(key) && !known.includes(key),
  );
  const given: {
    member: string;
    title?: string;
    width?: number;
    align?: string;
    format?: ColumnFormat;
    bar?: boolean;
  }[] =
    Array.isArray(spec?.columns) && spec.columns.length
      ? spec.columns
      : [...known, ...computed].map((member) => ({ member }));
  return given
    .filter(({ member }) => typeof member === 'string')
    .map(({ member, title, width, align, format, bar }) => {
      // A column may name a time without its granularity, which the viewer may have changed.
      const key =
        rows[0] && (!(member in rows[0]) || isPlainTime(query, member))
          ? (times.find((time) => time.startsWith(`${member.split('.').slice(0, 2).join('.')}.`)) ?? member)
          : member;
      const shown = shownOf(annotation, key);
      const isNumber = shown?.type === 'number';
      return {
        member: key,
        title: String(title ?? shown?.shortTitle ?? member),
        shown,
        format:
          (typeof format === 'object' && format) ||
          snapshot.preferences?.columnFormats?.[member] ||
          undefined,
        isNumber,
        align:
          align === 'left' || align === 'right' || align === 'center' ? align : isNumber ? 'right' : 'left',
        width: typeof width === 'number' ? width : undefined,
        hasBar: bar === true,
        isMeasure: key in annotation.measures,
      };
    });
}

export function Table({
  widgetId,
  title,
  snapshot,
  spec,
  rows: { rows, result, query, total },
  more,
}: DrawProps & {
  spec?: Record<string, unknown> | undefined;
  /** Of a table whose rows come in pages: the server sorts them. */
  more?: { count: number; sort: Sort; setSort(sort: Sort): void; load(): void };
}) {
  const { board, drill } = useShared();
  const { formats, say } = board;
  const columns = columnsOf(rows, result.annotation, query, snapshot).map((column) => ({
    ...column,
    format: formats.column(
      rows.map((row) => row[column.member]),
      column.shown,
      column.format,
    ),
  }));
  const [first] = (Array.isArray(spec?.sort) ? spec.sort : []) as Sort[];
  const [ownSort, setOwnSort] = useState<Sort | undefined>(first);
  const [sort, setSort] = more ? [more.sort, more.setSort] : [ownSort, setOwnSort];
  const [top, setTop] = useState(0);
  const frame = useRef<HTMLDivElement>(null);
  useScrollHint(frame);

  const sorted = useMemo(() => {
    const column = sort && columns.find(({ member }) => member === sort.member);
    if (more || !sort || !column) return rows;
    const sign = sort.desc ? -1 : 1;
    return rows.toSorted((a, b) => {
      const [x, y] = [a[column.member], b[column.member]];
      if (x === y) return 0;
      // Rows without a value come last, in both directions.
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      return sign * (column.isNumber ? Number(x) - Number(y) : formats.compareTexts(String(x), String(y)));
    });
  }, [rows, sort?.member, sort?.desc, formats]);

  const largest = new Map(
    columns
      .filter(({ hasBar }) => hasBar)
      .map(({ member }) => [member, Math.max(0, ...rows.map((row) => Math.abs(Number(row[member]) || 0)))]),
  );
  const limit = result.query.limit ?? query.limit;
  const isWhole = total !== undefined || !(result.rowsCapped || (limit && rows.length >= limit));
  const totals = total ?? sumsOf(rows, columns);
  const isVirtual = sorted.length >= VIRTUAL_FROM;
  const height = frame.current?.clientHeight || 600;
  const from = isVirtual ? Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN) : 0;
  const to = isVirtual
    ? Math.min(sorted.length, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN)
    : sorted.length;
  const cell = (row: Row, column: Column) => formats.value(row[column.member], column.shown, column.format);
  const press = ({ member }: Column) => {
    // Those in sight would be some rows in the middle.
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
                class={column.align}
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
                  <td key={column.member} class={column.align} title={text}>
                    {share ? (
                      <span
                        class="bar"
                        style={{ width: `${(Math.abs(Number(row[column.member]) || 0) / share) * 100}%` }}
                        aria-hidden="true"
                      />
                    ) : null}
                    {column.isMeasure && canDrill(result.annotation, column.member) ? (
                      <button
                        type="button"
                        class="drill"
                        onClick={() =>
                          drill(
                            drillFrom({
                              widgetId,
                              title,
                              member: column.member,
                              row,
                              query,
                              value: row[column.member],
                              format: column.format,
                              annotation: result.annotation,
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

const sumsOf = (rows: Row[], columns: Column[]): Row =>
  Object.fromEntries(
    columns
      .filter((column) => column.isMeasure && isSummable(column))
      .map(({ member }) => [member, rows.reduce((sum, row) => sum + (Number(row[member]) || 0), 0)]),
  );

/** A sum of shares or of averages means nothing. */
export const isSummable = ({ shown, format, member }: Column) =>
  shown?.type === 'number' &&
  shown.format !== 'percent' &&
  format?.type !== 'percent' &&
  !/avg|average|rate|ratio|per_/i.test(member);

const Space = ({ rows, columns }: { rows: number; columns: number }) => (
  <tr aria-hidden="true">
    <td colSpan={columns} style={{ height: `${rows * ROW_HEIGHT}px`, padding: 0 }} />
  </tr>
);
