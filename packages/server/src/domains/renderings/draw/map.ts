/** Countries in colours, with the legend below. */
import type { MapView } from '@oriel/charts/pure';
import { widthOf } from './fonts.ts';
import type { Look, Piece } from './pieces.ts';
import { drawLine, round, type TextStyle } from './texts.ts';

const LEGEND = 24;
const SWATCH = { width: 20, height: 8, gap: 2 };

export function mapPiece(map: MapView, look: Look): Piece {
  const { tokens, say } = look;
  const small: TextStyle = { size: 12, color: tokens.inkSoft, line: LEGEND };
  return {
    least: 160,
    draw({ x, y, width, height }) {
      const [left, top, wide, high] = map.viewBox;
      const room = height - LEGEND;
      const scale = Math.min(width / wide, room / high);
      const shiftX = x + (width - wide * scale) / 2 - left * scale;
      const shiftY = y + (room - high * scale) / 2 - top * scale;
      const clip = `map-${round(x)}-${round(y)}`.replaceAll('.', '_');
      const shapes = map.shapes.map(
        ({ path, color }) =>
          `<path d="${path}" fill="${color ?? tokens.land}" stroke="${color ? tokens.surface : tokens.line}" stroke-width="${round(0.6 / scale)}"/>`,
      );
      for (const point of map.points ?? [])
        shapes.push(
          `<circle cx="${round(point.x)}" cy="${round(point.y)}" r="${round(point.r)}" fill="${tokens.accent}" fill-opacity="0.55" stroke="${tokens.surface}" stroke-width="${round(0.8 / scale)}"/>`,
        );
      let at = x;
      const legend: string[] = [];
      const word = (text: string) => {
        legend.push(drawLine(text, at, y + room, small));
        at += widthOf(text, small.size) + 6;
      };
      const dot = (radius: number) => {
        legend.push(
          `<circle cx="${round(at + radius)}" cy="${round(y + room + LEGEND / 2)}" r="${radius}" fill="${tokens.accent}" fill-opacity="0.6"/>`,
        );
        at += radius * 2 + 6;
      };
      const swatch = (color: string, stroke = '') => {
        legend.push(
          `<rect x="${round(at)}" y="${round(y + room + (LEGEND - SWATCH.height) / 2)}" width="${SWATCH.width}" height="${SWATCH.height}" fill="${color}"${stroke}/>`,
        );
        at += SWATCH.width + SWATCH.gap;
      };
      if (map.points) {
        if (map.measure) {
          dot(2.5);
          word(map.lowest);
          dot(6);
          word(map.highest);
        }
      } else {
        word(map.lowest);
        for (const color of tokens.ramp) swatch(color);
        at += 4;
        word(map.highest);
      }
      if (map.hasUnknown) {
        at += 8;
        swatch(tokens.land, ` stroke="${tokens.line}"`);
        at += 4;
        word(say('noData'));
      }
      return (
        `<clipPath id="${clip}"><rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(room)}"/></clipPath>` +
        `<g clip-path="url(#${clip})"><g transform="translate(${round(shiftX)},${round(shiftY)}) scale(${scale})">${shapes.join('')}</g></g>` +
        legend.join('')
      );
    },
  };
}
