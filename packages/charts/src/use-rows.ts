/** Rows of a report, while it is on the page. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Board } from './board.ts';
import { askFor, type Rows, totalOf } from './rows.ts';
import type { Problem, Snapshot } from './types.ts';

export interface RowsState {
  rows?: Rows;
  problem?: Problem;
  isLoading: boolean;
  retry(): void;
}

/** Loads the rows of a widget. Old rows stay until the new ones are here. */
export function useRows(board: Board, snapshot: Snapshot, widgetId: string): RowsState {
  const [state, setState] = useState<Omit<RowsState, 'retry'>>({ isLoading: true });
  const [attempt, setAttempt] = useState(0);
  const current = useRef('');
  const ask = askFor(board, snapshot, widgetId);
  const key = JSON.stringify([ask.queries, ask.total, board.round, attempt]);
  useEffect(() => {
    current.current = key;
    setState(({ rows }) => ({ ...(rows ? { rows } : {}), isLoading: true }));
    const load = async () => board.load([...ask.queries, ...(await totalOf(board, ask))]);
    load().then(
      (results) => {
        if (current.current === key) setState({ rows: ask.read(results), isLoading: false });
      },
      (problem: Problem) => {
        if (current.current === key) setState({ problem, isLoading: false });
      },
    );
  }, [key]);
  return { ...state, retry: () => setAttempt((count) => count + 1) };
}
