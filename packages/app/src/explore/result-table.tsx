/** The rows of an answer: however many there are, only those in sight are in the page. */
import {
  cellColors,
  columnsOf,
  csvOf,
  download,
  downloadBlob,
  largestOf,
  lazy,
  plainCell,
  type Row,
  type TableColumn,
} from '@oriel/charts';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { toast } from '../parts/toasts.tsx';
import { sortBy } from './changes.ts';
import type { Answer, Exploration } from './exploration.ts';
import { arrangeColumns, type ColumnSettings, movedColumn, setColumns, withColumn } from './table-columns.ts';
import { say } from './texts/say.ts';
import { type RowElement, useRows } from './virtual.ts';

// Loaded with the table only, because explore begins with a chart.
const ColumnMenu = lazy(() => import('./column-menu.tsx').then((module) => module.ColumnMenu), null);

const ROW = 32;
const WIDTH = { least: 60, first: 150, most: 800, step: 16 };

/** Columns of a comparison with an earlier period are computed in the page. */
const isCompared = (member: string) => /\.(previous|change|percent)$/.test(member);

type DrawnColumn = TableColumn & { color: ReturnType<typeof cellColors> };

/** In the order of the settings, with their bars and colours. */
export function columnsIn(
  { board: { formats } }: Pick<Exploration, 'board'>,
  { rows, snapshot }: Answer,
  settings: readonly ColumnSettings[],
): TableColumn[] {
  const draw = (columns?: ColumnSettings[]) =>
    columnsOf(
      rows.rows,
      rows.result.annotation,
      rows.query,
      { ...snapshot, kind: 'table', spec: { columns } },
      formats,
    );
  return draw(arrangeColumns(draw(), settings));
}

/** The same array each time, because what is drawn from it is kept. */
const NONE: readonly ColumnSettings[] = [];
const settingsIn = (exploration: Exploration) => exploration.question.value.visualization?.columns ?? NONE;

/** As spreadsheets take it from the clipboard. */
function tsvOf(rows: readonly Row[], columns: readonly TableColumn[]): string {
  const cell = (value: unknown) => plainCell(value).replaceAll(/[\t\r\n]+/g, ' ');
  return [
    columns.map(({ title }) => cell(title)),
    ...rows.map((row) => columns.map(({ member }) => cell(row[member]))),
  ]
    .map((cells) => cells.join('\t'))
    .join('\n');
}

export function copyRows(exploration: Exploration, answer: Answer) {
  const { rows } = answer.rows;
  void navigator.clipboard
    .writeText(tsvOf(rows, columnsIn(exploration, answer, settingsIn(exploration))))
    .then(() => {
      toast(say('copied', { count: rows.length }));
    });
}

export const downloadCsv = (exploration: Exploration, answer: Answer, name: string) =>
  download(`${name}.csv`, csvOf(answer.rows.rows, columnsIn(exploration, answer, settingsIn(exploration))));

