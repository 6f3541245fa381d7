import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ProcessMetrics } from '../processes/supervise.ts';

const READ_WITHIN_MS = 1000;

type MetricReader<T> = () => T | Promise<T>;

/** The bounds of `RequestCounts.latency`. */
export const LATENCY_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000] as const;

/** All requests since the start. */
export interface RequestCounts {
  requests: number;
  /** How many had a status of 500 or above. */
  errors: number;
  /** How many took up to each bound, and at last those that took longer. */
  latency: number[];
}

export interface Metrics {
  observeRequest(operation: string, status: number, elapsedMs: number): void;
  readonly counted: Readonly<RequestCounts>;
  /** A value that is read at each scrape. If reading it takes too long, the last value is shown. */
  gauge(name: string, help: string, read: MetricReader<number>): void;
  /** A gauge with several values, which differ in one label. */
  gaugeBy(name: string, help: string, label: string, read: () => Promise<Record<string, number>>): void;
  /** Facts that do not change, as labels of a value that is always 1. */
  info(name: string, help: string, labels: Record<string, string>): void;
  /** Metrics of one child process. */
  ofProcess(name: string): ProcessMetrics;
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'oriel_http_request_duration_seconds',
    help: 'How long requests took, by operation of the contract and status',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  // Looking up a histogram by its labels costs more than the observation itself.
  const children = new Map<string, Histogram.Internal<'operation' | 'status'>>();

  const counted: RequestCounts = {
    requests: 0,
    errors: 0,
    latency: Array.from({ length: LATENCY_BOUNDS_MS.length + 1 }, () => 0),
  };

  return {
    counted,
    observeRequest(operation, status, elapsedMs) {
      counted.requests++;
      if (status >= 500) counted.errors++;
      const bound = LATENCY_BOUNDS_MS.findIndex((ms) => elapsedMs <= ms);
      counted.latency[bound < 0 ? LATENCY_BOUNDS_MS.length : bound]!++;
      const key = operation + status;
      let child = children.get(key);
      if (!child) {
        child = requests.labels({ operation, status: String(status) });
        children.set(key, child);
      }
      child.observe(elapsedMs / 1000);
    },
    gauge(name, help, read) {
      const current = withLastValue(read, Number.NaN);
      new Gauge({
        name,
        help,
        registers: [registry],
        async collect() {
          this.set(await current());
        },
      });
    },
    gaugeBy(name, help, label, read) {
      const current = withLastValue(read, {});
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers: [registry],
        async collect() {
          const values = await current();
          this.reset();
          for (const [key, value] of Object.entries(values)) this.set({ [label]: key }, value);
        },
      });
    },
    info(name, help, labels) {
      const labelNames = Object.keys(labels);
      new Gauge({ name, help, labelNames, registers: [registry] }).set(labels, 1);
    },
    ofProcess: processMetrics(registry),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function processMetrics(registry: Registry): Metrics['ofProcess'] {
  const shared = { labelNames: ['process'], registers: [registry] };
  const up = new Gauge({ name: 'oriel_process_up', help: 'Whether a child process runs', ...shared });
  const restarts = new Counter({
    name: 'oriel_process_restarts_total',
    help: 'How often a child process ended and was started again',
    ...shared,
  });
  const requests = new Histogram({
    ...shared,
    name: 'oriel_process_request_duration_seconds',
    help: 'How long requests to a child process took, by outcome',
    labelNames: ['process', 'outcome'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
  });
  return (name) => {
    restarts.labels(name).inc(0);
    return {
      setUp: (isUp) => up.labels(name).set(Number(isUp)),
      countRestart: () => restarts.labels(name).inc(),
      observeRequest: (outcome, elapsedMs) => requests.labels(name, outcome).observe(elapsedMs / 1000),
    };
  };
}

/** Runs only one read at a time. Returns `unknown` until there is a first value. */
function withLastValue<T>(read: MetricReader<T>, unknown: T): () => Promise<T> {
  let last = unknown;
  let reading: Promise<void> | undefined;
  const refresh = async () => {
    try {
      last = await read();
    } catch {
      // The last value is returned.
    }
    reading = undefined;
  };
  return async () => {
    reading ??= refresh();
    const late = new AbortController();
    const limit = sleep(READ_WITHIN_MS, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([reading, limit]);
    late.abort();
    return last;
  };
}
