/** Compares several times the load that saturates the server with that load itself. */
import { makeScripts, mintingLoad } from './embed/minting.ts';
import { makeViewers } from './embed/viewers.ts';
import type { Benchmark, Contender, RunOptions } from './harness/benchmark.ts';
import { type Oriel, startOriel } from './harness/oriel.ts';
import { measureInTurns } from './harness/rounds.ts';
import { type Load, runWrk, wrkVersion } from './harness/wrk.ts';
import { loadContent } from './reports/content.ts';

const ROWS = 100_000;
/** Enough to saturate the server. */
const SATURATING = 32;
const CALM_CALLS = 20;

type Target = Omit<Load, 'connections' | 'mayRefuse'>;

export const overload: Benchmark = {
  name: 'overload',
  description: 'minting and lists of reports at 4 and 16 times the connections that saturate them',
  run,
};

async function run(options: RunOptions) {
  const wrk = await wrkVersion();
  const oriel = await startOriel();
  const content = await loadContent(oriel.connection, options.rows ?? ROWS);
  const scripts = await makeScripts(await makeViewers(oriel.connection));
  const minting = mintingLoad(oriel, scripts);
  const list = {
    url: `${oriel.url}/api/v1/deployments/${content.deploymentId}/reports?first=50&includeCount=false`,
    headers: oriel.headers,
  };
  const watch = createWatch(oriel, list);
  const before = await watch.memory();
  const parts = [
    await measure('minting', minting, 4 * SATURATING, watch, options),
    await measure('minting', minting, 16 * SATURATING, watch, options),
    await measure('list', list, 4 * SATURATING, watch, options),
  ];
  return {
    measured: parts.flatMap(({ measured }) => measured),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
    facts: {
      ...content.facts,
      wrk: `${wrk}, 1 thread`,
      answers: await watch.answers(),
      memory: `${before} MB before, ${await watch.memory()} MB after, ${watch.highestMemory} MB at most between`,
      recovery: `${watch.longestRecovery} ms at most until ${CALM_CALLS} calls one after the other were answered well`,
    },
  };
}

async function measure(name: string, target: Target, connections: number, watch: Watch, options: RunOptions) {
  const at = (count: number): Contender => ({
    name: `${name}, ${count} connections`,
    measure: (seconds) => runWrk({ ...target, connections: count, mayRefuse: true }, seconds),
  });
  const calm = {
    ...at(SATURATING),
    does: 'Oriel itself under the load that saturates it. Shows what overload costs, not how fast the server is.',
  };
  const crowd = at(connections);
  const rounds = await measureInTurns(
    {
      ...crowd,
      async measure(seconds) {
        const sample = await crowd.measure(seconds);
        await watch.afterwards();
        return sample;
      },
    },
    [calm],
    options,
  );
  return { measured: rounds.measured, comparisons: [rounds.compare(calm, { asked: { atLeast: 0.8 } })] };
}

type Watch = ReturnType<typeof createWatch>;

/** Watches the memory of the server, and how soon it recovers after an overload. */
function createWatch(oriel: Oriel, target: Target) {
  const metrics = async () => (await fetch(`${oriel.url}/metrics`)).text();
  const megabytes = (text: string) =>
    Math.round(Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6);

  async function recoveryMs(): Promise<number> {
    const started = performance.now();
    for (let well = 0; well < CALM_CALLS; ) {
      const answer = await fetch(target.url, { headers: target.headers });
      await answer.arrayBuffer();
      well = answer.ok ? well + 1 : 0;
    }
    return Math.round(performance.now() - started);
  }

  const watch = {
    highestMemory: 0,
    longestRecovery: 0,
    memory: async () => megabytes(await metrics()),
    async afterwards() {
      watch.longestRecovery = Math.max(watch.longestRecovery, await recoveryMs());
      watch.highestMemory = Math.max(watch.highestMemory, await watch.memory());
    },
    /** Counts by status. Fails on a 5xx that does not ask the client to try again. */
    async answers() {
      const counts = new Map<string, number>();
      const lines = (await metrics()).matchAll(
        /^oriel_http_request_duration_seconds_count\{.*status="(\d+)".*\} (\d+)/gm,
      );
      for (const [, status, count] of lines) counts.set(status!, (counts.get(status!) ?? 0) + Number(count));
      const failed = [...counts.keys()].find((status) => status >= '500' && status !== '503');
      if (failed) throw new Error(`${counts.get(failed)} answers were a ${failed}.`);
      return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
    },
  };
  return watch;
}
