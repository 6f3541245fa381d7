/** What every widget may need. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Board } from './board.ts';
import { canDrill, type DrillTarget } from './drill-query.ts';

interface SharedValues {
  board: Board;
  /** Takes a click on a figure, a mark or a cell: it filters the other charts, or shows the rows behind it. */
  drill(clicked: DrillTarget): void;
  /** The width that it is laid out for, if it is not that of the page. */
  width?: number | undefined;
  /** Whether the author is editing the board, and so sees hidden widgets too. */
  isEdited?: boolean;
  /** Shows the rows behind it in any case. */
  details?(clicked: DrillTarget): void;
}

export const SharedContext = createContext<SharedValues>(undefined as unknown as SharedValues);
export const useShared = () => useContext(SharedContext);
export const useBoard = () => useShared().board;

type Clickable = Pick<DrillTarget, 'widgetId' | 'annotation' | 'member' | 'query'>;

/** Whether a click on a value does something. */
export const opensOn = (board: Board, clickable: Clickable): boolean =>
  filtersOthers(board, clickable) || canDrill(clickable.annotation, clickable.member);

/** Whether a click on a value filters the other charts. A chart of one row has nothing to filter them by. */
export const filtersOthers = (board: Board, { widgetId, query }: Pick<Clickable, 'widgetId' | 'query'>) =>
  board.filtersOthers(widgetId) &&
  Boolean(query.dimensions?.length || query.timeDimensions?.some(({ granularity }) => granularity));
