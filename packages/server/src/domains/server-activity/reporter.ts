/**
 * Writes what this process knows about its engines, and what it counted in each minute, where other servers read it. While no
 * engine runs, no report is written.
 */
import { randomUUID } from 'node:crypto';
import type { Engines } from '../../engines/engines.ts';
import type { Platform } from '../../platform/module.ts';
import type { Usage } from '../usage/index.ts';
import * as store from './store.ts';

const REPORT_EVERY_MS = 10_000;
const REPORTS_KEPT_DAYS = 7;
const MINUTE_MS = 60_000;
const MINUTES_KEPT_HOURS = 24;

export interface Reporter {
  report(): Promise<store.Report>;
  /** Begins to count minutes. */
  start(): void;
  stop(): Promise<void>;
}

type ReporterPlatform = Pick<Platform, 'db' | 'log' | 'metrics' | 'processName'>;

export function createReporter(
  { db, log, metrics, processName }: ReporterPlatform,
  engines: Engines,
  usage: Usage,
): Reporter {
  const run = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let clock: NodeJS.Timeout | undefined;
  let isStopped = false;
  let before = totals();

  function totals(): store.Minute {
    const { latency, ...requests } = metrics.counted;
    return { ...requests, latency: [...latency], ...usage.totals };
  }

  const report = async () => ({
    process: processName,
    engines: await engines.list(),
    sources: engines.health(),
  });

  const later = () => {
    if (!isStopped) timer ??= setTimeout(() => void write(), REPORT_EVERY_MS).unref();
  };
  engines.onUse(later);

  async function write() {
    timer = undefined;
    try {
      const current = await report();
      await store.upsertReport(db.writes, current);
      await store.deleteOldReports(db.writes, REPORTS_KEPT_DAYS);
      if (current.engines.length) later();
    } catch (error) {
      log.warn({ err: error }, 'the report of the engines could not be written');
      later();
    }
  }

  async function countMinute() {
    const now = totals();
    const since = before;
    before = now;
    const counted = {
      requests: now.requests - since.requests,
      errors: now.errors - since.errors,
      latency: now.latency.map((n, i) => n - since.latency[i]!),
      sessions: now.sessions - since.sessions,
      queries: now.queries - since.queries,
      cachedQueries: now.cachedQueries - since.cachedQueries,
    };
    try {
      await store.insertMinute(db.writes, run, counted);
      await store.deleteOldMinutes(db.writes, MINUTES_KEPT_HOURS);
    } catch (error) {
      // What was counted goes into the next minute.
      before = since;
      log.warn({ err: error }, 'the figures of a minute could not be written');
    }
  }

  return {
    report,
    start() {
      clock = setInterval(() => void countMinute(), MINUTE_MS).unref();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(clock);
      if (clock) await countMinute();
    },
  };
}
