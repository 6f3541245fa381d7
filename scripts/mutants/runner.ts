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
  reached?: Reached[];
  /** Switched on from the start, and tried only with a whole run of the files: it is made while modules are loaded. */
  cold?: number;
  testLimitMs: number;
  until: number;
}

export interface Reached {
  file: string;
  /** Of the hooks, and of each test by its name. */
  hooksMs: number;
  testsMs: Record<string, number>;
  /** By mutant: the names of the tests that reach it, or null if a hook does. */
  mutants: Record<number, string[] | null>;
}

export type Line =
  | { type: 'reached'; reached: Reached }
  | { type: 'broken'; file: string; error: string }
  | { type: 'trying'; id: number; file: string }
  | { type: 'result'; id: number; outcome: Outcome; by?: string }
  | { type: 'done' };
/** `cold`: this process does not run its code again. */
export type Outcome = 'killed' | 'survived' | 'unreached' | 'cold';

const plan = JSON.parse(readFileSync(process.env.ORIEL_MUTANTS_PLAN!, 'utf8')) as Plan;
const tell = (line: Line) => appendFileSync(process.env.ORIEL_MUTANTS_OUT!, `${JSON.stringify(line)}\n`);

let active = plan.cold ?? 0;
let wasReached = false;
/** The name of the running test, if one is running. */
let current: string | null = null;
let seen = new Map<number, Set<string | null>>();
let testsMs: Record<string, number> = {};

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
  /** Its name; null if a hook failed. */
  test: string | null;
  text: string;
}

/** Reports to nobody, loads the test file anew, and leaves after the first failure. */
function innerRunner(outer: Outer, names: string[] | null) {
  const inner = Object.create(outer) as Outer & VitestRunner & { failure?: Failure };
  const { evaluatedModules } = outer.workerState;
  return Object.assign(inner, {
    config: { ...outer.config, testTimeout: plan.testLimitMs, hookTimeout: plan.testLimitMs * 2 },
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
      testsMs[test.fullTestName] = test.result?.duration ?? 0;
      original.onAfterRunTask.call(inner, test);
      if (test.result?.state !== 'fail') return;
      inner.failure ??= {
        test: test.fullTestName,
        text: `${test.fullTestName}: ${test.result.errors?.[0]?.message?.split('\n')[0] ?? ''}`,
      };
      if (active) inner.cancelRun = true;
    },
  });
}

/** Returns what failed first, or nothing. */
async function runFile(outer: Outer, filepath: string, names: string[] | null): Promise<Failure | undefined> {
  const inner = innerRunner(outer, names);
  current = null;
  const [file] = await startTests([{ filepath, testLocations: undefined }], inner);
  current = null;
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
    testsMs = {};
    const begin = performance.now();
    const failure = await runFile(outer, file, null);
    if (failure) tell({ type: 'broken', file, error: failure.text });
    else reached.push(tellReached(file, performance.now() - begin));
  }
  for (const id of plan.mutants) {
    if (Date.now() > plan.until) break;
    tell({ type: 'result', id, ...(await tryOne(outer, id, reached)) });
  }
  tell({ type: 'done' });
}

function tellReached(file: string, ms: number): Reached {
  const mutants = Object.fromEntries(
    [...seen].map(([id, names]) => [id, names.has(null) ? null : ([...names] as string[])]),
  );
  const hooksMs = Math.max(0, ms - sum(Object.values(testsMs)));
  const reached = { file, hooksMs, testsMs, mutants };
  tell({ type: 'reached', reached });
  return reached;
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** How often the tests of a file were tried with a mutant, and how often one of them noticed it. */
const record = new Map<string, { tried: number; killed: number }>();
const recordOf = (file: string) => record.get(file) ?? { tried: 0, killed: 0 };

/** How probable it is that the file notices the mutant, for the time that its tests take. */
function worth({ file, hooksMs, testsMs, mutants }: Reached, id: number): number {
  const { tried, killed } = recordOf(file);
  const names = mutants[id] ?? Object.keys(testsMs);
  const ms = hooksMs + sum(names.map((name) => testsMs[name] ?? 0));
  return (killed + 1) / (tried + 2) / (ms + 10);
}

/** The tests of a file that pass again and again, and those that fail when they run a second time in the same world. */
const repeatable = new Map<string, Set<string | null>>();
const onceOnly = new Map<string, Set<string | null>>();

function remember(tests: Map<string, Set<string | null>>, file: string, name: string | null) {
  tests.set(file, (tests.get(file) ?? new Set()).add(name));
}

/** Runs the tests with the mutant. A test that also fails without it has not noticed anything, and is left out. */
async function noticed(
  outer: Outer,
  id: number,
  file: string,
  all: string[] | null,
): Promise<Failure | undefined> {
  for (;;) {
    const names = all?.filter((name) => !onceOnly.get(file)?.has(name)) ?? null;
    if (names?.length === 0) return undefined;
    active = id;
    const failure = await runFile(outer, file, names).finally(() => {
      active = 0;
    });
    if (!failure || repeatable.get(file)?.has(failure.test)) return failure;
    const again = await runFile(outer, file, failure.test === null ? names : [failure.test]);
    if (!again) {
      remember(repeatable, file, failure.test);
      return failure;
    }
    tell({ type: 'broken', file, error: `a second time: ${again.text}` });
    // Without the names of the tests that reach it, nothing can be left out.
    if (all === null || failure.test === null) return undefined;
    remember(onceOnly, file, failure.test);
  }
}

async function tryOne(
  outer: Outer,
  id: number,
  reached: Reached[],
): Promise<{ outcome: Outcome; by?: string }> {
  const files = reached.filter(({ mutants }) => id in mutants);
  if (!files.length) return { outcome: 'unreached' };
  wasReached = false;
  for (const { file, mutants } of files.sort((a, b) => worth(b, id) - worth(a, id))) {
    tell({ type: 'trying', id, file });
    const failure = await noticed(outer, id, file, mutants[id]!);
    const { tried, killed } = recordOf(file);
    record.set(file, { tried: tried + 1, killed: killed + (failure ? 1 : 0) });
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
