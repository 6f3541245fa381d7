/** What cards hold. A piece says how high it must be at least, and is then drawn into a box. */
import type { Formats, Say, Tokens } from '@oriel/charts/pure';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where a chart that has rows is. */
export interface Plot extends Box {
  title: string;
}

export interface Piece {
  least: number;
  /** Adds its charts that have rows to `plots`. */
  draw(box: Box, plots: Plot[]): string | Promise<string>;
}

export interface Look {
  tokens: Tokens;
  formats: Formats;
  say: Say;
  locale: string;
  isRightToLeft: boolean;
}

export const NOTHING: Piece = { least: 0, draw: () => '' };

/** A widget that cannot be drawn: then nothing is, because a picture with a hole in it looks complete. */
export class WidgetError extends Error {
  readonly title: string;
  constructor(title: string, reason: string) {
    super(reason);
    this.title = title;
  }
}
