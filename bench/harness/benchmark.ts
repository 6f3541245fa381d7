/** The types of a benchmark and of its report. */
export interface Benchmark {
  name: string;
  /** One line that says what is measured, and what it is compared with. */
  description: string;
  /** The names of the parts that can be measured alone. */
  scenes?: readonly string[];
  run(options: RunOptions): Promise<Outcome>;
}

export interface RunOptions {
  rounds: number;
  /** How long one measurement lasts. */
  seconds: number;
  /** The amount of data, for benchmarks that create data. */
  rows?: number;
  /** The only scene that is measured, of a benchmark that has scenes. */
  scene?: string;
}

/** One measurement. Each tool fills in the values that it measures. */
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
  /** What it does and does not do, for people who read the ratios. */
  does: string;
}

/** All measurements of one contender. */
export interface ContenderResult {
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
  asked?: Target;
}

export type Target = { atLeast: number } | { atMost: number };

export interface Outcome {
  measured: ContenderResult[];
  comparisons: Comparison[];
  /** How the figures were measured, and versions that only this benchmark knows. */
  facts: Record<string, string>;
}
