/** Makes the files of the demo's deployment, in a process of its own. */
import { statSync } from 'node:fs';
import { mkdtemp, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../platform/log.ts';
import { giveTo } from '../platform/processes/process-user.ts';
import { nodeProgram } from '../platform/processes/program.ts';
import { supervise } from '../platform/processes/supervise.ts';
import type { EngineProgram } from './engine-program.ts';
import { letRead, makeFilesDir } from './engine-user.ts';
import type { DemoDataSettings } from './process/main.ts';

const FILES = ['customers', 'products', 'orders', 'line_items', 'events'].map((table) => `${table}.parquet`);
const MAKE_WITHIN_MS = 5 * 60_000;

export interface DemoFilesOptions {
  program: EngineProgram;
  dataDir: string;
  deploymentId: number;
  /** Where the data ends, `2026-12-31T15:00:00.000Z`. */
  until: string;
  log: Logger;
}

/** Whether the file holds the data up to this moment: its modification time is the end of its data. */
const isOf = (at: Date, path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs === at.getTime();

/**
 * Does nothing if the files are there. Replaces them one by one, each of them atomically. An old file fits new ones
 * meanwhile, because only the times in their rows differ. Several servers may do this at once: all make the same files.
 */
export async function makeDemoFiles({
  program,
  dataDir,
  deploymentId,
  until,
  log,
}: DemoFilesOptions): Promise<void> {
  const { script, command, user, fence } = program;
  const dir = await makeFilesDir(user, dataDir, deploymentId);
  const at = new Date(until);
  if (FILES.every((file) => isOf(at, join(dir, file)))) return;
  const work = await mkdtemp(join(dataDir, 'files', '.making-'));
  try {
    if (user) await giveTo(user, work);
    const start: DemoDataSettings = { type: 'demo-data', folder: work, until };
    const maker = await supervise({
      name: 'maker of the demo data',
      program: nodeProgram(script, {
        command,
        user,
        ...(fence && { fence: { ...fence, writable: [work] } }),
      }),
      start,
      startWithinMs: MAKE_WITHIN_MS,
      log,
    });
    await maker.stop();
    for (const file of FILES) {
      await letRead(user, join(work, file), 0o640);
      await utimes(join(work, file), at, at);
      await rename(join(work, file), join(dir, file));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
