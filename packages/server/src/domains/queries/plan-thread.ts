/** A thread that plans queries, one after the other, and caches the models that it has used; see `planner.ts`. */
import { readFileSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { createPlanBudget, type Model, type PackedPart, QueryError, unpackModel } from '@oriel/semantic';
import { LRUCache } from 'lru-cache';
import { splitShared } from '../../platform/shared-bytes.ts';
import { carryOut, type PlanOrder, type PlanReply } from './plan-tasks.ts';
import { type MadeQueries, statementHash } from './plans.ts';

/** The size of the cache in bytes of packed models. Each needs a few times as much memory. */
const CACHED_BYTES_MAX = 16 * 1024 * 1024;
/** A model that is larger than the whole cache stays in it alone. */
const models = new LRUCache<number, Model>({ maxSize: CACHED_BYTES_MAX });

class MissingSourceError extends Error {}

parentPort!.on('message', (order: PlanOrder) => {
  const model = modelOf(order.model);
  const startedMs = cpuMs();
  const reply = answer(model, order);
  parentPort!.postMessage({ ...reply, tookMs: cpuMs() - startedMs });
});

function modelOf({ number, packed }: PlanOrder['model']): Model {
  const known = models.get(number);
  if (known) return known;
  const unpacked = unpackModel();
  for (const part of splitShared(packed)) unpacked.add(deserialize(part) as PackedPart);
  models.set(number, unpacked.model, { size: Math.min(CACHED_BYTES_MAX, packed.byteLength) });
  return unpacked.model;
}

type Answer<Reply = PlanReply> = Reply extends unknown ? Omit<Reply, 'tookMs'> : never;

function answer(model: Model, { kind, input, viewer, types, now }: PlanOrder): Answer {
  const typeOf = (name: string) => {
    const type = types.get(name);
    if (type === undefined) throw new MissingSourceError(name);
    return type;
  };
  try {
    const made = carryOut(kind, input, { model, viewer, typeOf, now, budget: createPlanBudget() });
    return { made, hashes: kind === 'queries' ? hashesOf(made as MadeQueries) : [] };
  } catch (error) {
    if (error instanceof MissingSourceError) return { missing: error.message };
    if (!(error instanceof QueryError)) throw error;
    return { problem: { code: error.code, issues: error.issues } };
  }
}

const hashesOf = ({ queries }: MadeQueries) =>
  queries.map(({ statement, total }): [string, string | undefined] => [
    statementHash(statement),
    total && statementHash(total),
  ]);

/** The CPU time of this thread or, where the system does not tell it, the time. */
function cpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}
