/**
 * A dashboard as SVG: cards in the grid of its layout, as a page of the same width shows them. Controls are left out, because the
 * head says what they are set to.
 */
import {
  BOARD_PIXELS_MAX,
  figureOf,
  mapOf,
  type Position,
  pictureOf,
  pixelsOf,
  type Snapshot,
  tableOf,
  tabsOf,
  topLevel,
  type Widget,
} from '@oriel/charts/pure';
import { chartPiece } from './chart.ts';
import { figurePiece } from './figure.ts';
import { mapPiece } from './map.ts';
import { type Box, type Look, NOTHING, type Piece, type Plot, WidgetError } from './pieces.ts';
import { htmlPiece, markdownPiece } from './prose.ts';
import { tablePiece } from './table.ts';
import type { DrawnBoard } from './task.ts';
import { drawLines, lineHeight, round, type TextStyle, wrap } from './texts.ts';

const COLUMNS = 12;
const ROW_HEIGHT = 60;
const MARGIN = 16;
const CARD = { side: 16, top: 14, headGap: 8 };

/** A card in its place, from the top of the grid. */
export interface PlacedCard extends Box {
  svg: string;
  /** Where its charts with rows are. */
  plots: Plot[];
}

const bounded = (value: unknown, from: number, to: number, otherwise: number) =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(value, from), to) : otherwise;

export async function drawBoard(given: DrawnBoard, width: number, look: Look): Promise<PlacedCard[]> {
  const board = withinPixels(given);
  const all = board.dashboard.config.widgets ?? [];
  const grid = gridOf(board, topLevel(all), width, look);
  return Promise.all(
    grid.cells.map(async ({ piece, box }) => {
      const plots: Plot[] = [];
      return { ...box, svg: await piece.draw(box, plots), plots };
    }),
  );
}

/** The memory of pictures is outside of the heap, so the limits of the thread do not count it. */
function withinPixels(board: DrawnBoard): DrawnBoard {
  const { dashboard } = board;
  let pixels = 0;
  const widgets = dashboard.config.widgets?.map((widget) => {
    const { type, config } = widget;
    if (type !== 'TEXT' || config?.image == null) return widget;
    const own = pixelsOf(config.image);
    if (pixels + own > BOARD_PIXELS_MAX) return { ...widget, config: { ...config, image: '' } };
    pixels += own;
    return widget;
  });
  return { ...board, dashboard: { ...dashboard, config: { ...dashboard.config, widgets } } };
}

interface Cell {
  piece: Piece;
  box: Box;
}

/** What a picture has nothing of: controls, applications, which need a browser, and room between widgets. */
const LEFT_OUT = ['FILTER', 'TIME_GRAIN', 'SPACER', 'AI', 'APP'];

/** Rows grow with what does not fit into them, as in pages. Those that hold nothing but controls are left out. */
function gridOf(
  board: DrawnBoard,
  widgets: readonly Widget[],
  width: number,
  look: Look,
  around: readonly Widget[] = [],
): { cells: Cell[]; height: number } {
  const { layout } = board.dashboard.config;
  const cols = layout?.cols;
  const hasOwn = widgets.some(({ responsiveLayouts }) => responsiveLayouts?.lg);
  const columns = bounded(typeof cols === 'number' ? cols : cols?.lg, 1, 48, COLUMNS);
  const rowHeight = bounded(layout?.rowHeight, 8, 400, ROW_HEIGHT);
  const gap = bounded(layout?.margin?.[0], 0, 48, MARGIN);
  const column = (width - gap * (columns - 1)) / columns;
  const placed = widgets
    .filter(({ type }) => !LEFT_OUT.includes(type))
    .map((widget) => {
      const at: Position = (hasOwn && widget.responsiveLayouts?.lg) || widget.position;
      const left = Math.min(Math.max(at.x, 0), columns - 1);
      const span = Math.max(1, Math.min(at.w, columns - left));
      const wide = column * span + gap * (span - 1);
      return { widget, left, wide, from: at.y, rows: Math.max(1, at.h), x: at.x };
    })
    .sort((a, b) => a.from - b.from || a.x - b.x)
    .map((each) => ({ ...each, piece: pieceOf(board, each.widget, each.wide, look, around) }));
  const used = [
    ...new Set(placed.flatMap(({ from, rows }) => Array.from({ length: rows }, (_, i) => from + i))),
  ].sort((a, b) => a - b);
  const heights = new Map(used.map((row) => [row, rowHeight]));
  const rowsOf = ({ from, rows }: { from: number; rows: number }) =>
    Array.from({ length: rows }, (_, i) => from + i);
  // Those of few rows first, so that what they add counts for the others.
  for (const cell of placed.toSorted((a, b) => a.rows - b.rows)) {
    const own = rowsOf(cell);
    const lacking =
      cell.piece.least - own.reduce((sum, row) => sum + heights.get(row)!, gap * (own.length - 1));
    if (lacking > 0) for (const row of own) heights.set(row, heights.get(row)! + lacking / own.length);
  }
  const tops = new Map<number, number>();
  let top = 0;
  for (const row of used) {
    tops.set(row, top);
    top += heights.get(row)! + gap;
  }
  const cells = placed.map((cell): Cell => {
    const own = rowsOf(cell);
    const height = own.reduce((sum, row) => sum + heights.get(row)!, gap * (own.length - 1));
    const x = cell.left * (column + gap);
    return { piece: cell.piece, box: { x, y: tops.get(cell.from)!, width: cell.wide, height } };
  });
  return { cells, height: Math.max(0, top - gap) };
}

