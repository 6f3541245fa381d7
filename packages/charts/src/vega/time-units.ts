/**
 * Units of time of a chart, and the time grain that viewers choose. Rows come in buckets of the chosen grain, so the unit that
 * the spec was written with would stack weeks into months, or draw a quarter as wide as a month: the bucket takes its place.
 */
import type { Query, TimeDimension } from '../types.ts';

type Part = Record<string, unknown>;

export const keyOf = (member: string) => member.replaceAll('.', '__');

/** How Vega-Lite calls times that it has put together, and the granularity of each. */
export const UNITS: Record<string, string> = {
  year: 'year',
  yearquarter: 'quarter',
  yearmonth: 'month',
  yearweek: 'week',
  yearmonthdate: 'day',
  yearmonthdatehours: 'hour',
};

const DAY_MS = 86_400_000;
const DAYS = ['hour', 'day'];

/** Where the next bucket begins, how far apart ticks are at least, and the units that labels tell. */
const GRAINS: Record<string, { next: [unit: string, step: number]; ms: number; label: string[] }> = {
  hour: { next: ['hours', 1], ms: DAY_MS / 24, label: ['year', 'month', 'date', 'hours'] },
  day: { next: ['date', 1], ms: DAY_MS, label: ['year', 'month', 'date'] },
  week: { next: ['date', 7], ms: 7 * DAY_MS, label: ['year', 'month', 'date'] },
  month: { next: ['month', 1], ms: 28 * DAY_MS, label: ['year', 'month'] },
  quarter: { next: ['month', 3], ms: 90 * DAY_MS, label: ['year', 'quarter'] },
  year: { next: ['year', 1], ms: 365 * DAY_MS, label: ['year'] },
};

/** The grains whose buckets never reach over the end of a unit. Weeks end in the middle of months and years. */
const INSIDE: Record<string, string[]> = {
  year: [...DAYS, 'month', 'quarter', 'year'],
  quarter: [...DAYS, 'month', 'quarter'],
  month: [...DAYS, 'month'],
  week: DAYS,
  date: DAYS,
  day: DAYS,
  dayofyear: DAYS,
  hours: ['hour'],
};

/** A unit that a spec puts the times of a field into. */
interface TimeUnit {
  field: string;
  units: string[];
  isUtc: boolean;
  /** Not several months at once. */
  isOne: boolean;
  /** The names of its begin and end. */
  as: [string, string];
}

const BINNED = /^(utc|time)Offset\('(\w+)', datum\['(\w+)'\], \d+\)$/;

/** What Vega-Lite makes of `timeUnit`: a transform or, for times that the author calls binned, the formula of their end. */
function timeUnitOf({ type, field, units, step, maxbins, timezone, as, expr }: Part): TimeUnit | undefined {
  if (type === 'formula') {
    const [, zone, unit, of] = BINNED.exec(String(expr)) ?? [];
    if (!unit || !of || as !== `${of}_end`) return undefined;
    const { label } = Object.values(GRAINS).find(({ label }) => label.at(-1) === unit) ?? {
      label: ['year', unit],
    };
    return { field: of, units: label, isUtc: zone === 'utc', isOne: true, as: [of, `${of}_end`] };
  }
  if (type !== 'timeunit' || typeof field !== 'string') return undefined;
  const [begin = 'unit0', end = 'unit1'] = Array.isArray(as) ? as.map(String) : [];
  const names = Array.isArray(units) ? units.map(String) : ['year'];
  const isOne = step === undefined && maxbins === undefined;
  return { field, units: names, isUtc: timezone === 'utc', isOne, as: [begin, end] };
}

function visit(part: unknown, see: (part: Part, name: string) => void, name = '') {
  if (Array.isArray(part)) for (const item of part) visit(item, see, name);
  else if (part !== null && typeof part === 'object') {
    see(part as Part, name);
    for (const [key, value] of Object.entries(part)) visit(value, see, key);
  }
}

/**
 * The most units whose grain can be changed, because every text of a spec is searched for each of them. A spec with
 * more keeps the grain of its report.
 */
const UNITS_MAX = 100;

const known = new WeakMap<object, TimeUnit[]>();

function timeUnitsOf(spec: unknown): TimeUnit[] {
  if (spec === null || typeof spec !== 'object') return [];
  const found = known.get(spec) ?? [];
  if (!known.has(spec))
    visit(spec, (part, name) => {
      const unit = name === 'transform' ? timeUnitOf(part) : undefined;
      if (unit) found.push(unit);
    });
  known.set(spec, found);
  return found;
}

/** The units of a time dimension that are its buckets, and those that the spec groups by beside them: Mondays, or years. */
function unitsOf(spec: unknown, { dimension, granularity }: TimeDimension, { dimensions = [] }: Query) {
  const keys = [keyOf(`${dimension}.${granularity}`)];
  // The plain name of a time stands for its bucket too, unless the query asks for it.
  if (!dimensions.includes(dimension)) keys.push(keyOf(dimension));
  const units = timeUnitsOf(spec).filter(({ field }) => keys.includes(field));
  const isAlone = new Set(units.map((unit) => unit.units.join(''))).size < 2;
  const isBucket = (unit: TimeUnit) =>
    isAlone ? unit.units[0] === 'year' : UNITS[unit.units.join('')] === granularity;
  return { buckets: units.filter(isBucket), others: units.filter((unit) => !isBucket(unit)) };
}

