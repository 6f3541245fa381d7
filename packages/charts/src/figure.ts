/** One figure in words: what it is, what it was before, and how it went. */
import { type Formats, kindOf, shownOf } from './format.ts';
import { valuesOf } from './query.ts';
import type { Rows } from './rows.ts';
import type { Say } from './texts/index.ts';
import type { ColumnFormat, Row, Snapshot } from './types.ts';

export interface Figure {
  measure: string;
  format: ColumnFormat | null | undefined;
  /** Short, and as it is. */
  text: string;
  whole: string;
  /** The change, if the figure is compared with another one. `text` is empty if it cannot be. */
  change?: { sign: string; text: string; note: string; isGood: boolean | undefined };
  periods?: string;
  trend: number[];
}

/** What would be shown as 0% or as 0 points is no change. */
const NO_CHANGE = 0.0005;

export function figureOf(
  snapshot: Snapshot,
  { rows, result, query, before, trend, period, earlierPeriod }: Rows,
  { formats, say }: { formats: Formats; say: Say },
): Figure {
  const spec = snapshot.spec ?? {};
  const measure: string = spec.measure ?? valuesOf(query)[0] ?? '';
  const shown = shownOf(result.annotation, measure);
  const format =
    spec.format && typeof spec.format === 'object'
      ? spec.format
      : snapshot.preferences?.columnFormats?.[measure];
  const value = rows[0]?.[measure];
  const earlier = before?.[0]?.[measure];
  const [now, then] = [value, earlier].map((figure) => Number(figure ?? Number.NaN)) as [number, number];
  const isRate = kindOf(shown, format) === 'percent';
  const canCompare = Number.isFinite(now) && (isRate ? Number.isFinite(then) : then);
  const difference = canCompare ? (isRate ? now - then : (now - then) / Math.abs(then)) : undefined;
  const ratio = difference !== undefined && Math.abs(difference) < NO_CHANGE ? 0 : difference;
  const change =
    ratio === undefined
      ? { sign: '', text: '', note: say('noComparison'), isGood: undefined }
      : {
          sign: ratio > 0 ? '▲' : ratio < 0 ? '▼' : '■',
          text: isRate ? formats.points(ratio) : formats.change(ratio),
          note: say('comparedTo', { value: formats.short(earlier, shown, format) }),
          isGood: ratio === 0 ? undefined : ratio > 0 === (spec.goodWhen !== 'down'),
        };
  const periods =
    period &&
    (earlierPeriod
      ? say(period.until ? 'periodsUntil' : 'periods', {
          now: formats.period(period.days),
          before: formats.period(earlierPeriod.days),
          time: formats.clock(period.until ?? ''),
        })
      : formats.period(period.days));
  return {
    measure,
    format,
    text: formats.short(value, shown, format),
    whole: formats.value(value, shown, format),
    ...(before ? { change } : {}),
    ...(periods ? { periods } : {}),
    trend: trend ? trendOf(trend, measure) : [],
  };
}

export const trendOf = (rows: readonly Row[], measure: string): number[] =>
  rows.map((row) => Number(row[measure] ?? 0)).filter(Number.isFinite);
