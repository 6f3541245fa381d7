/**
 * Plans cheap queries at once, and all others in threads, so that no caller waits for the plans of others. A query is
 * cheap if it is short and needs little of a plan's budget; for sharers that have used much time lately, threads make
 * all plans. Sharers take turns at the threads, first those that have used the least time, and a sharer that has used
 * too much is refused.
 */

import { createPlanBudget, type DialectName, isSpent, type Model, QueryError } from '@oriel/semantic';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createThreads, ThreadLimitError, threadScript } from '../../platform/threads.ts';
import { createTimeBudget, type TimeBudgetLimits } from '../../platform/time-budget.ts';
import { packedOf } from '../builds/index.ts';
import { createObjectIds } from './object-ids.ts';
import {
  carryOut,
  type Input,
  type PlanOrder,
  type PlanReply,
  type TaskKind,
  type TaskResult,
} from './plan-tasks.ts';
import { type MadeQueries, type PlanContext, rememberHash } from './plans.ts';
import type { FindSource } from './sources.ts';

export interface PlanCaller {
  /** The sharer of the time for plans; see `sharerOf`. */
  sharer: string;
  /** Asked for only if the plan is made in a thread. */
  readonly signal: AbortSignal;
}

export interface Planner {
  /**
   * `characters` is the length of what the caller has sent. Throws a `QueryError` if it is wrong, and a 429 if the caller
   * has used too much time. Returns no promise if the plan is cheap.
   */
  plan<Kind extends TaskKind>(
    kind: Kind,
    input: Input<Kind>,
    characters: number,
    context: PlanContext,
    by: PlanCaller,
  ): TaskResult<Kind> | Promise<TaskResult<Kind>>;
  stop(): Promise<void>;
}

/** What the loop does itself: at most a few milliseconds. */
const CHEAP = { pieces: 200, characters: 60_000 };
const CHEAP_CHARACTERS = 4000;
/** A sharer that has used this share of its time gets no plans on the loop, however cheap they seem to be. */
const CHEAP_USED = 0.1;

/** The largest plan takes a few hundred milliseconds, and the largest model a few seconds. */
const THREAD_LIMITS = { timeMs: 10_000, memoryMb: 1024 };
const PLACES = { places: 2, sharerPlaces: 1, waitingMax: 200, sharerWaitingMax: 50, waitMs: 30_000 };
const TIME: TimeBudgetLimits = { burstMs: 10_000, share: 0.25 };

/** Threads cache models by these ids, and may be shared by several planners. */
const idOf = createObjectIds();

export function createPlanner(time: TimeBudgetLimits = TIME, threadLimits = THREAD_LIMITS): Planner {
  const threads = createThreads<PlanOrder, PlanReply>(threadScript('plan-thread'), threadLimits, {
    idleMax: PLACES.places,
  });
  const budget = createTimeBudget(
    time,
    'Planning your queries has taken too much time. Try again later, with smaller or fewer queries.',
  );
  const places = createAdmission({ ...PLACES, usedBy: budget.usedBy });

  /** Undefined if it is not cheap. */
  function planNow<Kind extends TaskKind>(
    kind: Kind,
    input: Input<Kind>,
    { source, ...context }: PlanContext,
    sharer: string,
  ): TaskResult<Kind> | undefined {
    const left = createPlanBudget(CHEAP);
    const startedAt = performance.now();
    try {
      const typeOf = (name: string) => source(name).type;
      const made = carryOut(kind, input, { ...context, typeOf, budget: left });
      return isSpent(left) ? undefined : made;
    } catch (error) {
      if (isSpent(left)) return undefined;
      throw error;
    } finally {
      budget.use(sharer, performance.now() - startedAt);
    }
  }

  async function planInThread<Kind extends TaskKind>(
    kind: Kind,
    input: Input<Kind>,
    { model, source, viewer, now }: PlanContext,
    { sharer, signal }: PlanCaller,
  ): Promise<TaskResult<Kind>> {
    const order: PlanOrder = {
      kind,
      input,
      model: { number: idOf(model), packed: packedOf(model) },
      viewer,
      types: typesOf(model, source),
      now,
    };
    const reply = await places.take({ sharer, signal }, async () => {
      budget.requireTime(sharer);
      const run = await threads.run(order, WHOLE).catch((error: unknown): never => {
        budget.use(sharer, threadLimits.timeMs);
        if (error instanceof ThreadLimitError) throw tooMuch();
        throw error;
      });
      budget.use(sharer, run.tookMs);
      return run;
    });
    if ('problem' in reply) throw new QueryError(reply.problem.code, reply.problem.issues);
    if ('missing' in reply) {
      source(reply.missing);
      throw new Error(`The data source ${reply.missing} was not known to the thread.`);
    }
    if (kind === 'queries') rememberHashes(reply.made as MadeQueries, reply.hashes);
    return reply.made as TaskResult<Kind>;
  }

  return {
    plan(kind, input, characters, context, by) {
      budget.requireTime(by.sharer);
      const mayBeCheap =
        characters <= CHEAP_CHARACTERS && budget.usedBy(by.sharer) <= CHEAP_USED * time.burstMs;
      const made = mayBeCheap ? planNow(kind, input, context, by.sharer) : undefined;
      return made ?? planInThread(kind, input, context, by);
    },
    stop: threads.stop,
  };
}

/** A plan that has begun is made even if its caller leaves: ending the thread would cost more. */
const { signal: WHOLE } = new AbortController();

function rememberHashes({ queries }: MadeQueries, hashes: readonly [string, string | undefined][]) {
  for (const [i, { statement, total }] of queries.entries()) {
    const [ofStatement, ofTotal] = hashes[i]!;
    rememberHash(statement, ofStatement);
    if (total) rememberHash(total, ofTotal!);
  }
}

const types = new WeakMap<FindSource, WeakMap<Model, ReadonlyMap<string, DialectName>>>();

/** The types of the model's data sources, but for those that are not configured. */
function typesOf(model: Model, source: FindSource): ReadonlyMap<string, DialectName> {
  const byModel = types.get(source) ?? new WeakMap<Model, ReadonlyMap<string, DialectName>>();
  types.set(source, byModel);
  let found = byModel.get(model);
  if (!found) {
    const names = new Set([...model.cubes.values()].map(({ dataSource }) => dataSource));
    found = new Map(
      [...names].flatMap((name): [string, DialectName][] => {
        try {
          return [[name, source(name).type]];
        } catch {
          return [];
        }
      }),
    );
    byModel.set(model, found);
  }
  return found;
}

const tooMuch = () =>
  new QueryError('unsupported_query', [
    { path: '', message: 'The query takes too much time or memory to plan. Ask for less at once.' },
  ]);
