/** Questions as stored reports. */
import type { Visualization } from '@oriel/visualization';
import type { api } from '../data/api.ts';
import { fromQuery, type Question, toQuery, valueKeys } from './question.ts';

export type Report = Awaited<ReturnType<typeof api.getReport>>;

/** What is stored of a question, or of SQL. */
export function contentOf(question: Question, visualization: Visualization | undefined) {
  const pivot = visualization?.type === 'pivot' ? visualization.fields : undefined;
  return {
    jsonQuery: JSON.stringify(toQuery(question)),
    sqlQuery: null,
    meta: question.vegaLite
      ? { chart: { kind: 'vega', spec: question.vegaLite }, visualization: undefined }
      : visualization
        ? { visualization, chart: undefined }
        : {},
    pivotItems: pivot
      ? { rows: pivot.rows ?? [], columns: pivot.columns ?? [], measures: valueKeys(question), filters: [] }
      : null,
  };
}

/** A stored report as a question; undefined if it has none. */
export function questionOf({ jsonQuery, meta }: Pick<Report, 'jsonQuery' | 'meta'>): Question | undefined {
  if (!jsonQuery) return undefined;
  try {
    const question = fromQuery(JSON.parse(jsonQuery));
    const { visualization: stored, chart } = (meta ?? {}) as {
      visualization?: Visualization;
      chart?: { kind?: string; spec?: Record<string, unknown> };
    };
    if (!stored?.type) return chart?.kind === 'vega' ? { ...question, vegaLite: chart.spec } : question;
    const { periodComparisons, comparison, ...visualization } = stored;
    const offset = periodComparisons?.[0]?.offset ?? comparison?.offset;
    const compare = offset && { amount: offset.amount, unit: offset.unit.replace(/s$/, '') as 'year' };
    return { ...question, visualization, compare };
  } catch {
    return undefined;
  }
}
