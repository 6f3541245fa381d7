/** A line or an area through a single row has no length, so nothing would be seen of it: it gets a point. */
import type { SpecMark } from './spots.ts';

interface Level {
  data?: { name: string; [other: string]: unknown }[];
  marks?: (SpecMark & Level & { from?: { data?: unknown } })[];
}

const PATHS = ['line', 'area', 'trail'];
const COUNT = 'rows_of_path';

/** Changes the spec. Inside of groups, which are the series, the rows are those of the series. */
export function showAlone(level: Level) {
  const points: NonNullable<Level['marks']> = [];
  for (const mark of level.marks ?? []) {
    showAlone(mark);
    const { x, y, stroke, fill } = mark.encode?.update ?? {};
    const source = mark.from?.data;
    if (!PATHS.includes(mark.type ?? '') || typeof source !== 'string' || !x || !y) continue;
    const name = `${source}_alone`;
    const paint = mark.type === 'area' ? (fill ?? stroke) : (stroke ?? fill);
    if (!level.data?.some((data) => data.name === name))
      level.data = [
        ...(level.data ?? []),
        {
          name,
          source,
          transform: [
            { type: 'joinaggregate', ops: ['count'], as: [COUNT] },
            { type: 'filter', expr: `datum.${COUNT} === 1` },
          ],
        },
      ];
    points.push({
      type: 'symbol',
      from: { data: name },
      encode: { update: { x, y, size: { value: 40 }, ...(paint ? { fill: paint } : {}) } },
    });
  }
  if (points.length) level.marks = [...level.marks!, ...points];
}