function pieceOf(
  board: DrawnBoard,
  widget: Widget,
  width: number,
  look: Look,
  around: readonly Widget[],
): Piece {
  const { config, type } = widget;
  const title = String(config?.title ?? '');
  if (typeof config?.problem === 'string') throw new WidgetError(title, config.problem);
  switch (type) {
    case 'CHART':
      return reportPiece(board, widget, width, look);
    case 'TEXT':
      if (config?.image != null) {
        const picture = pictureOf(config);
        if (!picture) return config.alt ? notice([String(config.alt)], width, look) : NOTHING;
        return {
          least: 60,
          draw: ({ x, y, width, height }) =>
            `<image x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" preserveAspectRatio="xMidYMid meet" href="${picture.source}"/>`,
        };
      }
      return markdownPiece(String(config?.markdown ?? ''), width, look);
    case 'DIVIDER':
      return {
        least: 1,
        draw: ({ x, y, width, height }) =>
          `<rect x="${round(x)}" y="${round(y + height / 2)}" width="${round(width)}" height="1" fill="${look.tokens.line}"/>`,
      };
    case 'CONTAINER':
      return containerPiece(board, widget, width, look, [...around, widget]);
    default:
      return NOTHING;
  }
}

/** All tabs, one below the other: nobody can open them in a picture. `around` ends with the container itself. */
function containerPiece(
  board: DrawnBoard,
  widget: Widget,
  width: number,
  look: Look,
  around: readonly Widget[],
): Piece {
  const all = board.dashboard.config.widgets ?? [];
  const style: TextStyle = { size: 14, weight: 600, color: look.tokens.ink, line: 24 };
  const heading = (text: string): Piece => {
    const lines = wrap(text, width, style, 2);
    return { least: lines.length * 24 + 6, draw: ({ x, y }) => drawLines(lines, x, y, style) };
  };
  const title = String(widget.config?.title ?? '');
  const parts: Piece[] = title ? [heading(title)] : [];
  for (const tab of tabsOf(widget)) {
    const inside = tab.widgets.flatMap((id) =>
      all.filter((each) => each.id === id && !around.includes(each)),
    );
    const grid = gridOf(board, inside, width, look, around);
    if (tab.title) parts.push(heading(tab.title));
    parts.push({
      least: grid.height + MARGIN,
      draw: async ({ x, y }, plots) => {
        const drawn = grid.cells.map(({ piece, box }) =>
          piece.draw({ ...box, x: x + box.x, y: y + box.y }, plots),
        );
        return (await Promise.all(drawn)).join('');
      },
    });
  }
  return {
    least: parts.reduce((sum, { least }) => sum + least, -MARGIN),
    async draw(box, plots) {
      let top = box.y;
      const drawn: string[] = [];
      for (const part of parts) {
        drawn.push(await part.draw({ ...box, y: top, height: part.least }, plots));
        top += part.least;
      }
      return drawn.join('');
    },
  };
}

