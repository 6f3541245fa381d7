/// <reference path="./modules.d.ts" />
/**
 * Bounds of what a chart makes: a few characters can ask for a list, a text or an axis of any length, and the page would stand
 * still for minutes.
 */
import * as encode from 'vega-encode';
import * as regression from 'vega-regression';
import * as data from 'vega-transforms';
import { ChartRefused } from './chart-refused.ts';

/** Of lists, texts, ticks and bins that a number asks for. */
const LENGTH_MAX = 10_000;
/** Each step of a curve reads all rows. */
const STEPS_MAX = 1000;
const ROWS_MAX = 1_000_000;
/** Of a polynomial. */
const ORDER_MAX = 10;

function atMost(count: number, max: number, what: string) {
  if (count > max) throw new ChartRefused(`The chart asks for too many ${what}.`);
}

const stepsIn = (start: unknown, stop: unknown, step: unknown = 1) =>
  (stop === undefined ? Number(start) : Number(stop) - Number(start)) / Number(step);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The shortest that each can be. Others are days or longer. */
const UNITS: [name: RegExp, ms: number][] = [
  [/^milli/, 1],
  [/^second/, 1000],
  [/^minute/, MINUTE_MS],
  [/^hour/, 60 * MINUTE_MS],
  [/^(month|quarter|year)/, 28 * DAY_MS],
];
const timesIn = (unit: unknown, start: unknown, stop: unknown, step: unknown) => {
  const ms = UNITS.find(([name]) => name.test(String(unit)))?.[1] ?? DAY_MS;
  return Math.abs(stepsIn(start, stop, ms)) / Math.max(1, Number(step) || 1);
};

/** A specifier can ask for a width: `1000000d`. */
const requireFormat = (specifier: unknown) =>
  atMost(/\d{4}/.test(String(specifier ?? '')) ? Infinity : 0, 0, 'characters');

type Check<Given extends unknown[]> = (...given: Given) => void;

const requireTimes: Check<unknown[]> = (...[unit, start, stop, step]) =>
  atMost(timesIn(unit, start, stop, step), LENGTH_MAX, 'values');

/** What is checked before functions of expressions run. */
export const LENGTH_CHECKS: Record<string, Check<unknown[]>> = {
  sequence: (start, stop, step) => atMost(stepsIn(start, stop, step), LENGTH_MAX, 'values'),
  timeSequence: requireTimes,
  utcSequence: requireTimes,
  pad: (_text, length) => atMost(Number(length), LENGTH_MAX, 'characters'),
  format: (_value, specifier) => requireFormat(specifier),
};

type Params = Record<string, unknown>;
interface Pulse {
  source?: unknown[];
  add?: unknown[];
}
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);
const rowsIn = ({ source, add }: Pulse) => Math.max(lengthOf(source), lengthOf(add));

type Field = (row: unknown) => unknown;

/**
 * Vega keeps groups as members of a plain object, by the text of their values. With `__proto__` it would write to what all objects
 * share, and with `constructor` to that.
 */
function requireGroups({ groupby, key }: Params, { source, add = [] }: Pulse) {
  const fields = [groupby ?? [], key ?? []].flat() as Field[];
  for (const row of source ?? add)
    for (const field of fields)
      if (String(field(row)) in {}) throw new ChartRefused(`The chart cannot use \`${field(row)}\`.`);
}

/** Each group gets a row for each key. */
function requireImputed(params: Params, pulse: Pulse) {
  requireGroups(params, pulse);
  const countOf = (fields: unknown) =>
    new Set(pulse.source!.map((row) => String((fields as Field[]).map((field) => field(row))))).size;
  const keys = lengthOf(params.keyvals) + countOf([params.key]);
  atMost(keys * countOf(params.groupby ?? []), ROWS_MAX, 'rows');
}

function requireFlat({ fields }: Params, { source, add = [] }: Pulse) {
  let count = 0;
  for (const row of source ?? add)
    count += Math.max(...(fields as Field[]).map((field) => lengthOf(field(row))));
  atMost(count, ROWS_MAX, 'rows');
}

function requireTicks({ count, scale, formatSpecifier }: Params) {
  requireFormat(formatSpecifier);
  if (typeof count === 'number') return atMost(count, LENGTH_MAX, 'ticks');
  if (!count) return;
  // `"second"`, or `{ interval, step }`
  const { interval = count, step } = Object(count) as { interval?: unknown; step?: unknown };
  const domain = (scale as { domain(): unknown[] }).domain().map(Number);
  atMost(timesIn(interval, domain[0], domain.at(-1), step), LENGTH_MAX, 'ticks');
}

function requireSteps({ steps, minsteps, maxsteps }: Params) {
  for (const count of [steps, minsteps, maxsteps]) atMost(Number(count ?? 0), STEPS_MAX, 'steps');
}

/** What is checked before transforms run. */
const TRANSFORMS: Record<string, Check<[Params, Pulse]>> = {
  bin({ base, maxbins }) {
    atMost(Number(maxbins ?? 0), LENGTH_MAX, 'bins');
    // With a base of 1 or less, Vega looks for the width of bins forever.
    if (base !== undefined && !(Number(base) > 1))
      throw new ChartRefused('The base of bins must be more than 1.');
  },
  kde: requireSteps,
  quantile: ({ step }) => atMost(1 / Number(step ?? 1), LENGTH_MAX, 'quantiles'),
  fold: ({ fields }, pulse) => atMost(rowsIn(pulse) * lengthOf(fields), ROWS_MAX, 'rows'),
  flatten: requireFlat,
  impute: requireImputed,
  joinaggregate: requireGroups,
  window: requireGroups,
  regression(params, pulse) {
    requireGroups(params, pulse);
    atMost(Number(params.order ?? 0), ORDER_MAX, 'powers');
  },
  /** Each point of the curve reads a part of all rows. */
  loess(params, pulse) {
    requireGroups(params, pulse);
    atMost(rowsIn(pulse), LENGTH_MAX, 'rows');
  },
  scale({ base, bins, domain, schemeCount }) {
    atMost(Number(schemeCount ?? 0), LENGTH_MAX, 'colours');
    // A logarithmic scale has a tick for each multiple of its powers.
    atMost(Number(base), LENGTH_MAX, 'ticks');
    if (!bins || Array.isArray(bins)) return;
    const ends = (domain ?? []) as unknown[];
    const { start = ends[0] ?? 0, stop = ends.at(-1) ?? 0, step } = bins as Params;
    atMost(stepsIn(start, stop, step), LENGTH_MAX, 'bins');
  },
  axisticks: requireTicks,
  legendentries: requireTicks,
};

interface Transform {
  transform(params: Params, pulse: Pulse): unknown;
}

/** Puts the checks before the transforms of Vega. To be called once. */
export function boundTransforms() {
  const known = { ...data, ...encode, ...regression } as Record<string, { prototype: Transform }>;
  for (const [name, check] of Object.entries(TRANSFORMS)) {
    const { prototype } = known[name]!;
    const own = prototype.transform;
    prototype.transform = function (params, pulse) {
      check(params, pulse);
      return own.call(this, params, pulse);
    };
  }
}
