/** Tests the guarantees of the supervisor with real child processes, including ones that misbehave. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { type Logger, pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { StartSettings } from '../../../test/processes/child.ts';
import { ChildError } from './channel.ts';
import { isRoot, nobody } from './process-user.ts';
import { nodeProgram } from './program.ts';
import { pauseBefore, type SupervisedProcess, type SuperviseOptions, supervise } from './supervise.ts';

let folder: string;
let childScript: string;
let parentScript: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oriel-processes-'));
  await chmod(folder, 0o755);
  const fixtures = join(import.meta.dirname, '../../../test/processes');
  await build({
    entryPoints: [join(fixtures, 'child.ts'), join(fixtures, 'parent.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('/');" },
  });
  childScript = join(folder, 'child.mjs');
  parentScript = join(folder, 'parent.mjs');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const started: SupervisedProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) await child.stop();
});

interface Entry {
  level: number;
  msg: string;
  [field: string]: unknown;
}

function recordingLog(): { log: Logger; entries: Entry[] } {
  const entries: Entry[] = [];
  return { log: pino({ base: null }, { write: (line) => void entries.push(JSON.parse(line)) }), entries };
}

interface Counts {
  restarts: number;
  up: boolean[];
  outcomes: string[];
}

async function start(settings: StartSettings = {}, options: Partial<SuperviseOptions> = {}) {
  const { log, entries } = recordingLog();
  const counts: Counts = { restarts: 0, up: [], outcomes: [] };
  const child = await supervise({
    name: 'test child',
    program: nodeProgram(childScript),
    start: settings,
    messageBytesMax: 1024 * 1024,
    pauses: { firstMs: 20, maxMs: 100 },
    log,
    metrics: {
      setUp: (up) => void counts.up.push(up),
      countRestart: () => void counts.restarts++,
      observeRequest: (outcome) => void counts.outcomes.push(outcome),
    },
    ...options,
  });
  started.push(child);
  const ask = <Result>(method: string, params?: unknown, timeoutMs = 120_000) =>
    child.request<Result>(method, params, { timeoutMs });
  return { child, ask, entries, counts };
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};
const isGone = (pid: number) => expect.poll(() => isAlive(pid)).toBe(false);
const comesBack = ({ child, ask }: Awaited<ReturnType<typeof start>>, before: number | undefined) =>
  expect
    .poll(async () => (child.pid !== before ? ask('echo', 'again').catch(() => undefined) : undefined))
    .toBe('again');

describe('requests', () => {
  test('are answered in any order, with any JSON value', async () => {
    const { ask, counts } = await start();
    const values = [null, 0, 'ä\n\u2028"', [1, { a: [] }], { deep: { er: true } }, 'x'.repeat(500_000)];
    const slow = ask('wait', 100);
    expect(await Promise.all(values.map((value) => ask('echo', value)))).toEqual(values);
    expect(await slow).toBe('waited');
    expect(counts.outcomes).toEqual(Array(7).fill('answered'));
  });

  test('fail with the error of their handler, and the child continues', async () => {
    const { child, ask } = await start();
    const { pid } = child;
    const failure = await ask('fail', 'no such table').catch((error) => error);
    expect(failure).toBeInstanceOf(ChildError);
    expect(failure).toMatchObject({ code: 'failed', message: 'no such table', remoteCode: 'E_TEST' });
    await expect(ask('toString')).rejects.toThrow('there is no handler named toString');
    expect(await ask('echo', 1)).toBe(1);
    expect(child.pid).toBe(pid);
  });

  test('end at their time limit or when they are cancelled, and the child is told', async () => {
    const { child, ask, counts } = await start();
    await expect(ask('wait', 60_000, 50)).rejects.toMatchObject({ code: 'timed_out' });
    const controller = new AbortController();
    const asked = child.request('wait', 60_000, { timeoutMs: 60_000, signal: controller.signal });
    controller.abort(new Error('nobody waits'));
    await expect(asked).rejects.toThrow('nobody waits');
    await expect.poll(() => ask('cancelled')).toBe(2);
    const never = child.request('echo', 1, { timeoutMs: 1000, signal: controller.signal });
    await expect(never).rejects.toThrow('nobody waits');
    expect(counts.outcomes.slice(0, 2)).toEqual(['timed_out', 'cancelled']);
  });

  test('that are too large are refused on both sides, and the child continues', async () => {
    const { child, ask } = await start();
    const { pid } = child;
    await expect(ask('echo', 'x'.repeat(1024 * 1024))).rejects.toMatchObject({ code: 'too_large' });
    await expect(ask('answerOf', 1024 * 1024)).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('1048576'),
    });
    expect(await ask('echo', 1)).toBe(1);
    expect(child.pid).toBe(pid);
  });

  test('do not fill our memory if the child hangs', async () => {
    const { child, ask } = await start();
    const hanging = ask('hang');
    const many = Array.from({ length: 20 }, () =>
      ask('echo', 'x'.repeat(500_000)).catch((error) => error.code),
    );
    const refused = await Promise.all(many.slice(10));
    expect(refused).toEqual(Array(10).fill('too_large'));
    process.kill(child.pid!, 'SIGKILL');
    await expect(hanging).rejects.toMatchObject({ code: 'gone' });
  });
});

describe('a child that ends is started again', () => {
  test.each([
    ['exits', 'die', 3, { code: 3 }],
    ['crashes', 'crash', undefined, { signal: 'SIGSEGV' }],
  ])('when it %s, and all waiting requests fail at once', async (_, method, params, exit) => {
    const running = await start();
    const { child, ask, entries, counts } = running;
    const { pid } = child;
    const waiting = [ask('wait', 60_000), ask('wait', 60_000)];
    const dying = ask(method, params);
    for (const request of [...waiting, dying]) await expect(request).rejects.toMatchObject({ code: 'gone' });
    await comesBack(running, pid);
    expect(counts).toMatchObject({ restarts: 1, up: [true, false, true] });
    expect(entries).toContainEqual(
      expect.objectContaining({ msg: 'the test child ended; starting it again', ...exit }),
    );
  });

  test('when somebody kills it', async () => {
    const running = await start();
    const { pid } = running.child;
    process.kill(pid!, 'SIGKILL');
    await comesBack(running, pid);
    expect(isAlive(pid!)).toBe(false);
  });

  test('when it hangs and does not answer the heartbeat', async () => {
    const running = await start({}, { answerWithinMs: 1000 });
    const { pid } = running.child;
    await expect(running.ask('hang')).rejects.toMatchObject({ code: 'gone' });
    await comesBack(running, pid);
    await isGone(pid!);
    expect(running.entries).toContainEqual(
      expect.objectContaining({ reason: 'it did not answer for 1000 ms', signal: 'SIGKILL' }),
    );
  });

  test('but not while it is busy with requests and still answers the heartbeat', async () => {
    // Long enough that a busy machine answers in time.
    const { child, ask } = await start({}, { answerWithinMs: 6000 });
    const { pid } = child;
    expect(await ask('wait', 7000)).toBe('waited');
    expect(child.pid).toBe(pid);
  });

  test.each(['garbage', 'enormous', 'notJson'])(
    'when it sends data that is not a message (%s)',
    async (method) => {
      const running = await start();
      const { pid } = running.child;
      await expect(running.ask(method)).rejects.toMatchObject({ code: 'gone' });
      await comesBack(running, pid);
      expect(running.entries).toContainEqual(
        expect.objectContaining({ reason: expect.stringContaining('it sent data that is not a message') }),
      );
    },
  );

  test('when it needs more memory than its limit', async () => {
    const running = await start({}, { program: nodeProgram(childScript, { heapMb: 40 }) });
    const { pid } = running.child;
    await expect(running.ask('hoard')).rejects.toMatchObject({ code: 'gone' });
    await comesBack(running, pid);
  });

  test('and the processes that it started are ended', async () => {
    const running = await start();
    const { pid } = running.child;
    const grandchild = await running.ask<number>('grandchild');
    expect(isAlive(grandchild)).toBe(true);
    await expect(running.ask('die', 0)).rejects.toMatchObject({ code: 'gone' });
    await isGone(grandchild);
    await comesBack(running, pid);
  });

  test('with pauses that double up to a limit', () => {
    const pauses = { firstMs: 200, maxMs: 3000 };
    expect([1, 2, 3, 4, 5, 6, 7, 100].map((failures) => pauseBefore(failures, pauses))).toEqual([
      0, 200, 400, 800, 1600, 3000, 3000, 3000,
    ]);
  });
});

describe('a start', () => {
  test('that is not ready in time fails, and leaves no process', async () => {
    const starting = start(
      { neverReady: true, ignoresSigterm: true },
      {
        startWithinMs: 500,
        giveUp: async ({ error, exit }) => (exit?.signal === 'SIGKILL' ? error : undefined),
      },
    );
    await expect(starting).rejects.toThrow('not ready within 500 ms');
  });

  test('that fails reports the last line of the child', async () => {
    await expect(start({ failsToStart: 'the disk is full' })).rejects.toThrow('the disk is full');
    await expect(
      start(
        {},
        {
          start: undefined,
          isReady: () => new Promise(() => {}),
          program: {
            command: '/bin/sh',
            args: ['-c', 'echo first >&2; echo the reason >&2; exit 3'],
            env: {},
          },
        },
      ),
    ).rejects.toThrow('the reason');
    await expect(start({}, { program: { command: '/does/not/exist', args: [], env: {} } })).rejects.toThrow(
      'ENOENT',
    );
  });

  test('is tried again until `giveUp` returns an error', async () => {
    const failures: number[] = [];
    const starting = start(
      { failsToStart: 'not yet' },
      {
        giveUp: async ({ failingForMs, wasEverUp }) => {
          failures.push(failingForMs);
          expect(wasEverUp).toBe(false);
          return failures.length === 3 ? new Error('three times is enough') : undefined;
        },
      },
    );
    await expect(starting).rejects.toThrow('three times is enough');
    expect(failures).toHaveLength(3);
  });

  test('can be checked by a probe, for programs without a pipe', async () => {
    let looks = 0;
    const { child } = await start(
      {},
      {
        start: undefined,
        program: { command: '/bin/sleep', args: ['600'], env: {} },
        isReady: async () => void looks++,
        stopSteps: [{ by: 'SIGINT', withinMs: 10_000 }],
      },
    );
    expect(looks).toBe(1);
    await expect(child.request('echo', 1, { timeoutMs: 1000 })).rejects.toMatchObject({ code: 'gone' });
    const { pid } = child;
    process.kill(pid!, 'SIGKILL');
    await expect.poll(() => looks).toBe(2);
    expect(child.pid).not.toBe(pid);
  });

  test('of a child that was up once is given up only if `giveUp` returns an error', async () => {
    let isBroken = false;
    const lost: Error[] = [];
    const { ask, child } = await start(
      {},
      {
        prepare: async () => {
          if (isBroken) throw new Error('its files are gone');
        },
        giveUp: async ({ error }) => error,
        onLost: (error) => void lost.push(error),
      },
    );
    isBroken = true;
    await ask('die', 1).catch(() => {});
    await expect.poll(() => lost.map(({ message }) => message)).toEqual(['its files are gone']);
    expect(child.isUp).toBe(false);
    await expect(ask('echo', 1)).rejects.toMatchObject({ code: 'gone' });
  });
});

interface Facts {
  env: Record<string, string>;
  uid: number;
  args: string[];
  limits: string;
  group: number;
}

describe('a child', () => {
  test('gets only the given environment, and nothing of ours', async () => {
    process.env.ORIEL_TEST_SECRET = 'must not be passed on';
    const { ask, child } = await start({}, { program: nodeProgram(childScript, { env: { GIVEN: 'yes' } }) });
    delete process.env.ORIEL_TEST_SECRET;
    const { env, group } = await ask<Facts>('facts');
    expect(env).toEqual({ GIVEN: 'yes' });
    expect(group).toBe(child.pid);
  });

  test('has the limits that are given', async () => {
    const { ask } = await start(
      {},
      {
        program: nodeProgram(childScript, { heapMb: 64, limits: { openFiles: 64, cpuSeconds: 500 } }),
      },
    );
    const { limits, args } = await ask<Facts>('facts');
    expect(limits).toMatch(/^Max open files +64 +64 /m);
    expect(limits).toMatch(/^Max cpu time +500 +500 /m);
    expect(args).toContain('--max-old-space-size=64');
    const { child } = await start(
      {},
      {
        start: undefined,
        isReady: async () => {},
        program: { command: '/bin/sleep', args: ['600'], env: {}, limits: { addressSpaceMb: 256 } },
      },
    );
    await expect
      .poll(() => readFileSync(`/proc/${child.pid}/limits`, 'utf8'))
      .toMatch(/^Max address space +268435456 +268435456 /m);
  });

  test.runIf(isRoot())('runs as another user if one is given', async () => {
    const user = nobody()!;
    const { ask } = await start({}, { program: nodeProgram(childScript, { user }) });
    expect((await ask<Facts>('facts')).uid).toBe(user.ids!.uid);
  });

  test('that prints very much is not blocked, and does not fill the log', async () => {
    const { ask, entries } = await start();
    expect(await ask('flood', 200_000)).toBe('flooded');
    expect(await ask('endlessLine', 20_000_000)).toBe('printed');
    await expect
      .poll(() =>
        ask('log', 'the last line').then(() => entries.some(({ msg }) => msg.includes('the last line'))),
      )
      .toBe(true);
    expect(entries.find(({ msg }) => msg.startsWith('line 0 '))).toMatchObject({
      process: 'test child',
      level: 30,
    });
    expect(entries.length).toBeLessThan(100_000);
    expect(entries.some(({ leftOut }) => Number(leftOut) > 0)).toBe(true);
    expect(Math.max(...entries.map(({ msg }) => msg.length))).toBeLessThan(10_000);
  });

  test('that logs as we do keeps its levels and fields', async () => {
    const { ask, entries } = await start();
    await ask('log', JSON.stringify({ level: 50, time: 'then', jobId: 7, msg: 'a job failed' }));
    await ask('log', '{"level":nonsense');
    await expect.poll(() => entries.map(({ msg }) => msg)).toContain('{"level":nonsense');
    expect(entries).toContainEqual(
      expect.objectContaining({ level: 50, process: 'test child', jobId: 7, msg: 'a job failed' }),
    );
  });
});

describe('a stop', () => {
  test('lets the child finish properly', async () => {
    const noteStopIn = join(folder, 'note-stop');
    const { child, counts } = await start({ noteStopIn });
    await child.stop();
    expect(readFileSync(noteStopIn, 'utf8')).toBe('stopped in order');
    expect(isAlive(child.pid!)).toBe(false);
    expect(counts).toMatchObject({ restarts: 0, up: [true, false] });
    await child.stop();
  });

  test('also ends a child that does not listen and ignores SIGTERM', async () => {
    const { child } = await start(
      { hangsWhenStopped: true, ignoresSigterm: true },
      {
        stopSteps: [
          { by: 'request', withinMs: 100 },
          { by: 'SIGTERM', withinMs: 100 },
          { by: 'SIGKILL', withinMs: 10_000 },
        ],
      },
    );
    await child.stop();
    expect(isAlive(child.pid!)).toBe(false);
  });

  test('rejects if the child does not end', async () => {
    const { child } = await start(
      { hangsWhenStopped: true },
      { stopSteps: [{ by: 'request', withinMs: 50 }] },
    );
    await expect(child.stop()).rejects.toThrow(`its process ${child.pid} does not end`);
    process.kill(child.pid!, 'SIGKILL');
    started.pop();
  });

  test('during a restart prevents the next start', async () => {
    const { child, ask } = await start({}, { pauses: { firstMs: 60_000, maxMs: 60_000 } });
    await ask('die', 1).catch(() => {});
    await expect.poll(() => child.isUp).toBe(true);
    await ask('die', 1).catch(() => {});
    const { pid } = child;
    await child.stop();
    expect(child.pid).toBe(pid);
    expect(isAlive(pid!)).toBe(false);
  });
});

test('if the parent is killed, the child stops properly', async () => {
  const noteStopIn = join(folder, 'note-orphan');
  const parent: ChildProcess = spawn(process.execPath, [parentScript, childScript, noteStopIn], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const pid = await new Promise<number>((resolve) =>
    parent.stdout!.once('data', (text: Buffer) => resolve(Number(text.toString()))),
  );
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await isGone(pid);
  await expect.poll(() => existsSync(noteStopIn)).toBe(true);
});

test('a parent that ends without stopping its child sends it a signal', async () => {
  const parent = spawn(process.execPath, [parentScript, 'exit'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = (await once(parent.stdout!, 'data')) as [Buffer];
  const pid = Number(text.toString());
  expect(pid).toBeGreaterThan(0);
  await isGone(pid);
});

test('a parent that has nothing else to do waits until its child has stopped', async () => {
  const parent = spawn(process.execPath, [parentScript], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  parent.stdout!.on('data', (text: Buffer) => {
    output += text.toString();
  });
  await new Promise((resolve) => parent.once('close', resolve));
  expect(output).toBe('stopped\n');
});
