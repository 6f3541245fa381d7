/** Starts the warm runner, follows what it tells, and starts another one if a mutant makes it hang or ends it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin, root } from '../install.mjs';
import type { Mutant } from './operators.ts';
import type { Line, Outcome, Plan, ReachedMutants } from './runner.ts';

export type Results = Map<number, { outcome: Outcome | 'killed'; by?: string }>;

interface Options {
  mutants: Mutant[];
  instrumented: Record<string, string>;
  tests: string[];
  patienceMs: number;
  until: number;
  onResult(id: number, result: { outcome: string; by?: string }): void;
}

/** A test that takes longer than this waits for something that does not come. */
const TEST_LIMIT_MS = 60_000;
/** A runner that tells nothing for so long hangs in a loop, which no limit of a test ends. The first run of a file tells least. */
const SILENCE_MAX_MS = 10 * 60_000;
/** The same limit while a mutant is on: a base, and a factor for the time that its tests take without it. */
const SILENCE_WITH_MUTANT_MS = 60_000;
const SILENCE_FACTOR = 15;

export async function tryMutants({
  mutants,
  instrumented,
  tests,
  patienceMs,
  until,
  onResult,
}: Options): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'oriel-mutants-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'sources.json'), JSON.stringify(instrumented));
  const results: Results = new Map();
  const reached: ReachedMutants[] = [];
  const cold: number[] = [];
  const settle = (id: number, result: { outcome: Outcome; by?: string }) => {
    if (result.outcome === 'cold') return void cold.push(id);
    results.set(id, result);
    onResult(id, result);
  };
  const left = () => mutants.map(({ id }) => id).filter((id) => !results.has(id) && !cold.includes(id));
  let trying: number | undefined;
  const onLine = (line: Line) => {
    if (line.type === 'broken')
      console.log(`Left out, because it fails as it is: ${line.file}\n    ${line.error}`);
    if (line.type === 'reached') reached.push(line.reached);
    if (line.type === 'trying') trying = line.id;
    if (line.type === 'result') settle(line.id, line);
  };
  const interruption = new AbortController();
  const { signal } = interruption;
  const interrupt = () => (signal.aborted ? process.exit(130) : interruption.abort());
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, interrupt);
  while (left().length && Date.now() < until) {
    trying = undefined;
    const plan: Plan = { tests, mutants: left(), reached, testLimitMs: TEST_LIMIT_MS, patienceMs, until };
    const isDone = await runOnce(folder, plan, { onLine, signal });
    if (isDone || signal.aborted) break;
    if (trying === undefined) throw new Error('The runner of mutants ended before it tried one.');
    settle(trying, { outcome: 'killed', by: 'the tests hang, or their process ends' });
  }
  for (const id of cold) {
    if (Date.now() > until || signal.aborted) break;
    const files = reached.filter((one) => id in one.mutants).map(({ file }) => file);
    const isDone = await runOnce(
      folder,
      { tests: files, mutants: [], cold: id, testLimitMs: TEST_LIMIT_MS, patienceMs, until },
      { onLine, signal },
    );
    if (!isDone && !results.has(id) && !signal.aborted)
      settle(id, { outcome: 'killed', by: 'no server starts' });
  }
  return results;
}

function endGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left of it.
  }
}

/** Returns whether the runner came to its end. */
async function runOnce(
  folder: string,
  plan: Plan,
  { onLine, signal }: { onLine: (line: Line) => void; signal: AbortSignal },
): Promise<boolean> {
  const [planFile, outFile] = [join(folder, 'plan.json'), join(folder, 'out.jsonl')];
  writeFileSync(planFile, JSON.stringify(plan));
  writeFileSync(outFile, '');
  const child = spawn(bin('vitest'), ['run', '--config', 'scripts/mutants/vitest.config.ts'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own, because Vitest leaves a process behind that loops. Ctrl-C does not reach it.
    detached: true,
    env: {
      ...process.env,
      ORIEL_MUTANTS_PLAN: planFile,
      ORIEL_MUTANTS_OUT: outFile,
      ORIEL_MUTANTS_SOURCES: join(folder, 'sources.json'),
      ORIEL_TEST_ROW_TYPES: 'false',
      ORIEL_TEST_PROGRAM: 'false',
    },
  });
  const end = () => child.kill('SIGINT');
  const onOwnExit = () => endGroup(child.pid!);
  process.once('exit', onOwnExit);
  signal.addEventListener('abort', end);
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  let hasEnded = false;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve())).then(() => {
    hasEnded = true;
  });
  let read = 0;
  let isDone = false;
  let toldAt = Date.now();
  let silenceMaxMs = SILENCE_MAX_MS;
  const look = () => {
    const lines = readFileSync(outFile, 'utf8').split('\n').slice(0, -1);
    for (const line of lines.slice(read)) {
      toldAt = Date.now();
      const told = JSON.parse(line) as Line;
      if (told.type === 'done') isDone = true;
      if (told.type === 'trying' && told.ms !== undefined)
        silenceMaxMs = Math.min(SILENCE_MAX_MS, SILENCE_WITH_MUTANT_MS + SILENCE_FACTOR * told.ms);
      onLine(told);
    }
    read = lines.length;
  };
  try {
    while (!hasEnded) {
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 500))]);
      look();
      if (Date.now() - toldAt > silenceMaxMs) end();
    }
  } finally {
    signal.removeEventListener('abort', end);
    if (!hasEnded) end();
    await ended;
    process.off('exit', onOwnExit);
    endGroup(child.pid!);
  }
  if (!isDone && !read) console.error(errors);
  return isDone;
}
