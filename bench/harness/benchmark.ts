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

/** Something that can be measured. */
export interface Contender {
  name: string;
  measure(seconds: number): Promise<Sample>;
}

/** What Oriel is compared with. */
export interface Anchor extends Contender {
  /** What it does and what it does not do, for the reader of a ratio. */
  does: string;
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
  /** What the anchor does and does not do. */
  anchorDoes: string;
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
