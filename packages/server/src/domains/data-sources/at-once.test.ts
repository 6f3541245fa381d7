/** How many data sources are asked at once, with engines that answer when the test says so. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DataSource } from '../../engines/data-sources.ts';
import type { Engine, Reach, Table } from '../../engines/engine.ts';
import { createDataSources, type DataSources } from './data-sources.ts';

const source: DataSource = { name: 'default', type: 'duckdb' };
const REACHED: Reach = { isReachable: true, message: 'It answers.' };

let sources: DataSources;
let leave: AbortController;
let asked: { deploymentId: number; answer(): void }[];
beforeEach(() => {
  asked = [];
  leave = new AbortController();
  sources = createDataSources({
    engines: { of: engineOf },
    variables: { readEnvVars: async () => new Map() },
    identities: { of: async () => undefined },
    prepareFiles: async () => {},
    sourceAccess: { of: () => Promise.reject(new Error('not asked here')) },
  });
});

const engineOf = (deploymentId: number): Engine => {
  const ask = <T>(reply: T) =>
    new Promise<T>((resolve) => asked.push({ deploymentId, answer: () => resolve(reply) }));
  return {
    places: 4,
    query: () => Promise.reject(new Error('not asked here')),
    listTables: () => ask<Table[]>([]),
    test: () => ask(REACHED),
  };
};
const opened = (deploymentId: number) => ({ source, engine: engineOf(deploymentId) });

/** Sends a test, and does not wait for its answer. */
const ask = (deploymentId: number) =>
  void sources.test(deploymentId, opened(deploymentId), { signal: leave.signal }).catch(() => {});

afterEach(() => leave.abort());

const deployments = () => asked.map(({ deploymentId }) => deploymentId);

test('a deployment asks one source at a time, and all deployments few', async () => {
  const first = sources.test(1, opened(1), {});
  const second = sources.listTables(1, opened(1), {});
  for (const id of [2, 3, 4]) ask(id);
  expect(deployments()).toEqual([1, 2, 3]);
  asked[0]!.answer();
  expect(await first).toEqual(REACHED);
  // The deployment that has waited for its first place comes before the one that had one.
  await expect.poll(deployments).toEqual([1, 2, 3, 4]);
  asked[1]!.answer();
  await expect.poll(deployments).toEqual([1, 2, 3, 4, 1]);
  asked[4]!.answer();
  expect(await second).toEqual([]);
});

test('a few of a deployment wait, and more are refused', async () => {
  for (let i = 0; i < 6; i++) ask(1);
  await expect(sources.test(1, opened(1), {})).rejects.toMatchObject({ code: 'too_many_at_once' });
  await expect(sources.listTables(1, opened(1), {})).rejects.toMatchObject({ code: 'too_many_at_once' });
  expect(deployments()).toEqual([1]);
});
