/** Which models are compiled before somebody asks for them. What it means for queries is tested in warming.test.ts. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { ApiError } from '../../platform/errors.ts';
import { blobOf, type GitObject, hashOf } from '../../platform/git/objects.ts';
import { formatTree } from '../../platform/git/trees.ts';
import { createModels } from './models.ts';
import { createModelWarmer } from './warming.ts';

const stored = new Map<string, GitObject>();
function store(object: GitObject): string {
  const hash = hashOf(object);
  stored.set(hash, object);
  return hash;
}
/** A tree of one file, with so many million characters. */
function treeOf(name: string, millions = 0): string {
  const hash = store(blobOf(`cubes: []\n# ${name} ${'x'.repeat(millions * 1_000_000)}`));
  return store(formatTree([{ mode: '100644', name: 'cubes.yml', hash }]));
}
const db = {
  many: async ({ values }: { values: unknown[] }) =>
    (values.at(-1) as Buffer[]).map((hash) => ({ hash, ...stored.get(hash.toString('hex')) })),
} as never;

let compiled = 0;
/** What is deployed, by deployment. */
const deployed = new Map<string, string | null>();
const warnings: unknown[] = [];
let tell = (_subject: string) => {};
let models: ReturnType<typeof createModels>;
beforeEach(() => {
  compiled = 0;
  warnings.length = 0;
  const platform = {
    db,
    createCache: () => ({
      get: () => undefined,
      load: async (key: string) => deployed.get(key.split(' ')[0]!) ?? null,
    }),
    listener: {
      on(_: string, heard: typeof tell) {
        tell = heard;
      },
    },
    metrics: { gauge() {} },
    log: { warn: (about: unknown) => warnings.push(about) },
  };
  const compile = async () => {
    compiled++;
    return { model: {}, errors: [] };
  };
  models = createModels(platform as never, { compile } as never);
});

/** Tells the server of a change, and returns how many models it has compiled then. */
async function compiledAfterNotice(tree?: string | null) {
  if (tree !== undefined) deployed.set('1', tree);
  models.start();
  tell('deployment:1');
  // What fails after the stop is not told.
  await setImmediate();
  await models.stop();
  expect(warnings).toEqual([]);
  return compiled;
}
const ask = (deploymentId = 1) => models.find(db, { deploymentId, branchId: null });
/** Another model takes the place of all others. */
async function fillMemory() {
  deployed.set('2', treeOf('all', 11));
  await ask(2);
}

test('nothing is compiled while no build has succeeded', async () => {
  expect(await compiledAfterNotice(null)).toBe(0);
});

test('a new model is compiled once, and not for notices of other changes', async () => {
  expect(await compiledAfterNotice(treeOf('a'))).toBe(1);
  expect(await compiledAfterNotice()).toBe(1);
  await fillMemory();
  expect(await compiledAfterNotice()).toBe(2);
  expect(await compiledAfterNotice(treeOf('b'))).toBe(3);
  await ask();
  expect(compiled).toBe(3);
});

test('a large model is compiled only if somebody has asked for the one before lately', async () => {
  expect(await compiledAfterNotice(treeOf('large', 2))).toBe(0);
  await ask();
  expect(await compiledAfterNotice(treeOf('larger', 3))).toBe(2);
  await fillMemory();
  expect(await compiledAfterNotice(treeOf('largest', 4))).toBe(3);
});

test('models stay in memory, also one that is larger than all that is kept', async () => {
  for (const id of [1, 2]) deployed.set(String(id), treeOf(`small ${id}`));
  for (const id of [1, 2, 1, 2]) await ask(id);
  expect(compiled).toBe(2);
  await fillMemory();
  await ask(2);
  expect(compiled).toBe(3);
});

test('so do models of branches, which take no place of those that are served', async () => {
  deployed.set('1', treeOf('served'));
  await ask();
  const draft = (tree: string) => models.findDraft(db, 1, tree);
  const [one, other, large] = [treeOf('one'), treeOf('other'), treeOf('large', 3)];
  await Promise.all([draft(one), draft(one)]);
  for (const tree of [other, one, other, deployed.get('1')!]) await draft(tree);
  expect(compiled).toBe(3);
  for (const tree of [large, large]) await draft(tree);
  await ask();
  expect(compiled).toBe(4);
});

/** What is warmed, each until the test ends it. */
function watchWarming() {
  const begun: number[] = [];
  const logged: unknown[] = [];
  let end = (_error?: Error) => {};
  let hear = (_subject?: string) => {};
  const listener = {
    on(_: string, heard: typeof hear) {
      hear = heard;
    },
  };
  const log = { warn: (about: unknown) => logged.push(about) };
  const warming = createModelWarmer({ listener, log } as never, (id) => {
    begun.push(id);
    return new Promise((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve());
    });
  });
  return {
    ...warming,
    begun,
    logged,
    hear: (subject?: string) => hear(subject),
    async end(error?: Error) {
      end(error);
      await setImmediate();
    },
  };
}

test('models are warmed one at a time, after the start, and only where something of a deployment has changed', async () => {
  const { start, hear, begun, end } = watchWarming();
  hear('deployment:1');
  start();
  for (const subject of ['user:2', undefined, 'deployment:3', 'deployment:4', 'deployment:4']) hear(subject);
  expect(begun).toEqual([3]);
  await end();
  expect(begun).toEqual([3, 4]);
  await end();
  expect(begun).toEqual([3, 4]);
});

test('at most a thousand deployments wait to be warmed', async () => {
  const { start, hear, begun, end } = watchWarming();
  start();
  for (let id = 1; id <= 1100; id++) hear(`deployment:${id}`);
  for (let id = 1; id <= 1100; id++) await end();
  expect(begun).toHaveLength(1001);
});

test('what goes wrong is logged, unless whoever asks is told, or the server stops', async () => {
  const { start, stop, hear, logged, end } = watchWarming();
  start();
  hear('deployment:1');
  await end(new ApiError('model_not_built'));
  expect(logged).toEqual([]);
  const err = new Error('a connection has ended');
  hear('deployment:2');
  await end(err);
  expect(logged).toEqual([{ err, deploymentId: 2 }]);
  hear('deployment:3');
  const stopped = stop();
  await end(err);
  await stopped;
  expect(logged).toHaveLength(1);
});

test('a stop waits for the model that is being warmed, and no other one follows', async () => {
  const { start, stop, hear, begun, end } = watchWarming();
  start();
  hear('deployment:1');
  hear('deployment:2');
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await setImmediate();
  expect(isStopped).toBe(false);
  await end();
  await stopped;
  expect(begun).toEqual([1]);
});
