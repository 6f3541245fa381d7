/** All widgets of a board in their grid, and the rows behind what the viewer clicks on. */
import { useState } from 'preact/hooks';
import type { Board } from './board.ts';
import type { Drilled } from './drill-query.ts';
import { Grid } from './grid.tsx';
import { topLevel } from './layout.ts';
import { SharedContext } from './shared.ts';
import { Drill } from './widgets/drill.tsx';
import { WidgetView } from './widgets/widget.tsx';

export function BoardView({ board }: { board: Board }) {
  const [drilled, setDrilled] = useState<Drilled>();
  return (
    <SharedContext.Provider value={{ board, drill: setDrilled }}>
      <Grid widgets={topLevel(board.widgets)}>{(widget) => <WidgetView widget={widget} />}</Grid>
      {drilled && (
        <Drill key={JSON.stringify(drilled.query)} {...drilled} onClose={() => setDrilled(undefined)} />
      )}
    </SharedContext.Provider>
  );
}
