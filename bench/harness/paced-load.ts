/** Sends requests at a given rate, even if earlier requests have no answer yet, as real clients do. */
import { Agent } from 'node:http';
import { finished } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sample } from './benchmark.ts';
import { send } from './send.ts';

export interface PacedLoad {
  url: string;
  headers: () => Record<string, string>;
  /** Without a body, the requests are GET. */
  body?: () => string;
  connections: number;
  perSecond: number;
  /** The load runs this long before the measurement starts, so that every connection is warm. */
  warmUpSeconds: number;
}

/** Latency starts at the moment at which a request was due, so that delays before sending count too. */
export async function runPaced(load: PacedLoad, seconds: number): Promise<Sample> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  const started = performance.now();
  const countFrom = started + load.warmUpSeconds * 1000;
  const end = countFrom + seconds * 1000;
  try {
    for (let due = started; due < end; due += gap(load.perSecond)) {
      while (performance.now() < due) await sleep(0);
      const dueAt = due;
      const sent = send(agent, load.url, load.headers(), load.body?.()).then(async (response) => {
        await finished(response.resume());
        if (dueAt >= countFrom) latencies.push(performance.now() - dueAt);
      });
      running.add(sent);
      sent.finally(() => running.delete(sent)).catch(() => {});
    }
    await Promise.all(running);
  } finally {
    agent.destroy();
  }
  return {
    perSecond: (latencies.length * 1000) / (performance.now() - countFrom),
    ...summary(latencies),
  };
}

/** The times between requests are random, like pgbench's. */
const gap = (perSecond: number) => (-Math.log(1 - Math.random()) * 1000) / perSecond;

export function summary(latencies: number[]): Pick<Sample, 'meanMs' | 'p50Ms' | 'p99Ms'> {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  return { meanMs: sorted.reduce((a, b) => a + b, 0) / sorted.length, p50Ms: at(0.5), p99Ms: at(0.99) };
}
