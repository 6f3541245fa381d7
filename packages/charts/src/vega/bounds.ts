/// <reference path="./modules.d.ts" />
/**
 * Bounds of what a chart makes: a few characters can ask for a list, a text or an axis of any length, and the page would stand
 * still for minutes.
 */
import * as encode from 'vega-encode';
import * as regression from 'vega-regression';
import * as data from 'vega-transforms';
import { field as accessorOf } from 'vega-util';
import * as view from 'vega-view-transforms';
import { type Budget, spendOn } from './budget.ts';
import { ChartRefusedError } from './chart-refused.ts';

/** The longest list or text, and the most ticks or bins, that a number can ask for. */
const LENGTH_MAX = 10_000;
/** Of a polynomial whose order is not given. */
const DEFAULT_ORDER = 3;
/** Finding and drawing the curve of a group takes about so many steps, for each pair of its powers. */
const CURVE_WORK = 15_000;
/** Each step of a curve reads all rows. */
const STEPS_MAX = 1000;
const ROWS_MAX = 1_000_000;
/** The largest step of a unit of time, on an axis or in rounding. */
const TIME_STEP_MAX = 1000;
/** The highest order of a polynomial. */
const ORDER_MAX = 10;

function atMost(count: number, max: number, what: string) {
  if (count > max) throw new ChartRefusedError(`The chart asks for too many ${what}.`);
}

const stepsIn = (start: unknown, stop: unknown, step: unknown = 1) =>
  (stop === undefined ? Number(start) : Number(stop) - Number(start)) / Number(step);

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The shortest length of each unit. Other units are days or longer. */
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

/** Near the end of what a `Date` can hold, d3 looks for the next time forever. */
const TIME_MAX = 8e15;
function requireTime(time: unknown) {
  if (Math.abs(Number(time)) > TIME_MAX)
    throw new ChartRefusedError('The chart has a time that is too far away.');
}

/** d3 finds the times of a step by trying one after the other, from the last whole step of the unit on. */
const requireStep = (step: unknown) => atMost(Math.abs(Number(step ?? 1)), TIME_STEP_MAX, 'times');

const requireTimes: Check<unknown[]> = (...[unit, start, stop, step]) => {
  requireStep(step);
  requireTime(start);
  requireTime(stop);
  atMost(timesIn(unit, start, stop, step), LENGTH_MAX, 'values');
};
const requireOffset: Check<unknown[]> = (...[, time, step]) => {
  requireTime(time);
  requireStep(step);
};
/** Each step of a time is tried. */
export const STEP_OF_TIME_WORK = 20;

/** What is checked before functions of expressions run. */
export const LENGTH_CHECKS: Record<string, Check<unknown[]>> = {
  sequence: (start, stop, step) => atMost(stepsIn(start, stop, step), LENGTH_MAX, 'values'),
  timeSequence: requireTimes,
  utcSequence: requireTimes,
  timeOffset: requireOffset,
  utcOffset: requireOffset,
  gradient: (_scale, _from, _to, count) => atMost(Number(count ?? 0), LENGTH_MAX, 'colours'),
  pad: (_text, length) => atMost(Number(length), LENGTH_MAX, 'characters'),
  format: (_value, specifier) => requireFormat(specifier),
};

type Params = Record<string, unknown>;
interface Pulse {
  source?: unknown[];
  add?: unknown[];
  dataflow: object;
}
const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);
/** Vega reads an object with a length as a list, however long it says that it is. */
function requireList(param: unknown) {
  const isObject = typeof param === 'object' && param !== null && !Array.isArray(param);
  if (isObject && Object.hasOwn(param, 'length'))
    throw new ChartRefusedError('The chart cannot use this as a list.');
}
/** Some transforms read anything with a length as a list: an object, and each character of a text. */
const anyLengthOf = (value: unknown) => Number(Object(value).length) || 0;
const rowsIn = ({ source, add }: Pulse) => Math.max(lengthOf(source), lengthOf(add));

type Field = (row: unknown) => unknown;
/** Compares two rows by fields, whose names are with it. */
type Comparator = ((one: unknown, other: unknown) => number) & { fields: string[] };

/**
 * Vega keeps groups as members of a plain object, by the text of their values. With `__proto__` it would write to what all objects
 * share, and with `constructor` to that.
 */
function requireGroups({ groupby, key }: Params, { source, add = [] }: Pulse) {
  const fields = [groupby ?? [], key ?? []].flat() as Field[];
  for (const row of source ?? add)
    for (const field of fields)
      if (String(field(row)) in {}) throw new ChartRefusedError(`The chart cannot use \`${field(row)}\`.`);
}

