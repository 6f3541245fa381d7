/** One figure, what it was before, and how it went. */
import type { Figure } from '@oriel/charts/pure';
import { widthOf } from './fonts.ts';
import type { Look, Piece } from './pieces.ts';
import { drawLine, drawLines, fit, lineHeight, round, type TextStyle, wrap } from './texts.ts';

const SPARKLINE = { least: 30, most: 64, gap: 6 };

export function figurePiece(figure: Figure, width: number, { tokens }: Look): Piece {
  const large: TextStyle = { size: 30, weight: 600, color: tokens.ink, line: 36 };
  const small: TextStyle = { size: 12, color: tokens.inkSoft, line: 18 };
  const periods = figure.periods ? wrap(figure.periods, width, small, 3) : [];
  const { change, trend } = figure;
  const hasTrend = trend.length > 1;
  const texts = large.line! + (change ? small.line! : 0) + periods.length * small.line!;
  return {
    least: texts + (hasTrend ? SPARKLINE.gap + SPARKLINE.least : 0),
    draw({ x, y, height }) {
      const parts = [drawLine(fit(figure.text, width, large), x, y, large)];
      let top = y + lineHeight(large);
      if (change) {
        const color = change.isGood === undefined ? tokens.inkSoft : change.isGood ? tokens.good : tokens.bad;
        const chip: TextStyle = { ...small, weight: change.text ? 600 : 400, color };
        const sign = change.text ? `${change.sign} ${change.text} ` : '';
        parts.push(drawLine(sign, x, top, chip));
        const used = widthOf(sign, chip.size, chip.weight);
        parts.push(drawLine(fit(change.note, width - used, small), x + used, top, small));
        top += small.line!;
      }
      parts.push(drawLines(periods, x, top, small));
      top += periods.length * small.line!;
      const room = Math.min(y + height - top - SPARKLINE.gap, SPARKLINE.most);
      if (hasTrend && room >= SPARKLINE.least / 2)
        parts.push(sparkline(trend, { x, y: y + height - room, width, height: room }, tokens.series[0]!));
      return parts.join('');
    },
  };
}

function sparkline(
  values: readonly number[],
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
  color: string,
) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const points = values
    .map((value, i) => {
      const share = high === low ? 0.5 : (value - low) / (high - low);
      return `${round(x + (i / (values.length - 1)) * width)},${round(y + height - 2 - share * (height - 4))}`;
    })
    .join(' ');
  return (
    `<polygon points="${x},${round(y + height)} ${points} ${round(x + width)},${round(y + height)}" fill="${color}" fill-opacity="0.12"/>` +
    `<polyline points="${points}" fill="none" stroke="${color}" stroke-width="1.75" stroke-linejoin="round"/>`
  );
}