function reportPiece(board: DrawnBoard, widget: Widget, width: number, look: Look): Piece {
  const snapshot = board.dashboard.reportSnapshots.find(
    ({ reportId }) => reportId === widget.config?.reportId,
  );
  const title = String(widget.config?.title ?? (snapshot?.title || snapshot?.name || ''));
  const refusal = snapshot ? snapshot.meta?.problem : 'its report is missing';
  const rows = board.rows.get(widget.id);
  if (!snapshot || refusal || !rows) throw new WidgetError(title, refusal ?? 'its rows are missing');
  const inside = width - 2 * CARD.side;
  try {
    const isPlot = snapshot.kind === 'vega' && rows.rows.length > 0;
    return card(title, bodyOf(snapshot, rows, inside, look, widget.id, board), width, look, {
      isFigure: snapshot.kind === 'kpi',
      isPlot,
    });
  } catch (error) {
    throw error instanceof WidgetError ? error : new WidgetError(title, (error as Error).message);
  }
}

function bodyOf(
  snapshot: Snapshot,
  rows: NonNullable<ReturnType<DrawnBoard['rows']['get']>>,
  width: number,
  look: Look,
  id: string,
  board: DrawnBoard,
): Piece {
  const { kind } = snapshot;
  if (kind === 'kpi') return figurePiece(figureOf(snapshot, rows, look), width, look);
  if (rows.rows.length === 0) return notice([look.say('noRows')], width, look);
  if (kind === 'vega') return chartPiece(snapshot, rows, width, look, `w${board.order.indexOf(id)}`);
  if (kind === 'html') return htmlPiece(filledTemplate(snapshot, rows, look), width, look);
  const map = kind === 'map' ? mapOf(snapshot, rows, look) : undefined;
  return map ? mapPiece(map, look) : tablePiece(tableOf(snapshot, rows, look), look);
}

const filledTemplate = (
  snapshot: Snapshot,
  { rows, result }: NonNullable<ReturnType<DrawnBoard['rows']['get']>>,
  { formats }: Look,
) =>
  String(snapshot.spec?.template ?? '').replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_all, member: string) =>
    formats
      .value(
        rows[0]?.[member],
        result.annotation.measures[member] ?? result.annotation.dimensions[member],
        snapshot.preferences?.columnFormats?.[member],
      )
      .replaceAll(/[<>&]/g, (letter) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[letter]!),
  );

function notice(lines: readonly string[], width: number, { tokens }: Look): Piece {
  const style: TextStyle = { size: 14, weight: 600, color: tokens.inkSoft };
  const wrapped = lines.flatMap((line) => wrap(line, width, style, 2));
  const high = wrapped.length * lineHeight(style);
  return {
    least: high,
    draw: ({ x, y, height }) => drawLines(wrapped, x, y + Math.max(0, (height - high) / 2), style),
  };
}

function card(
  title: string,
  body: Piece,
  width: number,
  { tokens }: Look,
  { isFigure, isPlot }: { isFigure: boolean; isPlot: boolean },
): Piece {
  const style: TextStyle = isFigure
    ? { size: 14, weight: 500, color: tokens.inkSoft, line: 20 }
    : { size: 14, weight: 600, color: tokens.ink, line: 20 };
  const inside = width - 2 * CARD.side;
  const lines = title ? wrap(title, inside, style, 2) : [];
  const head = lines.length ? lines.length * 20 + (isFigure ? 4 : CARD.headGap) : 0;
  return {
    least: body.least ? body.least + head + 2 * CARD.top : 0,
    async draw({ x, y, height }, plots) {
      const box = {
        x: x + CARD.side,
        y: y + CARD.top + head,
        width: inside,
        height: Math.max(0, height - head - 2 * CARD.top),
      };
      const drawn = await Promise.resolve()
        .then(() => body.draw(box, plots))
        .catch((error: Error) => {
          throw error instanceof WidgetError ? error : new WidgetError(title, error.message);
        });
      if (isPlot) plots.push({ ...box, title });
      return (
        `<rect x="${round(x + 0.5)}" y="${round(y + 0.5)}" width="${round(width - 1)}" height="${round(height - 1)}" rx="${tokens.radius}" fill="${tokens.surface}" stroke="${tokens.border}" stroke-width="${tokens.borderWidth}"/>` +
        drawLines(lines, x + CARD.side, y + CARD.top, style) +
        drawn
      );
    },
  };
}