/** Each group gets a row for each key. */
function requireImputed(params: Params, pulse: Pulse) {
  requireGroups(params, pulse);
  const countOf = (fields: unknown) =>
    new Set(pulse.source!.map((row) => String((fields as Field[]).map((field) => field(row))))).size;
  const keys = lengthOf(params.keyvals) + countOf([params.key]);
  atMost(keys * countOf(params.groupby ?? []), ROWS_MAX, 'rows');
}

/** Each new row gets all columns of the row that it is made of. */
function spendOnRows(count: number, { source, add = [] }: Pulse, budget: Budget) {
  atMost(count, ROWS_MAX, 'rows');
  budget.spend(count * Object.keys((source ?? add)[0] ?? {}).length, 'columns');
}

function requireFlat({ fields }: Params, pulse: Pulse, budget: Budget) {
  let count = 0;
  for (const row of pulse.source ?? pulse.add ?? [])
    count += Math.max(...(fields as Field[]).map((field) => anyLengthOf(field(row))));
  spendOnRows(count, pulse, budget);
}

function requireTicks({ count, scale, formatSpecifier }: Params) {
  requireFormat(formatSpecifier);
  if (typeof count === 'number') return atMost(count, LENGTH_MAX, 'ticks');
  if (!count) return;
  // `"second"`, or `{ interval, step }`
  const { interval = count, step } = Object(count) as { interval?: unknown; step?: unknown };
  requireStep(step);
  const domain = (scale as { domain(): unknown[] }).domain().map(Number);
  domain.forEach(requireTime);
  atMost(timesIn(interval, domain[0], domain.at(-1), step), LENGTH_MAX, 'ticks');
}

/** Bounds a transform that makes `each` rows of each group. */
function requireRows({ groupby }: Params, pulse: Pulse, each: number) {
  atMost(sizesOf(groupby, pulse).length * each, ROWS_MAX, 'rows');
}

/** What Vega makes if a chart does not say. */
const CURVE_STEPS = 200;
const QUANTILE_STEP = 0.01;

function requireSteps({ steps, minsteps, maxsteps }: Params) {
  for (const count of [steps, minsteps, maxsteps]) atMost(Number(count ?? 0), STEPS_MAX, 'steps');
}

function groupsOf(groupby: unknown, { source, add = [] }: Pulse): unknown[][] {
  const fields = (groupby ?? []) as Field[];
  const groups = new Map<string, unknown[]>();
  for (const row of source ?? add) {
    const key = fields.map((field) => String(field(row))).join('|');
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups.values()];
}

/** How many rows each group has. */
const sizesOf = (groupby: unknown, pulse: Pulse) => groupsOf(groupby, pulse).map(({ length }) => length);

/** How often the values of each row are read when rows are sorted: each comparison reads two. */
const comparisonsIn = (rows: number) => 2 * Math.ceil(Math.log2(rows + 1));

/** How many rows at most are equal for the comparator. */
function mostPeers(rows: unknown[], compare: Comparator): number {
  const sorted = rows.toSorted(compare);
  let most = 0;
  let first = 0;
  for (const [i, row] of sorted.entries()) {
    if (compare(sorted[first], row) !== 0) first = i;
    most = Math.max(most, i - first + 1);
  }
  return most;
}

/**
 * The operations that read all rows of a frame for each row. The least and the largest value do so only if the frame
 * moves at its beginning.
 */
const OF_FRAMES = ['values', 'distinct', 'median', 'q1', 'q3', 'ci0', 'ci1'];
const OF_MOVING_FRAMES = ['min', 'max', 'argmin', 'argmax', ...OF_FRAMES];
/** Intervals of confidence draw samples of all rows so often. */
const SAMPLES = 100;
const samplesIn = (ops: string[]) => (ops.some((op) => op === 'ci0' || op === 'ci1') ? SAMPLES : 1);

/** Each value of a frame is read, and some are sorted. */
const FRAME_WORK = 8;

