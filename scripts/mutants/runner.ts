/**
 * The warm runner: a runner of Vitest that, in place of the one file it was started with, runs the files of the plan again and
 * again in the same process, each time with another mutant switched on. First it runs every file once and notes which
 * test reaches which mutant. It writes a line of JSON for each thing that it found out.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { type File, startTests, type Test, type VitestRunner } from '@vitest/runner';
import pg from 'pg';
import { VitestTestRunner } from 'vitest/runners';

export interface Plan {
  /** Absolute paths, the nearest first. */
  tests: string[];
  mutants: number[];
  /** What an earlier process has found out, so that this one need not run all files first. */
  reached?: ReachedMutants[];
  /** Switched on from the start, and tried only with a whole run of the files: it is made while modules are loaded. */
  cold?: number;
  testLimitMs: number;
  /** The limit for the time, without the mutant, of the tests that are run for it. */
  patienceMs: number;
  until: number;
}

export interface ReachedMutants {
  file: string;
  /** The time of the hooks, and that of each test by its name. */
  hooksMs: number;
  testsMs: Record<string, number>;
  /** By mutant: the names of the tests that reach it, and null if a hook does, or what runs between the tests. */
  mutants: Record<number, (string | null)[]>;
}

export type Line =
  | { type: 'reached'; reached: ReachedMutants }
  | { type: 'broken'; file: string; error: string }
  /** `ms`: how long the tests take without a mutant; a cold one is tried with a whole file, of which that is not known. */
  | { type: 'trying'; id: number; file: string; ms?: number }
  | { type: 'result'; id: number; outcome: Outcome; by?: string }
  | { type: 'done' };
/** `cold`: this process does not run its code again. */
export type Outcome = 'killed' | 'survived' | 'unreached' | 'cold';

/** A test with a mutant that takes much longer than it does without waits for something that does not come. */
const LEAST_LIMIT_MS = 12_000;
const LIMIT_FACTOR = 6;

const plan = JSON.parse(readFileSync(process.env.ORIEL_MUTANTS_PLAN!, 'utf8')) as Plan;
const tell = (line: Line) => appendFileSync(process.env.ORIEL_MUTANTS_OUT!, `${JSON.stringify(line)}\n`);

let active = plan.cold ?? 0;
let wasReached = false;
/** The name of the running test, if one is running. */
let current: string | null = null;
let seen = new Map<number, Set<string | null>>();
/** The durations of the tests that ran last, by name. */
let durations: Record<string, number> = {};

const shared = globalThis as unknown as Record<string, unknown>;
shared.__m = (id: number) => {
  const names = seen.get(id) ?? new Set();
  seen.set(id, names.add(current));
  if (id !== active) return false;
  wasReached = true;
  return true;
};
shared.__drop = (start: () => Promise<unknown>) => {
  void start().catch(() => {});
};
/** A value that is made while its module is loaded, and stands for another one while a mutant of it is on. */
shared.__lazy = (make: () => object, variants: [() => boolean, () => object][]) => {
  const made = variants.map((): object | undefined => undefined);
  return new Proxy(make(), {
    get(original, name) {
      // Every switch is asked, so that all of them count as reached.
      const index = variants.map(([isOn]) => isOn()).indexOf(true);
      if (index < 0) return Reflect.get(original, name);
      made[index] ??= variants[index]![1]();
      return Reflect.get(made[index]!, name);
    },
  });
};

/** A statement with a name must have the same text in every call, so the connection knows that of a mutant by another name. */
const texts = new Map<string, string>();
const send = pg.Client.prototype.query as (this: pg.Client, ...args: unknown[]) => unknown;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [statement, ...others] = args as [{ name?: string; text: string }];
  if (!statement?.name) return send.apply(this, args);
  const { name, text } = statement;
  if (!active) texts.set(name, text);
  if ((texts.get(name) ?? text) === text) return send.apply(this, args);
  return send.call(this, { ...statement, name: `${name}-${active}` }, ...others);
} as never;

/** What is used of Vitest's runner, some of which it does not publish. */
interface Outer {
  config: VitestRunner['config'];
  workerState: {
    evaluatedModules: {
      getModuleById(id: string): object | undefined;
      invalidateModule(module: object): void;
    };
  };
  /** Skips the tests that follow. */
  cancelRun: boolean;
}

export default class extends VitestTestRunner {
  async onBeforeCollect() {
    await runPlan(this as unknown as Outer);
  }
}

const original = VitestTestRunner.prototype as unknown as Required<VitestRunner>;

interface Failure {
  /** The name of the test; null if a hook failed. */
  test: string | null;
  text: string;
}

