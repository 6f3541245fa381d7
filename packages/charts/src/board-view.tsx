/** All widgets of a board in their grid, and what a click of the viewer does: it filters the other charts, or shows rows. */
import { useState } from 'preact/hooks';
import type { Board } from './board.ts';
import { type DrillTarget, namesOf } from './drill-query.ts';
import { Grid } from './grid.tsx';
import { topLevel } from './layout.ts';
import { SharedContext } from './shared.ts';
import type { Widget } from './types.ts';
import { Drill } from './widgets/drill.tsx';
import { WidgetView } from './widgets/widget.tsx';

export function BoardView({
  board,
  widgets = topLevel(board.widgets),
  width,
}: {
  board: Board;
  widgets?: Widget[];
  /** The width to show the board at, if not that of the page. */
  width?: number | undefined;
}) {
  const [drilled, setDrilled] = useState<DrillTarget>();
  const open = (clicked: DrillTarget) =>
    board.filtersOthers(clicked.widgetId) && clicked.narrowings.length
      ? board.crossFilter(clicked)
      : setDrilled(clicked);
  const kept = [...board.crossFilters.values()].map((clicked) => namesOf(clicked, board.formats).join(', '));
  return (
    <SharedContext.Provider value={{ board, drill: open, details: setDrilled, width }}>
      <p class="hidden" role="status">
        {kept.length > 0 && board.say('crossFiltered', { names: kept.join('; ') })}
      </p>
      <Grid widgets={widgets}>{(widget) => <WidgetView widget={widget} />}</Grid>
      {drilled && (
        <Drill key={JSON.stringify(drilled.query)} {...drilled} onClose={() => setDrilled(undefined)} />
      )}
    </SharedContext.Provider>
  );
}
