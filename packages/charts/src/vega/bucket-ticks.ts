/**
 * Ticks of times. Vega puts them where round times are: in a line over two months, at days that no row is of. Rows are of
 * buckets, so as long as there is room for a label of each, these are the ticks.
 */
import { type Part, partsOf } from './spec-parts.ts';

/** How Vega-Lite asks for ticks: one for so many pixels. */
const BY_ROOM = /^ceil\((\w+)\/(\d+)\)$/;
/** The number of ticks that Vega asks for by default. */
const TICKS = 10;
/** Its own weeks begin on another day than those of queries. With more than so many in a step, months tell more. */
const WEEKS_MAX = 4;

/** The begins of the buckets that a field holds. */
export interface Buckets {
  granularity: string;
  begins: number[];
}

interface Level extends Part {
  scales?: unknown;
  axes?: unknown;
  marks?: unknown;
}

/** Changes the spec. To be called when its sizes are known. */
export function tickBuckets(spec: Level, buckets: ReadonlyMap<string, Buckets>) {
  const sizes = new Map<string, number>();
  for (const side of ['width', 'height'])
    if (typeof spec[side] === 'number') sizes.set(side, spec[side] as number);
  for (const { name, value } of partsOf(spec.signals))
    if (typeof value === 'number') sizes.set(String(name), value);
  tickLevel(spec, partsOf(spec.scales), buckets, sizes);
}

function tickLevel(
  level: Level,
  around: Part[],
  buckets: ReadonlyMap<string, Buckets>,
  sizes: ReadonlyMap<string, number>,
) {
  const scales = [...partsOf(level.scales), ...around];
  if (Array.isArray(level.axes))
    level.axes = partsOf(level.axes).map((axis) => {
      const scale = scales.find(({ name }) => name === axis.scale);
      const found = scale && bucketsOf(scale, buckets);
      const values = found && axis.values === undefined && ticksOf(found, axis.tickCount, sizes);
      return values ? { ...axis, values } : axis;
    });
  for (const mark of partsOf(level.marks)) tickLevel(mark, scales, buckets, sizes);
}

/** Undefined if people can zoom, or if the scale has times of several fields: then the round times of Vega say more. */
function bucketsOf(
  { type, domain, domainRaw }: Part,
  buckets: ReadonlyMap<string, Buckets>,
): Buckets | undefined {
  if ((type !== 'time' && type !== 'utc') || domainRaw !== undefined) return undefined;
  const text = JSON.stringify(domain ?? null);
  const found = new Set([...buckets].filter(([key]) => text.includes(`"${key}"`)).map(([, each]) => each));
  return found.size === 1 ? [...found][0] : undefined;
}

/** The smallest share of buckets with rows: with few rows in a long time, most of the axis would have no ticks. */
const FILLED_LEAST = 0.5;

function isFilled(begins: readonly number[]): boolean {
  const gaps = begins.slice(1).map((begin, i) => begin - begins[i]!);
  const span = begins.at(-1)! - begins[0]!;
  return !gaps.length || begins.length / (span / Math.min(...gaps) + 1) >= FILLED_LEAST;
}

/** The ticks, or undefined for those of Vega: with less room, its round times are no finer than the buckets. */
function ticksOf(
  { granularity, begins }: Buckets,
  wanted: unknown,
  sizes: ReadonlyMap<string, number>,
): number[] | undefined {
  const most = countOf(wanted, sizes);
  if (most === undefined || !isFilled(begins)) return undefined;
  const step = Math.max(1, Math.ceil(begins.length / most));
  if (step > (granularity === 'week' ? WEEKS_MAX : 1)) return undefined;
  return begins.filter((_, i) => i % step === 0);
}

/** The number of ticks; undefined if the author asks for times of a unit. */
function countOf(wanted: unknown, sizes: ReadonlyMap<string, number>): number | undefined {
  if (wanted === undefined) return TICKS;
  if (typeof wanted === 'number') return wanted;
  const [, size, pixels] = BY_ROOM.exec(String((wanted as Part | null)?.signal)) ?? [];
  const room = size === undefined ? undefined : sizes.get(size);
  return room === undefined ? undefined : Math.ceil(room / Number(pixels));
}
