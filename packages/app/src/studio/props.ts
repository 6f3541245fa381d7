/** What the parts of the studio are given. */
import type { Branch, Studio } from './studio.ts';

export type StudioView = 'files' | 'graph' | 'playground' | 'history';

export interface StudioProps {
  studio: Studio;
  branches: readonly Branch[];
  may(action: string): boolean;
  /** Shows another branch, or this one anew. */
  goTo(branchName: string): void;
}

/** The rows of a branch are for people who may change branches and read the tables. */
export const mayAsk = ({ isDefault }: Branch, may: (action: string) => boolean) =>
  isDefault ? may('AIBIView') : may('SchemaUpdateDevBranches') && may('DataAssetsRead');
