/** The server with additional jobs for tests, which build it and start it as a separate process. */
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { JOB_WORKER_COMMAND, serveJobs } from '../packages/server/src/job-worker.ts';
import type { JobKind } from '../packages/server/src/platform/jobs/jobs.ts';
import { pace } from '../packages/server/src/platform/jobs/pace.ts';

/** Computes without a pause, as a compiler does, until there is a file with this name or the server is gone. */
const compute: JobKind<{ file: string }> = {
  name: 'test.compute',
  async run({ file }) {
    for (const server = process.ppid; !existsSync(file) && process.ppid === server; );
  },
};

/** Runs until there is a file with this name. */
const waitForFile: JobKind<{ file: string }> = {
  name: 'test.wait-for-file',
  async run({ file }, { signal, log, attempt }) {
    log.info({ attempt }, 'waiting for a file');
    while (!existsSync(file)) await sleep(20, undefined, { signal });
  },
};

/** Runs until the server is so busy with requests that jobs pause. */
const waitForLoad: JobKind<object> = {
  name: 'test.wait-for-load',
  async run(_payload, { signal }) {
    for (;;) {
      for (const end = performance.now() + 20; performance.now() < end; );
      if (pace.pauseMs() > 0) return;
      await sleep(20, undefined, { signal });
    }
  },
};

if (process.argv[2] === JOB_WORKER_COMMAND) serveJobs([compute, waitForFile, waitForLoad] as JobKind[]);
else await import('../packages/server/src/main.ts');
