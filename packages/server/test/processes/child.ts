/** A child process for the tests of the supervisor. It behaves correctly until a test asks it not to. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PIPE_FD, serveParent } from '../../src/platform/processes/serve-parent.ts';

export interface StartSettings {
  neverReady?: boolean;
  failsToStart?: string;
  ignoresSigterm?: boolean;
  hangsWhenStopped?: boolean;
  /** Written when the process has stopped in order. */
  noteStopIn?: string;
}

/** Standard output is a pipe that may be full. */
function print(text: string) {
  for (let rest = Buffer.from(text); rest.length; ) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

let settings: StartSettings = {};
let cancelled = 0;

serveParent({
  messageBytesMax: 1024 * 1024,
  async onStart(given: StartSettings) {
    settings = given;
    if (settings.failsToStart) throw new Error(settings.failsToStart);
    if (settings.ignoresSigterm) process.on('SIGTERM', () => {});
    if (settings.neverReady) await new Promise(() => setInterval(() => {}, 1000));
  },
  async onStop() {
    if (settings.hangsWhenStopped) await new Promise(() => {});
    if (settings.noteStopIn) writeFileSync(settings.noteStopIn, 'stopped in order');
  },
  handlers: {
    echo: (value: unknown) => value,
    facts: () => ({
      env: process.env,
      uid: process.getuid?.(),
      args: process.execArgv,
      limits: readFileSync('/proc/self/limits', 'utf8'),
      group: Number(readFileSync('/proc/self/stat', 'utf8').split(' ')[4]),
    }),
    fail: (message: string) => {
      throw Object.assign(new Error(message), { code: 'E_TEST' });
    },
    die: (code: number) => process.exit(code),
    crash: () => process.kill(process.pid, 'SIGSEGV'),
    wait: async (ms: number, signal: AbortSignal) => {
      await sleep(ms, undefined, { signal }).catch(() => void cancelled++);
      return 'waited';
    },
    cancelled: () => cancelled,
    hang: () => {
      for (;;);
    },
    flood: (lines: number) => {
      for (let i = 0; i < lines; i++) print(`line ${i} ${'x'.repeat(100)}\n`);
      return 'flooded';
    },
    endlessLine: (bytes: number) => {
      for (let i = 0; i < bytes; i += 65_536) print('y'.repeat(65_536));
      return 'printed';
    },
    log: (line: string) => print(`${line}\n`),
    garbage: () => writeSync(PIPE_FD, 'this is no message at all'),
    enormous: () => writeSync(PIPE_FD, Buffer.from([0x7f, 0xff, 0xff, 0xff])),
    notJson: () => writeSync(PIPE_FD, Buffer.concat([Buffer.from([0, 0, 0, 3]), Buffer.from('{x}')])),
    answerOf: (bytes: number) => 'z'.repeat(bytes),
    grandchild: () => spawn('sleep', ['600'], { stdio: 'ignore' }).pid,
    hoard: () => {
      const hoard: object[] = [];
      for (;;) hoard.push(new Array(10_000).fill({ i: hoard.length }).map((value) => ({ ...value })));
    },
  },
});
