/** The rows of an answer: however many there are, only those in sight are in the page. */
import { columnsOf, csvOf, download, type Row, type TableColumn } from '@oriel/charts';
import { useMemo, useRef, useState } from 'preact/hooks';
import { toast } from '../parts/toasts.tsx';
import { sortBy } from './changes.ts';
import type { Answer, Exploration } from './exploration.ts';
import { say } from './texts/say.ts';
import { useVirtual } from './virtual.ts';

const ROW = 32;
const WIDTH = { least: 60, first: 150, most: 800, step: 16 };

const isKeyOf = (key: string) => (answer: Answer) => columnsIn(answer).some(({ member }) => member === key);

export const columnsIn = ({ rows, snapshot }: Answer): TableColumn[] =>
  columnsOf(rows.rows, rows.result.annotation, rows.query, { ...snapshot, kind: 'table', spec: {} });

/** As spreadsheets take it from the clipboard. */
function tsvOf(rows: readonly Row[], columns: readonly TableColumn[]): string {
  const cell = (value: unknown) => (value == null ? '' : String(value).replaceAll(/[\t\r\n]+/g, ' '));
  return [
    columns.map(({ title }) => cell(title)),
    ...rows.map((row) => columns.map(({ member }) => cell(row[member]))),
  ]
    .map((cells) => cells.join('\t'))
    .join('\n');
}

export function copyRows(answer: Answer) {
  const { rows } = answer.rows;
  void navigator.clipboard.writeText(tsvOf(rows, columnsIn(answer))).then(() => {
    toast(say('copied', { count: rows.length }));
  });
}

export const downloadRows = (answer: Answer, name: string) =>
  download(`${name}.csv`, csvOf(answer.rows.rows, columnsIn(answer)));

export function ResultTable({
  exploration,
  answer,
  onCell,
}: {
  exploration: Exploration;
  answer: Answer;
  onCell(row: Row, member: string): void;
}) {
  const { formats } = exploration.board;
  const { rows } = answer.rows;
  const [widths, setWidths] = useState<Record<string, number>>({});
  const frame = useRef<HTMLDivElement>(null);
  const columns = useMemo(
    () =>
      columnsIn(answer).map((column) => ({
        ...column,
        format: formats.column(
          rows.map((row) => row[column.member]),
          column.shown,
          column.format,
        ),
      })),
    [answer, formats],
  );
  const list = useVirtual(frame, rows.length, ROW, (index) => index);
  const items = list.getVirtualItems();
  const before = items[0]?.start ?? 0;
  const after = list.getTotalSize() - (items.at(-1)?.end ?? 0);
  const question = exploration.question.value;
  const directionOf = (key: string) => question.order.find(([each]) => each === key)?.[1];
  const setWidth = (member: string, width: number) =>
    setWidths((known) => ({ ...known, [member]: Math.min(WIDTH.most, Math.max(WIDTH.least, width)) }));
  const total = columns.reduce((sum, { member }) => sum + (widths[member] ?? WIDTH.first), 0);

  return (
    <div
      class="result-table"
      ref={frame}
      tabIndex={0}
      role="region"
      aria-label={say('results')}
      onCopy={(event) => {
        if (String(getSelection())) return;
        event.preventDefault();
        copyRows(answer);
      }}
    >
      <table aria-rowcount={rows.length + 1} style={{ width: `${total}px` }}>
        <colgroup>
          {columns.map(({ member }) => (
            <col key={member} style={{ width: `${widths[member] ?? WIDTH.first}px` }} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {columns.map(({ member, title, align, isNumber }) => {
              const direction = directionOf(member);
              return (
                <th
                  key={member}
                  scope="col"
                  class={align}
                  aria-sort={
                    direction === undefined ? 'none' : direction === 'asc' ? 'ascending' : 'descending'
                  }
                >
                  <button
                    type="button"
                    class="quiet"
                    title={say('sortBy', { name: title })}
                    disabled={!isKeyOf(member)(answer) || /\.(previous|change|percent)$/.test(member)}
                    onClick={(event) =>
                      exploration.change(say('sortBy', { name: title }), (question) =>
                        sortBy(question, member, {
                          first: isNumber ? 'desc' : 'asc',
                          beside: event.shiftKey,
                        }),
                      )
                    }
                  >
                    {title}
                    <span class="arrow" aria-hidden="true">
                      {direction === 'desc' ? '↓' : direction === 'asc' ? '↑' : ''}
                    </span>
                  </button>
                  <Handle
                    label={say('columnWidth', { name: title })}
                    width={widths[member] ?? WIDTH.first}
                    onChange={(width) => setWidth(member, width)}
                  />
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {before > 0 && <Space height={before} columns={columns.length} />}
          {items.map(({ index }) => (
            <tr key={index} aria-rowindex={index + 2}>
              {columns.map((column) => {
                const value = rows[index]?.[column.member];
                const text = formats.value(value, column.shown, column.format);
                return (
                  <td key={column.member} class={column.align}>
                    {column.isMeasure ? (
                      <button type="button" class="cell" onClick={() => onCell(rows[index]!, column.member)}>
                        {text}
                      </button>
                    ) : (
                      <span title={text}>{text}</span>
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
          {after > 0 && <Space height={after} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  );
}

const Space = ({ height, columns }: { height: number; columns: number }) => (
  <tr aria-hidden="true" class="space">
    <td colSpan={columns} style={{ height: `${height}px` }} />
  </tr>
);

/** Changes the width of a column, by dragging and by arrow keys. */
function Handle({ label, width, onChange }: { label: string; width: number; onChange(width: number): void }) {
  const start = useRef<{ x: number; width: number } | undefined>(undefined);
  return (
    <span
      class="handle"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={WIDTH.least}
      aria-valuemax={WIDTH.most}
      tabIndex={0}
      onKeyDown={(event) => {
        const step = { ArrowRight: WIDTH.step, ArrowLeft: -WIDTH.step }[event.key];
        if (!step) return;
        event.preventDefault();
        onChange(width + step * (document.dir === 'rtl' ? -1 : 1));
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (!start.current) return;
        const moved = (event.clientX - start.current.x) * (document.dir === 'rtl' ? -1 : 1);
        onChange(start.current.width + moved);
      }}
      onPointerUp={() => {
        start.current = undefined;
      }}
    />
  );
}