function requireWindow(params: Params, pulse: Pulse, budget: Budget) {
  requireGroups(params, pulse);
  const ops = [params.ops ?? []].flat() as string[];
  const [before = null, after = 0] = (params.frame ?? []) as (number | null)[];
  const isMoving = before !== null;
  const costly = ops.filter((op) => (isMoving ? OF_MOVING_FRAMES : OF_FRAMES).includes(op));
  if (!costly.length) return;
  const frame = before === null || after === null ? Infinity : Math.max(1, after - before + 1);
  const compare = params.sort as Comparator | undefined;
  for (const rows of groupsOf(params.groupby, pulse)) {
    // Both ends of a frame move to the last row that is equal to theirs.
    const peers = compare && !params.ignorePeers ? 2 * (mostPeers(rows, compare) - 1) : 0;
    const work = costly.length * FRAME_WORK * samplesIn(ops);
    budget.spend(rows.length * Math.min(rows.length, frame + peers) * work, 'values');
  }
}

/** A group is made with a place for each of its values. */
const GROUP_WORK = 1300;

function requirePivot({ field, limit, groupby }: Params, pulse: Pulse, budget: Budget) {
  requireGroups({ key: field }, pulse);
  const all = sizesOf([field], pulse).length;
  const columns = Number(limit) > 0 ? Math.min(all, Number(limit)) : all;
  budget.spend(rowsIn(pulse) * columns, 'columns');
  budget.spend(sizesOf(groupby, pulse).length * columns * GROUP_WORK, 'columns');
}

function requireAggregate({ ops, cross, groupby }: Params, pulse: Pulse, budget: Budget) {
  const names = [ops ?? []].flat() as string[];
  budget.spend(rowsIn(pulse) * names.length * samplesIn(names), 'values');
  if (!cross) return;
  const fields = (groupby ?? []) as Field[];
  const groups = fields.reduce((product, field) => product * sizesOf([field], pulse).length, 1);
  budget.spend(groups * GROUP_WORK, 'groups');
}

