/** What the parts of the studio are given. */
import type { Branch, Studio } from './studio.ts';

export type StudioView = 'files' | 'graph' | 'history';

export interface StudioProps {
  studio: Studio;
  branches: readonly Branch[];
  may(action: string): boolean;
  /** Shows another branch, or this one anew. */
  goTo(branchName: string): void;
}
