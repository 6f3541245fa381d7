/** One figure, what it was before, and how it went. */

import { canDrill, drillFrom } from '../drill-query.ts';
import { kindOf, shownOf } from '../format.ts';
import type { DrawProps } from '../rows.ts';
import { useBoard, useShared } from '../shared.ts';
import type { Row } from '../types.ts';

export function Kpi({ widgetId, snapshot, title, rows: shownRows }: DrawProps) {
  const { rows, result, query, before, trend } = shownRows;
  const { board, drill } = useShared();
  const { formats, say } = board;
  const spec = snapshot.spec ?? {};
  const measure: string = spec.measure ?? query.measures?.[0] ?? '';
  const shown = shownOf(result.annotation, measure);
  const override =
    spec.format && typeof spec.format === 'object'
      ? spec.format
      : snapshot.preferences?.columnFormats?.[measure];
  const value = rows[0]?.[measure];
  const earlier = before?.[0]?.[measure];
  const [now, then] = [value, earlier].map((figure) => Number(figure ?? Number.NaN)) as [number, number];
  const isRate = kindOf(shown, override) === 'percent';
  const canCompare = Number.isFinite(now) && (isRate ? Number.isFinite(then) : then);
  const change = canCompare ? (isRate ? now - then : (now - then) / Math.abs(then)) : undefined;
  // What would be shown as 0% or as 0 points is no change.
  const ratio = change !== undefined && Math.abs(change) < 0.0005 ? 0 : change;
  const isGood = ratio === undefined || ratio === 0 ? undefined : ratio > 0 === (spec.goodWhen !== 'down');
  const { period, earlierPeriod } = shownRows;
  const [figure, whole] = [formats.short(value, shown, override), formats.value(value, shown, override)];
  return (
    <div class="kpi">
      {canDrill(result.annotation, measure) ? (
        <button
          type="button"
          class="figure"
          title={whole}
          onClick={() =>
            drill(
              drillFrom({
                ...{ widgetId, title, member: measure, row: {}, query, value },
                format: override ?? undefined,
                annotation: result.annotation,
              }),
            )
          }
        >
          {figure}
        </button>
      ) : (
        <span class="figure" title={whole}>
          {figure}
        </span>
      )}
      {before && (
        <p class={`change ${isGood === undefined ? '' : isGood ? 'good' : 'bad'}`}>
          {ratio === undefined ? (
            say('noComparison')
          ) : (
            <>
              <span class="chip">
                <span aria-hidden="true">{ratio > 0 ? '▲' : ratio < 0 ? '▼' : '■'}</span>{' '}
                {isRate ? formats.points(ratio) : formats.change(ratio)}
              </span>{' '}
              <span class="before">
                {say('comparedTo', { value: formats.short(earlier, shown, override) })}
              </span>
            </>
          )}
        </p>
      )}
      {period && (
        <p class="periods">
          {earlierPeriod
            ? say(period.until ? 'periodsUntil' : 'periods', {
                now: formats.period(period.days),
                before: formats.period(earlierPeriod.days),
                time: formats.clock(period.until ?? ''),
              })
            : formats.period(period.days)}
        </p>
      )}
      {trend && <Sparkline rows={trend} measure={measure} />}
    </div>
  );
}

function Sparkline({ rows, measure }: { rows: Row[]; measure: string }) {
  const { tokens } = useBoard();
  const values = rows.map((row) => Number(row[measure] ?? 0)).filter(Number.isFinite);
  if (values.length < 2) return null;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const points = values.map((value, i) => [
    (i / (values.length - 1)) * 100,
    high === low ? 15 : 28 - ((value - low) / (high - low)) * 26,
  ]);
  const line = points.map(([x, y]) => `${x!.toFixed(1)},${y!.toFixed(1)}`).join(' ');
  return (
    <svg class="sparkline" viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,30 ${line} 100,30`} fill={tokens.series[0]} fill-opacity="0.12" />
      <polyline
        points={line}
        fill="none"
        stroke={tokens.series[0]}
        stroke-width="1.75"
        vector-effect="non-scaling-stroke"
        stroke-linejoin="round"
      />
    </svg>
  );
}
