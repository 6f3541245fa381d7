/** One figure, what it was before, and how it went. */

import { canDrill, drillFrom } from '../drill-query.ts';
import { figureOf, trendOf } from '../figure.ts';
import type { DrawProps } from '../rows.ts';
import { useBoard, useShared } from '../shared.ts';

export function Kpi({ widgetId, snapshot, title, rows: shownRows }: DrawProps) {
  const { rows, result, query, trend } = shownRows;
  const { board, drill } = useShared();
  const { text, whole, change, periods, measure, format } = figureOf(snapshot, shownRows, board);
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
                ...{ widgetId, title, member: measure, row: {}, query, value: rows[0]?.[measure] },
                format: format ?? undefined,
                annotation: result.annotation,
              }),
            )
          }
        >
          {text}
        </button>
      ) : (
        <span class="figure" title={whole}>
          {text}
        </span>
      )}
      {change && (
        <p class={`change ${change.isGood === undefined ? '' : change.isGood ? 'good' : 'bad'}`}>
          {change.text ? (
            <>
              <span class="chip">
                <span aria-hidden="true">{change.sign}</span> {change.text}
              </span>{' '}
              <span class="before">{change.note}</span>
            </>
          ) : (
            change.note
          )}
        </p>
      )}
      {periods && <p class="periods">{periods}</p>}
      {trend && <Sparkline values={trendOf(trend, measure)} />}
    </div>
  );
}

function Sparkline({ values }: { values: number[] }) {
  const { tokens } = useBoard();
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
