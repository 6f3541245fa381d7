/** The cubes and their joins as a picture. */
import type { Studio } from './studio.ts';

export const Graph = (_: { studio: Studio; show(): void }) => null;
