/**
 * Measures in turns. The machine is shared and its speed changes over time, so a figure is useful only together with an
 * anchor that was measured right before or after it.
 */
import type {
  Anchor,
  Comparison,
  Contender,
  ContenderResult,
  Metric,
  RunOptions,
  Sample,
  Target,
} from './benchmark.ts';

/** A server's code is compiled while it runs, the busy parts last: throughput still rises after five seconds. */
const WARM_UP_SECONDS = 10;
/** Other contenders have used the caches of the processor in the meantime. */
const RUN_UP_SECONDS = 1;

interface Pair {
  anchor: Sample;
  subject: Sample;
}

export interface Rounds {
  measured: ContenderResult[];
  compare(anchor: Anchor, options?: { metric?: Metric; asked?: Target }): Comparison;
}

export async function measureInTurns(
  subject: Contender,
  anchors: Anchor[],
  {
    rounds,
    seconds,
    runUpSeconds = RUN_UP_SECONDS,
  }: RunOptions & {
    /** Zero if a measurement warms its connections itself. */
    runUpSeconds?: number;
  },
): Promise<Rounds> {
  const measureWarm = async (contender: Contender) => {
    if (runUpSeconds) await contender.measure(runUpSeconds);
    return contender.measure(seconds);
  };
  const pairs = new Map<Anchor, Pair[]>(anchors.map((anchor) => [anchor, []]));
  for (const contender of [...anchors, subject]) {
    progress(`warming up: ${contender.name}`);
    await contender.measure(WARM_UP_SECONDS);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [anchor, list] of pairs) {
      progress(`round ${round + 1} of ${rounds}: ${anchor.name}`);
      list.push(await measurePair(measureWarm, anchor, subject, round % 2 === 0));
    }
  }
  progress('');
  return {
    measured: [
      ...[...pairs].map(([{ name }, list]) =>
        summarise(
          name,
          list.map((pair) => pair.anchor),
        ),
      ),
      summarise(
        subject.name,
        [...pairs.values()].flat().map((pair) => pair.subject),
      ),
    ],
    compare: (anchor, { metric = 'perSecond', asked } = {}) => ({
      subject: subject.name,
      anchor: anchor.name,
      anchorDoes: anchor.does,
      metric,
      ...ratios(pairs.get(anchor)!, metric),
      asked,
    }),
  };
}

/** Each round starts with another contender, so that a change of the machine's speed favours neither. */
async function measurePair(
  measure: (contender: Contender) => Promise<Sample>,
  anchor: Anchor,
  subject: Contender,
  anchorFirst: boolean,
): Promise<Pair> {
  if (anchorFirst) {
    const first = await measure(anchor);
    return { anchor: first, subject: await measure(subject) };
  }
  const first = await measure(subject);
  return { subject: first, anchor: await measure(anchor) };
}

function ratios(pairs: Pair[], metric: Metric) {
  const all = pairs.map(({ anchor, subject }) => required(subject, metric) / required(anchor, metric));
  return { ratio: median(all), lowest: Math.min(...all), highest: Math.max(...all) };
}

function required(sample: Sample, metric: Metric): number {
  const value = sample[metric];
  if (value === undefined) throw new Error(`${metric} was not measured.`);
  return value;
}

function summarise(name: string, samples: Sample[]): ContenderResult {
  const medianOf = (metric: Metric) => {
    const values = samples.flatMap((sample) => sample[metric] ?? []);
    return values.length ? median(values) : undefined;
  };
  return {
    name,
    samples,
    median: {
      perSecond: median(samples.map(({ perSecond }) => perSecond)),
      meanMs: medianOf('meanMs'),
      p50Ms: medianOf('p50Ms'),
      p99Ms: medianOf('p99Ms'),
    },
  };
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** One line that overwrites itself, printed only if the output is a terminal. */
function progress(text: string) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
