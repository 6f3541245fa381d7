/** Servers that answer queries renew the rows of readers when a run says so, so that their pages open at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Platform } from '../../platform/module.ts';
import { readerOf } from './readers.ts';
import type { RunOptions } from './run-job.ts';
import * as store from './runs.store.ts';
import { boardFor, boardOf } from './widget-queries.ts';

const WAITING_MAX = 100;
const LIMIT_MS = 10 * 60_000;
/**
 * The pause after each query, as a multiple of its time: these rows are not urgent, and other work of the server is.
 */
const PAUSES = 3;
const PAUSE_MAX_MS = 1000;

type WarmingRequest = { runId: number; deliveryIds: number[] };

export function createRowWarmer(
  { listener, log, db }: Pick<Platform, 'listener' | 'log' | 'db'>,
  {
    queries,
    readPublished,
    tenantSettings,
  }: Pick<RunOptions, 'queries' | 'readPublished' | 'tenantSettings'>,
) {
  const waiting: WarmingRequest[] = [];
  const stopping = new AbortController();
  let isOn = false;
  let running: Promise<void> | undefined;

  async function warm({ runId, deliveryIds }: WarmingRequest) {
    const run = await store.findRun(db, runId);
    const version = run && (await readPublished(db, run.dashboardId));
    if (!run || !version) return;
    const board = boardOf(version, run);
    const settings = await tenantSettings.current();
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(LIMIT_MS)]);
    for (const delivery of await store.listDeliveriesById(db, run, deliveryIds)) {
      if (signal.aborted) return;
      try {
        const { actor } = await readerOf(db, run, delivery, settings);
        const call = { actor, db, signal, deploymentId: run.deploymentId };
        const { asked } = await boardFor(board, run, async () => (await queries.viewer(call)).userAttributes);
        for (const one of asked) {
          const begun = performance.now();
          await (typeof one === 'string' ? queries.runSql(call, one) : queries.run(call, one));
          await sleep(Math.min(PAUSE_MAX_MS, PAUSES * (performance.now() - begun)), undefined, { signal });
        }
      } catch (error) {
        // A later query of the reader reports the error.
        log.debug({ err: error, runId, deliveryId: delivery.id }, 'could not renew rows');
      }
    }
  }

  async function work() {
    for (let told = waiting.shift(); told; told = waiting.shift()) {
      await warm(told).catch((error) => log.debug({ err: error, runId: told.runId }, 'could not renew rows'));
    }
    running = undefined;
  }

  listener.on(store.WARM_CHANNEL, (payload) => {
    if (!isOn || !payload || waiting.length >= WAITING_MAX) return;
    waiting.push(JSON.parse(payload) as WarmingRequest);
    running ??= work();
  });

  return {
    start() {
      isOn = true;
    },
    async stop() {
      isOn = false;
      waiting.length = 0;
      stopping.abort();
      await running;
    },
  };
}
