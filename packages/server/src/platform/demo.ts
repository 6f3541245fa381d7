/**
 * Demo data. Each domain contributes steps; they run in order, in one transaction, into an empty database, or later when an
 * admin asks for it. A step must use `random` and no other source of random numbers, so that every installation has the same
 * demo data. Ids in addresses are the same only in an empty database: later, others may have them.
 */
import type { Tx } from './db/database.ts';
import { newPublicId } from './public-id.ts';

export interface DemoContext {
  tx: Tx;
  adminId: number;
  /** Returns numbers from 0 up to 1, in the same sequence at every run. */
  random: () => number;
  /** The first step makes it. */
  deploymentId: number;
  /** Whether the database is empty. */
  isFirst: boolean;
}

export async function fillDemo(
  steps: readonly DemoStep[],
  given: Pick<DemoContext, 'tx' | 'adminId' | 'isFirst'>,
): Promise<number> {
  const context = { ...given, random: seededRandom(SEED), deploymentId: 0 };
  for (const step of steps) await step(context);
  return context.deploymentId;
}

const SEED = 20_260_101;

export function demoPublicId({ random, isFirst }: DemoContext): string {
  const id = newPublicId(random);
  return isFirst ? id : newPublicId();
}

export type DemoStep = (context: DemoContext) => Promise<void>;

/** The generator known as mulberry32: small, fast and good enough for demo data. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
