/** Collects log lines of deployments in memory, and writes those of a second together. */
import type { operations, QueryOf } from '@oriel/contract';
import type { Platform } from '../../platform/module.ts';
import { cutLine } from './rules.ts';
import * as store from './store.ts';

type Query = QueryOf<typeof operations.logs>;

export interface LogLine {
  /** Of the deploy branch, or of another one. */
  source: NonNullable<Query['source']>;
  container: NonNullable<Query['container']>;
  message: string;
}

export interface DeploymentLog {
  /** Does not wait for the database. Further lines are dropped while too many wait. */
  add(deploymentId: number, lines: readonly LogLine[]): void;
  /** Writes what waits. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

export const LINES_KEPT = 10_000;
const WAITING_MAX = 5000;
const WRITE_EVERY_MS = 1000;
/** A deployment may have this many lines more than it keeps, for each process that writes. */
const TIDY_AFTER_LINES = 200;
const TIDY_ROWS = 1000;

export function createDeploymentLog({
  db,
  log,
  processName,
}: Pick<Platform, 'db' | 'log' | 'processName'>): DeploymentLog {
  let waiting: store.NewLine[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  /** How many lines each deployment got since its old ones were deleted. */
  const added = new Map<number, number>();

  async function write(lines: store.NewLine[]) {
    try {
      await store.insertLines(db.writes, lines);
      // Tidy after the first line too: processes that end early would otherwise never delete old lines.
      for (const { deploymentId } of lines)
        added.set(deploymentId, (added.get(deploymentId) ?? TIDY_AFTER_LINES) + 1);
      for (const [deploymentId, count] of added) if (count >= TIDY_AFTER_LINES) await tidy(deploymentId);
    } catch (error) {
      log.warn({ err: error, lines: lines.length }, 'log lines of deployments could not be written');
    }
  }

  async function tidy(deploymentId: number) {
    added.set(deploymentId, 0);
    let deleted = TIDY_ROWS;
    while (deleted >= TIDY_ROWS) {
      deleted = await store.deleteOldLines(db.writes, deploymentId, LINES_KEPT, TIDY_ROWS);
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const lines = waiting;
    waiting = [];
    if (dropped)
      log.warn({ lines: dropped }, 'log lines of deployments were dropped, because there were too many');
    dropped = 0;
    if (lines.length) writing = writing.then(() => write(lines));
    return writing;
  }

  return {
    add(deploymentId, lines) {
      const at = new Date().toISOString();
      for (const { source, container, message } of lines) {
        if (waiting.length >= WAITING_MAX) dropped++;
        else
          waiting.push({ deploymentId, source, container, pod: processName, message: cutLine(message), at });
      }
      timer ??= setTimeout(flush, WRITE_EVERY_MS).unref();
    },
    flush,
    stop: flush,
  };
}
