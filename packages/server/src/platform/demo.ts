/**
 * Demo data. Each domain contributes steps; they run in order, in one transaction, into an empty database. A step
 * takes its randomness from `random` only, so that every installation holds the same demo.
 */
import type { Tx } from './db/database.ts';

export interface DemoContext {
  tx: Tx;
  adminId: number;
  /** From 0 up to 1, the same sequence at every run. */
  random: () => number;
}

export type DemoStep = (context: DemoContext) => Promise<void>;

/** The generator known as mulberry32: small, fast and good enough for made-up shops. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