/** What writes the file is loaded when it is used. */
export async function downloadXlsx(exploration: Exploration, answer: Answer, name: string) {
  const { xlsxOf } = await import('./xlsx.ts');
  const columns = columnsIn(exploration, answer, settingsIn(exploration));
  downloadBlob(`${name}.xlsx`, await xlsxOf(answer.rows.rows, columns));
}

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
  const body = useRef<HTMLTableSectionElement>(null);
  const settings = settingsIn(exploration);
  const columns = useMemo(
    () =>
      columnsIn(exploration, answer, settings).map((column) => ({
        ...column,
        color: cellColors(rows, column),
        format: formats.column(
          rows.map((row) => row[column.member]),
          column.shown,
          column.format,
        ),
      })),
    [answer, formats, settings],
  );
  const largest = useMemo(() => largestOf(rows, columns), [rows, columns]);
  const [dragged, setDragged] = useState<string>();
  const arrange = (name: string, change: (columns: ColumnSettings[]) => ColumnSettings[]) =>
    exploration.change(name, (before) =>
      setColumns(
        before,
        answer.visualization.type,
        change(arrangeColumns(columns, before.visualization?.columns ?? [])),
      ),
    );
  const move = (member: string, to: Parameters<typeof movedColumn>[2]) =>
    arrange(say('moveColumn'), (known) => movedColumn(known, member, to));
  const question = exploration.question.value;
  const directionOf = (key: string) => question.order.find(([each]) => each === key)?.[1];
  const within = (width: number) => Math.round(Math.min(WIDTH.most, Math.max(WIDTH.least, width)));
  /** On the way, a width is only shown. */
  const setWidth = (member: string, width: number) =>
    setWidths((known) => ({ ...known, [member]: within(width) }));
  const keepWidth = (member: string, width: number) => {
    arrange(say('columnWidthChange'), (known) => withColumn(known, member, { width: within(width) }));
    setWidths(({ [member]: _shown, ...others }) => others);
  };
  const stored = new Map(settings.map(({ member, width }) => [member, width]));
  const widthOf = (member: string) => widths[member] ?? stored.get(member) ?? WIDTH.first;
  const total = columns.reduce((sum, { member }) => sum + widthOf(member), 0);
  const placesKey = columns
    .map(({ member, isPinned }) => (isPinned ? `${member} ${widthOf(member)}` : ''))
    .join();
  /** Where a pinned column stays. */
  const places = useMemo(() => {
    const found = new Map<string, number>();
    columns.reduce((start, { member, isPinned }) => {
      if (isPinned) found.set(member, start);
      return start + widthOf(member);
    }, 0);
    return found;
  }, [columns, placesKey]);

  const pressed = useRef(onCell);
  pressed.current = onCell;
  const make = useCallback(
    () =>
      makeRow(rows, columns, {
        largest,
        places,
        formats,
        onCell: (row, member) => pressed.current(row, member),
      }),
    [rows, columns, largest, places, formats],
  );
  // Other rows begin at the top.
  useLayoutEffect(() => {
    frame.current!.scrollTop = 0;
  }, [answer.key]);
  useRows(frame, body, { count: rows.length, height: ROW, make });

  const head = useMemo(
    () => (
      <thead>
        <tr>
          {columns.map((column) => {
            const { member, title, align, isNumber } = column;
            const direction = directionOf(member);
            return (
              <th
                key={member}
                scope="col"
                {...placed(places, member, align)}
                draggable
                onDragStart={() => setDragged(member)}
                onDragEnd={() => setDragged(undefined)}
                onDragOver={(event) => dragged && dragged !== member && event.preventDefault()}
                onDrop={() => dragged && move(dragged, { before: member })}
                aria-sort={
                  direction === undefined ? 'none' : direction === 'asc' ? 'ascending' : 'descending'
                }
              >
                <button
                  type="button"
                  class="quiet"
                  title={say('sortBy', { name: title })}
                  disabled={isCompared(member)}
                  onKeyDown={(event) => {
                    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                    if (!step || !event.altKey) return;
                    event.preventDefault();
                    move(member, { step: step * (document.dir === 'rtl' ? -1 : 1) });
                  }}
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
                <ColumnMenu
                  column={column}
                  settings={settings.find((one) => one.member === member)}
                  arrange={arrange}
                  move={move}
                />
                <Handle
                  label={say('columnWidth', { name: title })}
                  width={widthOf(member)}
                  onChange={(width) => setWidth(member, width)}
                  onEnd={(width) => keepWidth(member, width)}
                />
              </th>
            );
          })}
        </tr>
      </thead>
    ),
    [columns, settings, places, widths, question.order, dragged, answer],
  );

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
        copyRows(exploration, answer);
      }}
    >
      <table aria-rowcount={rows.length + 1} style={{ width: `${total}px` }}>
        <colgroup>
          {columns.map(({ member }) => (
            <col key={member} style={{ width: `${widthOf(member)}px` }} />
          ))}
        </colgroup>
        {head}
        <tbody ref={body} />
      </table>
    </div>
  );
}

interface Look {
  largest: ReadonlyMap<string, number>;
  places: ReadonlyMap<string, number>;
  formats: Exploration['board']['formats'];
  onCell(row: Row, member: string): void;
}

/** A row that shows one of the rows after the other. */
function makeRow(rows: readonly Row[], columns: readonly DrawnColumn[], look: Look): RowElement {
  const element = document.createElement('tr');
  let row: Row;
  const cells = columns.map((column) => makeCell(element.insertCell(), column, look, () => row));
  return {
    element,
    show(index) {
      row = rows[index]!;
      for (const show of cells) show(row);
    },
  };
}

function makeCell(
  cell: HTMLTableCellElement,
  { member, align, shown, format, color, isMeasure }: DrawnColumn,
  { largest, places, formats, onCell }: Look,
  rowOf: () => Row,
): (row: Row) => void {
  const { class: className, style } = placed(places, member, align);
  const most = largest.get(member);
  cell.className = most ? `${className} barred` : className;
  Object.assign(cell.style, style);
  const bar = most ? cell.appendChild(document.createElement('span')) : undefined;
  if (bar) {
    bar.className = 'bar';
    bar.ariaHidden = 'true';
  }
  const text = new Text();
  const holder = cell.appendChild(document.createElement(isMeasure ? 'button' : 'span'));
  holder.append(text);
  if (holder instanceof HTMLButtonElement) {
    holder.type = 'button';
    holder.className = 'cell';
    holder.addEventListener('click', () => onCell(rowOf(), member));
  }
  return (row) => {
    const value = row[member];
    text.data = formats.value(value, shown, format);
    if (!isMeasure) holder.title = text.data;
    if (color) cell.style.backgroundImage = color(value) ?? '';
    if (bar) bar.style.width = `${(Math.abs(Number(value) || 0) / most!) * 100}%`;
  };
}

/** A pinned column stays where it is. */
function placed(places: ReadonlyMap<string, number>, member: string, align: string) {
  const at = places.get(member);
  return at === undefined
    ? { class: align, style: {} as Record<string, string> }
    : { class: `${align} pinned`, style: { insetInlineStart: `${at}px` } };
}

/** Changes the width of a column, by dragging and by arrow keys. */
function Handle({
  label,
  width,
  onChange,
  onEnd,
}: {
  label: string;
  width: number;
  onChange(width: number): void;
  onEnd(width: number): void;
}) {
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
      // The column itself is not dragged along.
      draggable
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onKeyDown={(event) => {
        const step = { ArrowRight: WIDTH.step, ArrowLeft: -WIDTH.step }[event.key];
        if (!step) return;
        event.preventDefault();
        onEnd(width + step * (document.dir === 'rtl' ? -1 : 1));
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
        if (start.current && start.current.width !== width) onEnd(width);
        start.current = undefined;
      }}
    />
  );
}
