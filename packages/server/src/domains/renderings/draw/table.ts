/** Rows as a table: as many as have room, and how many more there are. */
import type { TableView } from '@oriel/charts/pure';
import { mix } from './colors.ts';
import { widthOf } from './fonts.ts';
import type { Look, Piece } from './pieces.ts';
import { drawLine, fit, round, type TextStyle } from './texts.ts';

const ROW = 32;
const PADDING = 12;
const COLUMN_MIN = 48;
/** Widths are those of the first rows. */
const MEASURED_ROWS = 100;

export function tablePiece(table: TableView, look: Look): Piece {
  const { tokens, say, formats } = look;
  const head: TextStyle = { size: 12, weight: 500, color: tokens.inkSoft, line: ROW };
  const cell: TextStyle = { size: 13, color: tokens.ink, line: ROW };
  const strong: TextStyle = { ...cell, weight: 600 };
  const line = (x: number, y: number, width: number) =>
    `<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="1" fill="${tokens.line}"/>`;
  return {
    least: 0,
    draw({ x, y, width, height }) {
      const widths = columnWidths(table, width);
      const footRows = table.totals ? 1 : 0;
      const roomRows = Math.max(1, Math.floor(height / ROW) - 1 - footRows);
      const isCut = table.rows.length > roomRows || table.isCapped;
      const shown = table.rows.slice(0, isCut ? Math.max(1, roomRows - 1) : roomRows);
      const parts: string[] = [];
      const row = (texts: readonly string[], top: number, style: TextStyle, bars?: readonly number[]) => {
        let left = x;
        for (const [i, column] of table.columns.entries()) {
          const own = widths[i]!;
          const bar = bars?.[i];
          if (bar)
            parts.push(
              `<rect x="${round(left + 4)}" y="${top + 5}" width="${round((own - 8) * bar)}" height="${ROW - 10}" rx="3" fill="${mix(tokens.surface, tokens.series[0]!, tokens.scheme === 'light' ? 0.2 : 0.35)}"/>`,
            );
          const text = fit(texts[i] ?? '', own - PADDING, style);
          if (column.align === 'right')
            parts.push(drawLine(text, left + own - PADDING / 2, top, style, 'end'));
          else if (column.align === 'center')
            parts.push(drawLine(text, left + own / 2, top, style, 'middle'));
          else parts.push(drawLine(text, left + PADDING / 2, top, style));
          left += own;
        }
      };
      row(
        table.columns.map(({ title }) => title),
        y,
        head,
      );
      parts.push(line(x, y + ROW - 1, width));
      let top = y + ROW;
      for (const each of shown) {
        row(each.texts, top, cell, each.bars);
        parts.push(line(x, top + ROW - 1, width));
        top += ROW;
      }
      if (isCut) {
        const more = table.rows.length - shown.length;
        const note = table.isCapped
          ? say('moreRows', { count: formats.count(shown.length) })
          : say('andMore', { count: formats.count(more) });
        parts.push(drawLine(note, x + PADDING / 2, top, { ...head, weight: 400 }));
        top += ROW;
      }
      if (table.totals) row(table.totals, top, strong);
      return parts.join('');
    },
  };
}

/** The widths of columns: their own or that of their texts, all scaled so that together they fill the width. */
function columnWidths({ columns, rows, totals }: TableView, width: number): number[] {
  const wanted = columns.map((column, i) => {
    if (column.width) return column.width;
    const texts = [
      column.title,
      totals?.[i] ?? '',
      ...rows.slice(0, MEASURED_ROWS).map(({ texts }) => texts[i] ?? ''),
    ];
    const widest = Math.max(...texts.map((text) => widthOf(text, 13)));
    return Math.min(Math.max(widest + PADDING * 2, COLUMN_MIN), 340);
  });
  const sum = wanted.reduce((total, each) => total + each, 0);
  return wanted.map((each) => (each / sum) * width);
}