/** A runner that reports nothing, loads the test file anew, and stops after the first failure. */
function innerRunner(outer: Outer, names: string[] | null, limitMs: number) {
  const inner = Object.create(outer) as Outer & VitestRunner & { failed: string[]; failure?: Failure };
  const { evaluatedModules } = outer.workerState;
  return Object.assign(inner, {
    failed: [] as string[],
    config: { ...outer.config, testTimeout: limitMs, hookTimeout: plan.testLimitMs * 2 },
    onBeforeCollect: undefined,
    onCollected: undefined,
    onTaskUpdate: undefined,
    cancelRun: false,
    importFile(path: string, source: 'setup' | 'collect') {
      const module = evaluatedModules.getModuleById(path);
      if (module) evaluatedModules.invalidateModule(module);
      return original.importFile.call(inner, path, source);
    },
    onCollectStart: (file: File) => original.onCollectStart.call(inner, file),
    async onBeforeRunTask(test: Test) {
      if (names && !names.includes(test.fullTestName)) test.mode = 'skip';
      await original.onBeforeRunTask.call(inner, test);
    },
    onBeforeTryTask(test: Test) {
      current = test.fullTestName;
      original.onBeforeTryTask.call(inner, test, { retry: 0, repeats: 0 });
    },
    onAfterRunTask(test: Test) {
      current = null;
      durations[test.fullTestName] = test.result?.duration ?? 0;
      original.onAfterRunTask.call(inner, test);
      if (test.result?.state !== 'fail') return;
      inner.failed.push(test.fullTestName);
      inner.failure ??= {
        test: test.fullTestName,
        text: `${test.fullTestName}: ${test.result.errors?.[0]?.message?.split('\n')[0] ?? ''}`,
      };
      if (active) inner.cancelRun = true;
    },
  });
}

/** Returns what failed first, or nothing. */
async function runFile(
  outer: Outer,
  filepath: string,
  names: string[] | null,
  limitMs = plan.testLimitMs,
): Promise<Failure | undefined> {
  const inner = innerRunner(outer, names, limitMs);
  durations = {};
  current = null;
  const [file] = await startTests([{ filepath, testLocations: undefined }], inner);
  current = null;
  // These tests failed without a mutant, so they are left out from now on.
  if (!active) for (const name of inner.failed) remember(onceOnly, filepath, name);
  if (inner.failure) return inner.failure;
  if (file?.result?.state !== 'fail') return undefined;
  return { test: null, text: `a hook: ${file.result.errors?.[0]?.message?.split('\n')[0] ?? 'failed'}` };
}

async function runPlan(outer: Outer) {
  if (plan.cold) return runCold(outer, plan.cold);
  const reached = plan.reached ?? [];
  for (const file of plan.tests) {
    if (reached.some((one) => one.file === file)) continue;
    seen = new Map();
    const begin = performance.now();
    const failure = await runFile(outer, file, null);
    if (failure) tell({ type: 'broken', file, error: failure.text });
    if (failure?.test !== null) reached.push(tellReached(file, performance.now() - begin));
  }
  for (const id of plan.mutants) {
    if (Date.now() > plan.until) break;
    tell({ type: 'result', id, ...(await tryOne(outer, id, reached)) });
  }
  tell({ type: 'done' });
}

