/** The types of charts: which one fits, why, and what the others would need. */
import { fitsOf, shapeOf, type VisualizationType } from '@oriel/visualization';
import type { Answer, Exploration } from './exploration.ts';
import { describeWith } from './members.ts';
import { toQuery } from './question.ts';
import { say } from './texts/say.ts';

export const TYPES: VisualizationType[] = [
  'table',
  'column',
  'bar',
  'line',
  'area',
  'combo',
  'pie',
  'donut',
  'kpi',
  'gauge',
  'scatter',
  'bubble',
  'heatmap',
  'histogram',
  'boxplot',
  'funnel',
  'waterfall',
  'pivot',
  'map',
  'pointMap',
  'text',
];

/** Drawn in a square of 24. */
const PICTURES: Record<VisualizationType, string> = {
  table: 'M4 6h16M4 12h16M4 18h16M10 6v12',
  column: 'M5 20v-6M10 20V8M15 20v-9M20 20V5',
  bar: 'M4 5h6M4 10h12M4 15h9M4 20h15',
  line: 'M4 17l5-6 4 3 7-9',
  area: 'M4 20v-5l5-5 4 3 7-8v15z',
  combo: 'M6 20v-7M12 20v-9M18 20v-6M4 9l6-4 5 2 5-4',
  pie: 'M12 4a8 8 0 1 0 8 8h-8z',
  donut: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z',
  kpi: 'M7 17V7l-3 2M12 17h7M12 9a3.5 3.5 0 1 1 6 2.5L12 17',
  gauge: 'M4 17a8 8 0 1 1 16 0M12 17l4-6',
  scatter: 'M6 17h.01M9 11h.01M13 14h.01M15 8h.01M18 11h.01M19 5h.01',
  bubble: 'M8 15a3 3 0 1 0 0 .01M16 8a4 4 0 1 0 0 .01',
  heatmap: 'M4 4h5v5H4zM10 4h5v5h-5zM4 10h5v5H4zM10 10h5v5h-5zM16 4h4v5h-4zM16 10h4v5h-4z',
  histogram: 'M4 20v-4h4v4zM8 20V10h4v10zM12 20V5h4v15zM16 20v-7h4v7z',
  boxplot: 'M7 4v4M4 8h6v8H4zM4 12h6M7 16v4M17 6v3M14 9h6v6h-6zM14 12h6M17 15v4',
  funnel: 'M4 5h16l-6 8v6l-4 2v-8z',
  waterfall: 'M4 20v-6h4v6M8 14V8h4v6M12 8v5h4V8M16 13V4h4v9',
  pivot: 'M4 4h16v16H4zM4 9h16M9 4v16',
  pointMap: 'M12 21s-6-6.2-6-11a6 6 0 1 1 12 0c0 4.8-6 11-6 11zM12 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4z',
  map: 'M4 6l5-2 6 2 5-2v14l-5 2-6-2-5 2zM9 4v14M15 6v14',
  text: 'M5 6h14M5 10h14M5 14h9',
};

export function TypePicker({ exploration, answer }: { exploration: Exploration; answer: Answer }) {
  const question = exploration.question.value;
  const describe = describeWith(exploration.model);
  const fits = fitsOf(shapeOf(toQuery(question), describe, answer.rows.rows), TYPES);
  const [best] = answer.recommendations;
  const { type } = answer.visualization;
  const isByHand = exploration.question.value.vegaLite !== undefined;
  const choose = (chosen: VisualizationType) =>
    exploration.change(say('chartType'), (before) => ({
      ...before,
      visualization: { ...(before.visualization ?? {}), type: chosen },
      vegaLite: undefined,
    }));
  const reasonOf = (each: VisualizationType) =>
    answer.recommendations.find((found) => found.type === each)?.reason;
  return (
    <div class="type-picker">
      <div class="types" role="radiogroup" aria-label={say('chartType')}>
        {fits.map(({ type: each, needs }) => {
          const reason = reasonOf(each);
          const hint = needs ? say(`needs_${needs}`) : reason ? say(`reason_${reason}`) : '';
          return (
            <button
              key={each}
              type="button"
              role="radio"
              class={reason ? 'type fits' : 'type'}
              aria-checked={each === type && !isByHand}
              disabled={needs !== undefined}
              aria-label={say(`type_${each}`)}
              title={[say(`type_${each}`), hint].filter(Boolean).join(': ')}
              onClick={() => choose(each)}
            >
              <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
                <path d={PICTURES[each]} />
              </svg>
            </button>
          );
        })}
      </div>
      {best && !isByHand && (
        <p class="soft">
          <strong>{say(`type_${type}`)}</strong>
          {reasonOf(type) ? `: ${say(`reason_${reasonOf(type)!}`)}` : '.'}
          {best.type !== type &&
            ` ${say('recommended')}: ${say(`type_${best.type}`)}. ${say(`reason_${best.reason}`)}`}
        </p>
      )}
    </div>
  );
}
