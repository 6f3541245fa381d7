/** What every widget may need. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Board } from './board.ts';
import type { Drilled } from './drill-query.ts';

interface Shared {
  board: Board;
  /** Shows the rows behind a figure, a mark or a cell. */
  drill(drilled: Drilled): void;
}

export const SharedContext = createContext<Shared>(undefined as unknown as Shared);
export const useShared = () => useContext(SharedContext);
export const useBoard = () => useShared().board;
