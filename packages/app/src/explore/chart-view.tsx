/** The answer as a chart, drawn by the same parts as on dashboards. */
import { Draw, Drill, type DrillTarget, lazy, SharedContext } from '@oriel/charts';
import { useErrorBoundary, useState } from 'preact/hooks';
import type { Answer, Exploration } from './exploration.ts';
import { say } from './texts/say.ts';

export const DrillMenu = lazy(() => import('./drill-menu.tsx').then((module) => module.DrillMenu), null);

export function ChartView({
  exploration,
  answer,
  title,
}: {
  exploration: Exploration;
  answer: Answer;
  title: string;
}) {
  const [drilled, setDrilled] = useState<DrillTarget>();
  const [isOpen, setOpen] = useState(false);
  const [error, reset] = useErrorBoundary();
  if (error)
    return (
      <div class="empty" role="alert">
        <h2>{say('queryFailed')}</h2>
        <p>{error.message}</p>
        <button type="button" onClick={reset}>
          {say('chart')}
        </button>
      </div>
    );
  if (exploration.isHeld.value)
    return (
      <div class="empty" role="status">
        <p>{say('vegaByLink')}</p>
        <button
          type="button"
          class="primary"
          onClick={() => {
            exploration.held.value = undefined;
          }}
        >
          {say('vegaDraw')}
        </button>
      </div>
    );
  const { snapshot, rows } = answer;
  const drill = (found: DrillTarget) => {
    setDrilled(found);
    setOpen(false);
  };
  return (
    <SharedContext.Provider value={{ board: exploration.board, drill }}>
      <div class={`chart-view card-${snapshot.kind}`}>
        <Draw widgetId="explore" snapshot={snapshot} title={title} rows={rows} asTable={false} />
      </div>
      {drilled && !isOpen && (
        <DrillMenu
          exploration={exploration}
          drilled={drilled}
          onRows={() => setOpen(true)}
          onClose={() => setDrilled(undefined)}
        />
      )}
      {drilled && isOpen && <Drill {...drilled} onClose={() => setDrilled(undefined)} />}
    </SharedContext.Provider>
  );
}
