/**
 * Demo data. Each domain contributes steps; they run in order, in one transaction, into an empty database, or later
 * when an admin asks for it. Slow work of a step comes before the transaction. A step must use `random` and no other
 * source of random numbers, so that every installation has the same demo data. Ids in addresses are the same only in an
 * empty database: later, other resources may have them.
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

/** Runs the slow part of each step, so that the transaction holds its locks for a short time only. */
export const prepareDemo = (steps: readonly DemoStep[]): Promise<DemoFill[]> =>
  Promise.all(steps.map((step) => ('prepare' in step ? step.prepare() : step)));

export async function fillDemo(
  fills: readonly DemoFill[],
  given: Pick<DemoContext, 'tx' | 'adminId' | 'isFirst'>,
): Promise<number> {
  const context = { ...given, random: seededRandom(SEED), deploymentId: 0 };
  for (const fill of fills) await fill(context);
  return context.deploymentId;
}

const SEED = 20_260_101;

export function demoPublicId({ random, isFirst }: DemoContext): string {
  const id = newPublicId(random);
  return isFirst ? id : newPublicId();
}

export type DemoFill = (context: DemoContext) => Promise<void>;
export type DemoStep = DemoFill | { prepare(): Promise<DemoFill> };

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
