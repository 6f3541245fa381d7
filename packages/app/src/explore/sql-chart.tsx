/** A chart of the answer to SQL: of the type that fits its columns, or of the one that was chosen. */
import { Draw, SharedContext, type Snapshot } from '@oriel/charts';
import {
  chartOf,
  fitsOf,
  type MemberInfo,
  recommend,
  shapeOf,
  type VisualizationType,
} from '@oriel/visualization';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { isAbort, type Problem, problemOf } from '../data/problem.ts';
import { wordsOf } from '../parts/states.tsx';
import { createBoard } from './board.ts';
import { Choice } from './settings-controls.tsx';
import { rowsOf, type SqlAnswer } from './sql-answer.ts';
import { say } from './texts/say.ts';
import { TYPES } from './type-picker.tsx';

/** These need more than rows. */
const OFFERED = TYPES.filter((type) => !['text', 'map', 'pointMap', 'pivot', 'table'].includes(type));
const drill = () => {};

export function SqlChart({
  deploymentId,
  answer,
  checked,
  type,
  onType,
}: {
  deploymentId: number;
  /** SQL over the model that the server can plan: it draws nothing else, whatever the rows come from. */
  checked: string;
  answer: SqlAnswer;
  type: VisualizationType | undefined;
  onType(type: VisualizationType | undefined): void;
}) {
  const rows = useMemo(() => rowsOf(answer), [answer]);
  const board = useMemo(() => createBoard(deploymentId), [deploymentId]);
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [problem, setProblem] = useState<Problem>();
  const describe = (member: string): MemberInfo | undefined => {
    const { measures, dimensions } = rows.result.annotation;
    return (measures[member] ?? dimensions[member]) as MemberInfo | undefined;
  };
  const query = rows.query as Parameters<typeof shapeOf>[0];
  const shape = shapeOf(query, describe, rows.rows);
  const fitting = fitsOf(shape, OFFERED).filter(({ needs }) => needs === undefined);
  const best = recommend(shape).find((one) => OFFERED.includes(one.type))?.type;
  const drawn = fitting.some((fit) => fit.type === type) ? type : best;

  useEffect(() => {
    setProblem(undefined);
    setSnapshot(undefined);
    if (!drawn) return;
    const asking = new AbortController();
    const draw = async () => {
      const chart = chartOf({ type: drawn }, query, describe);
      if (chart.kind !== 'vega') return { reportId: 0, ...chart, meta: { query } };
      const body = { sqlQuery: checked, meta: { chart: { kind: 'vega', spec: chart.spec } } };
      const made = await api.previewReport({ deploymentId, body } as never, { signal: asking.signal });
      return { reportId: 0, ...(made as object), meta: { query } };
    };
    draw().then(
      (made) => setSnapshot(made as Snapshot),
      (error) => !isAbort(error) && setProblem(problemOf(error)),
    );
    return () => asking.abort();
  }, [rows, drawn]);

  if (!drawn) return <p class="soft">{say('noChartOfSql')}</p>;
  return (
    <div class="chart-column">
      <Choice
        label={say('chartType')}
        value={type ?? ''}
        options={[
          ['', `${say('automatic')}: ${say(`type_${best ?? 'table'}`)}`],
          ...fitting.map((fit): [string, string] => [fit.type, say(`type_${fit.type}`)]),
        ]}
        onChange={(chosen) => onType((chosen || undefined) as VisualizationType | undefined)}
      />
      {problem && <p class="bad">{wordsOf(problem)}</p>}
      <SharedContext.Provider value={{ board, drill }}>
        <div class={`chart-view card-${snapshot?.kind ?? 'vega'}`}>
          {snapshot && (
            <Draw widgetId="sql" snapshot={snapshot} title={say('chart')} rows={rows} asTable={false} />
          )}
        </div>
      </SharedContext.Provider>
    </div>
  );
}