/** Whether a chart can show the grain. Weeks by month can only be wrong: then the chart keeps the grain of its report. */
export function takesGrain(spec: unknown, time: TimeDimension, query: Query, grain: string): boolean {
  if (timeUnitsOf(spec).length > UNITS_MAX) return false;
  const { others } = unitsOf(spec, time, query);
  return others.every(({ units }) => INSIDE[units.at(-1) ?? '']?.includes(grain));
}

const SPECIFIER = /timeUnitSpecifier\(\[[^\]]*\]/;
const specifierOf = (grain: string) => `timeUnitSpecifier(${JSON.stringify(GRAINS[grain]!.label)}`;

interface Bucket extends TimeUnit {
  grain: string;
  member: string;
}

/** The spec for buckets of the grains in force, and the names that it has for their begins. */
export function withGrains(
  spec: unknown,
  reported: Query,
  query: Query,
): { spec: unknown; names: [key: string, member: string][] } {
  if (timeUnitsOf(spec).length > UNITS_MAX) return { spec, names: [] };
  const buckets: Bucket[] = (reported.timeDimensions ?? []).flatMap((time) => {
    const { dimension, granularity } = time;
    const grain = query.timeDimensions?.find((other) => other.dimension === dimension)?.granularity;
    if (!grain || !granularity || !Object.hasOwn(GRAINS, grain)) return [];
    return unitsOf(spec, time, reported)
      .buckets.filter(
        ({ units, isOne }) => grain !== granularity || (isOne && UNITS[units.join('')] === grain),
      )
      .map((unit) => ({ ...unit, grain, member: `${dimension}.${grain}` }));
  });
  if (!buckets.length) return { spec, names: [] };
  const ofScales = new Map<string, Bucket>();
  visit(spec, ({ name, domain }, place) => {
    const text = place === 'scales' ? JSON.stringify(domain ?? null) : '';
    const bucket = buckets.find(({ as }) => text.includes(`"${as[0]}"`));
    if (bucket) ofScales.set(String(name), bucket);
  });
  return {
    spec: rewritten(spec, buckets, ofScales),
    names: buckets.map(({ as, member }) => [as[0], member]),
  };
}

function rewritten(part: unknown, buckets: Bucket[], ofScales: Map<string, Bucket>): unknown {
  const again = (each: unknown) => rewritten(each, buckets, ofScales);
  if (typeof part === 'string') return wordsOf(part, buckets);
  if (Array.isArray(part)) return part.flatMap((item) => bucketsOf(item, buckets) ?? [again(item)]);
  if (part === null || typeof part !== 'object') return part;
  const { scale, fill, stroke, size, ...rest } = part as Part;
  const bucket = [scale, fill, stroke, size].map((name) => ofScales.get(String(name))).find(Boolean);
  const changed = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, again(value)]));
  if (!bucket) return changed;
  const signal = String((rest.format as Part | undefined)?.signal ?? '');
  if (SPECIFIER.test(signal))
    changed.format = { signal: signal.replace(SPECIFIER, specifierOf(bucket.grain)) };
  if ('tickMinStep' in rest) changed.tickMinStep = GRAINS[bucket.grain]!.ms;
  return changed;
}

/** A row has the begin of its bucket. The end is where the next one begins. */
function bucketsOf(part: unknown, buckets: Bucket[]): Part[] | undefined {
  const unit = part !== null && typeof part === 'object' ? timeUnitOf(part as Part) : undefined;
  const bucket = unit && buckets.find(({ as }) => as[1] === unit.as[1]);
  if (!bucket) return undefined;
  const { field, as, isUtc } = bucket;
  const begin = `datum[${JSON.stringify(field)}]`;
  const [next, step] = GRAINS[bucket.grain]!.next;
  const end = `${isUtc ? 'utc' : 'time'}Offset('${next}', toDate(${begin}), ${step})`;
  return [
    ...(as[0] === field ? [] : [{ type: 'formula', expr: `toDate(${begin})`, as: as[0] }]),
    { type: 'formula', expr: end, as: as[1] },
  ];
}

/** Labels tell the grain in force, and titles do not name the unit of the report: `ordered_at (year-month)`. */
function wordsOf(text: string, buckets: Bucket[]): string {
  let words = text;
  for (const { field, as, units, grain } of buckets) {
    words = words.replaceAll(`${field} (${units.join('-')})`, field);
    const label = `["${as[0]}"], timeUnitSpecifier(${JSON.stringify(units)}`;
    words = words.replaceAll(label, `["${as[0]}"], ${specifierOf(grain)}`);
  }
  return words;
}
