/** What every component of the page may need. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Drilled } from './drill-query.ts';
import type { PageState } from './page-state.ts';

interface Shared {
  page: PageState;
  drill(drilled: Drilled): void;
}

export const SharedContext = createContext<Shared>(undefined as unknown as Shared);
export const useShared = () => useContext(SharedContext);
export const usePage = () => useShared().page;
