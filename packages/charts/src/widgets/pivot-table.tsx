/** A pivot table, with totals of what can be added up. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { drillFrom } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import { type PivotSort, type PivotSpec, pivotOf, sortedPlaces } from '../pivot.ts';
import type { DrawProps } from '../rows.ts';
import { useScrollHint } from '../scroll-hint.ts';
import { opensOn, useShared } from '../shared.ts';
import { type Column, columnsOf, isSummable } from '../table.ts';
import type { Row } from '../types.ts';

/** More cells would make the page slow. */
const ROWS_MAX = 1000;

export function PivotTable({ widgetId, title, snapshot, rows: { rows, result, query } }: DrawProps) {
  const { board, drill } = useShared();
  const { formats, say } = board;
  const spec = snapshot.spec.pivot as PivotSpec;
  const pivot = useMemo(() => pivotOf(rows, spec), [rows, snapshot]);
  const columns = new Map(
    columnsOf(rows, result.annotation, query, { ...snapshot, spec: {} }, formats).map((column) => [
      column.member,
      column,
    ]),
  );
  const frame = useRef<HTMLDivElement>(null);
  useScrollHint(frame);
  const measures = spec.measures.flatMap((member) => columns.get(member) ?? []);
  const hasTotals = snapshot.spec.totals === true && pivot.columns.length > 1;
  const text = (member: string, value: unknown) => formats.value(value, shownOf(result.annotation, member));
  const [sort, setSort] = useState<PivotSort>();
  const places = useMemo(() => sortedPlaces(pivot, spec, sort), [pivot, sort]);
  const shown = places.slice(0, ROWS_MAX);
  /** The title of a column, which orders the rows. Numbers begin with the largest. */
  const sorting = (name: string, member: string, column?: number | 'total') => {
    const isSorted = sort?.member === member && sort.column === column;
    return {
      'aria-sort': isSorted
        ? sort.desc
          ? ('descending' as const)
          : ('ascending' as const)
        : ('none' as const),
      children: (
        <button
          type="button"
          title={say('sortBy', { title: name })}
          onClick={() =>
            setSort({
              member,
              ...(column === undefined ? {} : { column }),
              desc: isSorted ? !sort.desc : column !== undefined,
            })
          }
        >
          {name}
          <span class="arrow" aria-hidden="true">
            {isSorted ? (sort.desc ? '↓' : '↑') : ''}
          </span>
        </button>
      ),
    };
  };
  const sum = (cells: (Row | undefined)[], { member }: Column) =>
    cells.reduce((total, row) => total + (Number(row?.[member]) || 0), 0);
  const total = (cells: (Row | undefined)[], column: Column) =>
    isSummable(column) ? formats.value(sum(cells, column), column.shown, column.format) : '';
  const span = measures.length;

  const cell = (row: Row | undefined, column: Column) => {
    const value = row?.[column.member];
    const written = row ? formats.value(value, column.shown, column.format) : '';
    const { annotation } = result;
    const found = { widgetId, title, member: column.member, query, value, format: column.format, annotation };
    if (!row || !opensOn(board, found)) return <span class="over">{written}</span>;
    return (
      <button type="button" class="drill" onClick={() => drill(drillFrom({ ...found, row }))}>
        {written}
      </button>
    );
  };

  return (
    <div class="table scrolls pivot" ref={frame} tabIndex={0} role="region" aria-label={title}>
      <table>
        <caption class="hidden">{title}</caption>
        <thead>
          {spec.columns.map((member, level) => (
            <tr key={member}>
              <th colSpan={Math.max(1, spec.rows.length)} scope="row">
                {columns.get(member)?.title ?? member}
              </th>
              {pivot.columns.map((values, i) => (
                <th key={i} scope="colgroup" colSpan={span} class="right">
                  {text(member, values[level])}
                </th>
              ))}
              {hasTotals && (
                <th scope="colgroup" colSpan={span} class="right">
                  {level === 0 ? say('total') : ''}
                </th>
              )}
            </tr>
          ))}
          <tr>
            {spec.rows.map((member) => (
              <th key={member} scope="col" {...sorting(columns.get(member)?.title ?? member, member)} />
            ))}
            {spec.rows.length === 0 && <td />}
            {[...pivot.columns, ...(hasTotals ? [null] : [])].map((_, i) =>
              measures.map((measure) => {
                const { member, title: name } = measure;
                const isTotal = i === pivot.columns.length;
                const key = `${i} ${member}`;
                // Averages have no total to sort by.
                if (isTotal && !isSummable(measure))
                  return (
                    <th key={key} scope="col" class="right">
                      {name}
                    </th>
                  );
                return (
                  <th key={key} scope="col" class="right" {...sorting(name, member, isTotal ? 'total' : i)} />
                );
              }),
            )}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const values = pivot.rows[row]!;
            const cells = pivot.columns.map((_, column) => pivot.at(row, column));
            return (
              <tr key={row}>
                {spec.rows.map((member, level) => (
                  <th key={member} scope="row">
                    {text(member, values[level])}
                  </th>
                ))}
                {spec.rows.length === 0 && <td />}
                {cells.map((found, i) =>
                  measures.map((measure) => (
                    <td key={`${i} ${measure.member}`} class="right">
                      {cell(found, measure)}
                    </td>
                  )),
                )}
                {hasTotals &&
                  measures.map((measure) => (
                    <td key={measure.member} class="right total">
                      {total(cells, measure)}
                    </td>
                  ))}
              </tr>
            );
          })}
        </tbody>
        {snapshot.spec.totals === true && (
          <tfoot>
            <tr>
              <th scope="row" colSpan={Math.max(1, spec.rows.length)}>
                {say('total')}
              </th>
              {pivot.columns.map((_, column) =>
                measures.map((measure) => (
                  <td key={`${column} ${measure.member}`} class="right">
                    {total(
                      pivot.rows.map((__, row) => pivot.at(row, column)),
                      measure,
                    )}
                  </td>
                )),
              )}
              {hasTotals &&
                measures.map((measure) => (
                  <td key={measure.member} class="right">
                    {total([...rows], measure)}
                  </td>
                ))}
            </tr>
          </tfoot>
        )}
      </table>
      {(result.rowsCapped || pivot.isCut || pivot.rows.length > ROWS_MAX) && (
        <p class="note">{say('moreRows', { count: formats.count(shown.length) })}</p>
      )}
    </div>
  );
}
