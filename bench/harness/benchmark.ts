/** What a benchmark is, and what it hands back. */
export interface Benchmark {
  name: string;
  /** One line: what is measured, against what. */
  description: string;
  run(options: RunOptions): Promise<Outcome>;
}

export interface RunOptions {
  rounds: number;
  /** How long one measurement lasts. */
  seconds: number;
  /** How much data to make, for benchmarks that make some. */
  rows?: number;
}

/** One measurement. A tool fills in what it can tell. */
export interface Sample {
  perSecond: number;
  meanMs?: number;
  p50Ms?: number;
  p99Ms?: number;
}

export type Metric = keyof Sample;

/** Somebody who can be measured: Oriel, or an anchor that it is held against. */
export interface Contender {
  name: string;
  measure(seconds: number): Promise<Sample>;
}

/** All measurements of one contender. */
export interface Measured {
  name: string;
  /** The median of each value. */
  median: Sample;
  samples: Sample[];
}

export interface Comparison {
  subject: string;
  anchor: string;
  metric: Metric;
  /** The median of the ratios of subject to anchor, one from each round. */
  ratio: number;
  lowest: number;
  highest: number;
  asked?: Asked;
}

export type Asked = { atLeast: number } | { atMost: number };

export interface Outcome {
  measured: Measured[];
  comparisons: Comparison[];
  /** How it was measured, and versions that only this benchmark knows. */
  facts: Record<string, string>;
}