function tellReached(file: string, ms: number): ReachedMutants {
  const mutants = Object.fromEntries([...seen].map(([id, names]) => [id, [...names]]));
  const hooksMs = Math.max(0, ms - sum(Object.values(durations)));
  const reached = { file, hooksMs, testsMs: durations, mutants };
  tell({ type: 'reached', reached });
  return reached;
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** How often a test was tried with a mutant, and how often it noticed it. By file and name. */
const record = new Map<string, { tried: number; killed: number }>();
const keyOf = (file: string, name: string) => JSON.stringify([file, name]);
const chanceOf = (file: string, name: string) => {
  const { tried, killed } = record.get(keyOf(file, name)) ?? { tried: 0, killed: 0 };
  return (killed + 1) / (tried + 2);
};

function note(file: string, name: string, hasNoticed: boolean) {
  const { tried, killed } = record.get(keyOf(file, name)) ?? { tried: 0, killed: 0 };
  record.set(keyOf(file, name), { tried: tried + 1, killed: killed + (hasNoticed ? 1 : 0) });
}

/** Tests of a file that run together. */
interface Batch {
  of: ReachedMutants;
  names: string[];
  /** How long they take without a mutant. */
  ms: number;
  /** How probable it is that they notice the mutant, for the time that they take. */
  worth: number;
}

/**
 * The tests of a file that reach the mutant, the most worthwhile first, in batches of which each takes about twice as long
 * as the one before: so hooks run a few times only, and a mutant that is easily noticed costs the time of few tests.
 */
function batchesOf(of: ReachedMutants, id: number): Batch[] {
  const { file, hooksMs, testsMs, mutants } = of;
  const msOf = (name: string) => testsMs[name] ?? 0;
  const worthOf = (name: string) => chanceOf(file, name) / (msOf(name) + 10);
  const inBatches = (given: string[], factor: number) => {
    const left = given.toSorted((a, b) => worthOf(b) - worthOf(a));
    const batches: Batch[] = [];
    for (let limitMs = FIRST_BATCH_MS; left.length; limitMs *= 2) {
      const names = [left.shift()!];
      while (left.length && sum([...names, left[0]!].map(msOf)) <= limitMs) names.push(left.shift()!);
      const missed = names.reduce((product, name) => product * (1 - chanceOf(file, name)), 1);
      const ms = hooksMs + sum(names.map(msOf));
      batches.push({ of, names, ms, worth: ((1 - missed) * factor) / (ms + 10) });
    }
    return batches;
  };
  const reaching = new Set(mutants[id]);
  const others = reaching.has(null) ? Object.keys(testsMs).filter((name) => !reaching.has(name)) : [];
  return [
    ...inBatches(
      [...reaching].filter((name) => name !== null),
      1,
    ),
    ...inBatches(others, BY_HOOK),
  ];
}

/** What a hook does with a mutant can be noticed by every test, but rarely is by one that does not reach it itself. */
const BY_HOOK = 0.1;
const FIRST_BATCH_MS = 1000;

/** The tests of a file that pass again and again, and those that fail when they run a second time in the same world. */
const repeatable = new Map<string, Set<string | null>>();
const onceOnly = new Map<string, Set<string | null>>();

function remember(tests: Map<string, Set<string | null>>, file: string, name: string | null) {
  tests.set(file, (tests.get(file) ?? new Set()).add(name));
}

/** Runs the tests with the mutant. A test that also fails without it has not noticed anything, and is left out. */
async function noticed(outer: Outer, id: number, { of, names: all }: Batch): Promise<Failure | undefined> {
  const { file, testsMs } = of;
  const slowestMs = Math.max(...all.map((name) => testsMs[name] ?? 0));
  const limitMs = Math.min(plan.testLimitMs, LEAST_LIMIT_MS + LIMIT_FACTOR * slowestMs);
  for (;;) {
    const names = all.filter((name) => !onceOnly.get(file)?.has(name));
    if (!names.length) return undefined;
    active = id;
    const begin = performance.now();
    const failure = await runFile(outer, file, names, limitMs).finally(() => {
      active = 0;
    });
    // The first run of a file also loads modules.
    of.hooksMs = Math.min(of.hooksMs, Math.max(0, performance.now() - begin - sum(Object.values(durations))));
    if (!failure || repeatable.get(file)?.has(failure.test)) return failure;
    const again = await runFile(outer, file, failure.test === null ? names : [failure.test]);
    if (!again) {
      remember(repeatable, file, failure.test);
      return failure;
    }
    tell({ type: 'broken', file, error: `a second time: ${again.text}` });
    // What a hook does cannot be left out.
    if (failure.test === null) return undefined;
    remember(onceOnly, file, failure.test);
  }
}

async function tryOne(
  outer: Outer,
  id: number,
  reached: ReachedMutants[],
): Promise<{ outcome: Outcome; by?: string }> {
  const files = reached.filter(({ mutants }) => id in mutants);
  if (!files.length) return { outcome: 'unreached' };
  wasReached = false;
  const batches = files.flatMap((one) => batchesOf(one, id)).sort((a, b) => b.worth - a.worth);
  let spentMs = 0;
  for (const batch of batches) {
    const { file } = batch.of;
    // Leave out the time of the hooks: the first run of a file overstates it, because it also loads modules.
    const testsMs = sum(batch.names.map((name) => batch.of.testsMs[name] ?? 0));
    if (spentMs && spentMs + testsMs > plan.patienceMs) continue;
    spentMs += testsMs;
    tell({ type: 'trying', id, file, ms: batch.ms });
    const failure = await noticed(outer, id, batch);
    for (const name of batch.names) note(file, name, failure?.test === name);
    if (failure) return { outcome: 'killed', by: failure.text };
  }
  return { outcome: wasReached ? 'survived' : 'cold' };
}

async function runCold(outer: Outer, id: number) {
  for (const file of plan.tests) {
    tell({ type: 'trying', id, file });
    const failure = await runFile(outer, file, null);
    if (failure) {
      tell({ type: 'result', id, outcome: 'killed', by: failure.text });
      return tell({ type: 'done' });
    }
  }
  tell({ type: 'result', id, outcome: wasReached ? 'survived' : 'unreached' });
  tell({ type: 'done' });
}
