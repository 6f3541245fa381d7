/**
 * Demo data. Each domain contributes steps; they run in order, in one transaction, into an empty database. A step must
 * use `random` and no other source of random numbers, so that every installation has the same demo data.
 */
import type { Tx } from './db/database.ts';

export interface DemoContext {
  tx: Tx;
  adminId: number;
  /** Returns numbers from 0 up to 1, in the same sequence at every run. */
  random: () => number;
}

export type DemoStep = (context: DemoContext) => Promise<void>;

/** The generator known as mulberry32: small, fast and good enough for demo data. */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
