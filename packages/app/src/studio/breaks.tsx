/** What would fail, or answer otherwise, after a merge. */
import type { Studio } from './studio.ts';

export const Breaks = (_: { studio: Studio }) => null;