/** What is checked before transforms run. */
const TRANSFORMS: Record<string, Check<[Params, Pulse, Budget]>> = {
  aggregate: requireAggregate,
  pivot: requirePivot,
  cross: (_params, pulse) => atMost(rowsIn(pulse) ** 2, ROWS_MAX, 'rows'),
  sequence: ({ start, stop, step }) => atMost(stepsIn(start, stop, step), ROWS_MAX, 'rows'),
  bin({ base, maxbins, extent, span }) {
    atMost(Number(maxbins ?? 0), LENGTH_MAX, 'bins');
    const [from = 0, to = 0] = (extent ?? []) as number[];
    const width = Math.abs(Number(span ?? to - from));
    // A part of so narrow a range is no number that a double can hold.
    if (width > 0 && width < 1e-290) throw new ChartRefusedError('The range of bins is too narrow.');
    // With a base of 1 or less, Vega looks for the width of bins forever.
    if (base !== undefined && !(Number(base) > 1))
      throw new ChartRefusedError('The base of bins must be more than 1.');
  },
  kde(params, pulse, budget) {
    requireGroups(params, pulse);
    requireSteps(params);
    const steps = Math.max(
      ...[params.steps, params.minsteps, params.maxsteps ?? CURVE_STEPS].map((most) => Number(most ?? 0)),
    );
    requireRows(params, pulse, steps);
    // Each step of a curve reads all rows of its group.
    budget.spend(rowsIn(pulse) * steps, 'steps');
  },
  quantile(params, pulse) {
    requireGroups(params, pulse);
    const count = lengthOf(params.probs) || 1 / Number(params.step ?? QUANTILE_STEP);
    atMost(count, LENGTH_MAX, 'quantiles');
    requireRows(params, pulse, count);
  },
  dotbin: requireGroups,
  fold: ({ fields }, pulse, budget) => spendOnRows(rowsIn(pulse) * lengthOf(fields), pulse, budget),
  flatten: requireFlat,
  impute: requireImputed,
  joinaggregate(params, pulse, budget) {
    requireGroups(params, pulse);
    requireAggregate(params, pulse, budget);
  },
  window: requireWindow,
  regression(params, pulse, budget) {
    requireGroups(params, pulse);
    const { order = 0, method } = params;
    if (typeof order !== 'number') throw new ChartRefusedError('The order of a regression must be a number.');
    atMost(order, ORDER_MAX, 'powers');
    const powers = method === 'poly' ? order || DEFAULT_ORDER : 0;
    budget.spend(sizesOf(params.groupby, pulse).length * (powers + 1) ** 2 * CURVE_WORK, 'groups');
  },
  /** Each point of the curve reads a part of all rows. */
  loess(params, pulse, budget) {
    requireGroups(params, pulse);
    atMost(rowsIn(pulse), LENGTH_MAX, 'rows');
    // Vega takes this part of all rows, and looks for it beyond the last one.
    if (!(Number(params.bandwidth ?? 0) <= 1))
      throw new ChartRefusedError('The bandwidth must be 1 or less.');
    for (const size of sizesOf(params.groupby, pulse)) budget.spend(size ** 2 / 4, 'rows');
  },
  timeunit({ step, field }, pulse, budget) {
    requireStep(step);
    for (const row of pulse.source ?? pulse.add ?? []) requireTime((field as Field)(row));
    budget.spend(rowsIn(pulse) * Math.abs(Number(step ?? 1)) * STEP_OF_TIME_WORK, 'steps');
  },
  viewlayout({ layout }) {
    const columns = Number(Object(layout).columns ?? 0);
    // Of less than one column, Vega makes a row for each part of it.
    atMost(columns > 0 && columns < 1 ? Infinity : columns, LENGTH_MAX, 'columns');
  },
  scale({ base, bins, domain, nice, schemeCount, type }) {
    requireStep(Object(nice).step);
    if (nice && (type === 'time' || type === 'utc'))
      for (const end of (domain ?? []) as unknown[]) requireTime(end);
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

const budgets = new WeakMap<object, Budget>();
/** A transform does with each row about as much as so many steps of an expression. */
const ROW_WORK = 32;

/** How many fields of each row lists of them name. */
const fieldsIn = (params: Params) =>
  Object.values(params).reduce<number>(
    (sum, param) => sum + (Array.isArray(param) && typeof param[0] === 'function' ? param.length : 0),
    0,
  );

const isField = (param: unknown): param is Field =>
  typeof param === 'function' && (param as { fname?: unknown }).fname !== undefined;

/**
 * A key of a group is made of the values as texts, and rows that are sorted are compared several times each, which takes as long
 * as their lists and texts are.
 */
function spendOnKeys({ sort, ...params }: Params, { source, add = [] }: Pulse, budget: Budget) {
  const rows = source ?? add;
  const spendOnEach = (field: Field, times: number) => {
    const spend: Budget['spend'] = (work, what) => budget.spend(work * times, what);
    budget.spend(rows.length * times, 'values');
    for (const row of rows) spendOn(field(row), { ...budget, spend }, true);
  };
  for (const field of Object.values(params).flat()) if (isField(field)) spendOnEach(field, 1);
  for (const name of (sort as Comparator | undefined)?.fields ?? []) {
    const nested = accessorOf(name) as Field;
    const field: Field = (row) => (Object.hasOwn(row as object, name) ? (row as Params)[name] : nested(row));
    spendOnEach(field, comparisonsIn(rows.length));
  }
}

/** Puts the checks before the transforms of Vega. To be called once. */
export function boundTransforms() {
  const known = { ...data, ...view, ...encode, ...regression } as Record<string, { prototype: Transform }>;
  for (const [name, { prototype }] of Object.entries(known)) {
    const check = TRANSFORMS[name];
    const own = prototype.transform;
    // A transform that inherits `transform` is bounded by what it inherits from.
    if (!own || (!check && !Object.hasOwn(prototype, 'transform'))) continue;
    prototype.transform = function (params, pulse) {
      const budget = budgets.get(pulse.dataflow)!;
      budget.spend(rowsIn(pulse) * ROW_WORK * Math.max(1, fieldsIn(params)), 'rows');
      for (const param of Object.values(params)) requireList(param);
      spendOnKeys(params, pulse, budget);
      check?.(params, pulse, budget);
      return own.call(this, params, pulse);
    };
  }
}

/** Each part of a chart, such as an axis or a line, has some. */
const OPERATOR_WORK = 1300;
/** The cost of each run, so that drawings which begin each other come to an end. */
const RUN_WORK = 200_000;

/** Groups, small charts and lines are made while a chart runs, of as many parts as the spec has for one. */
export function boundView(view: object, budget: Budget) {
  const flow = view as Record<'add' | 'evaluate', (...given: unknown[]) => unknown>;
  const { add, evaluate } = flow;
  budgets.set(view, budget);
  flow.add = (...given) => {
    budget.spend(OPERATOR_WORK, 'groups');
    return add.apply(view, given);
  };
  flow.evaluate = (...given) => {
    budget.renew();
    budget.spend(RUN_WORK, 'steps');
    const end = budget.begin();
    const drawn = evaluate.apply(view, given) as Promise<unknown>;
    drawn.then(end, end);
    return drawn;
  };
}
