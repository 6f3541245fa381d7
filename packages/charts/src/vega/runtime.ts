/// <reference path="./modules.d.ts" />
/** The parts of Vega that dashboards use. Expressions are interpreted, because no text may become code here. */
import { transforms } from 'vega-dataflow';
import * as encode from 'vega-encode';
import { parse } from 'vega-parser';
import * as regression from 'vega-regression';
import * as data from 'vega-transforms';
import { View } from 'vega-view';
import * as view from 'vega-view-transforms';
import type { VegaLocale } from './axis-formats.ts';
import { boundTransforms, boundView } from './bounds.ts';
import { createDrawingBudget } from './budget.ts';
import { ChartRefusedError } from './chart-refused.ts';
import { closedInterpreter } from './expressions.ts';

Object.assign(transforms, data, view, encode, regression);
boundTransforms();

/** Nothing is loaded from anywhere: no data, no pictures, no links. */
const noLoader = {
  load: () => Promise.reject(new Error('Charts load nothing.')),
  sanitize: () => Promise.reject(new Error('Charts load nothing.')),
  options: {},
};

const quietly = { level: () => 0, error() {}, warn() {}, info() {}, debug() {} };

/**
 * Vega keeps what it does not know in a spec. When it runs, keys with `$` are its own: code that was parsed, or parts of what
 * runs. Nothing but Vega may write them. The rows are not read so.
 */
function requireNoCode({ data, ...rest }: { data?: { name: string }[] }) {
  const sources = data?.map((source) => (source.name === 'rows' ? { ...source, values: [] } : source));
  JSON.stringify([rest, sources], (key, value) => {
    if (key.startsWith('$')) throw new ChartRefusedError(`The chart cannot use \`${key}\`.`);
    return value;
  });
}

/** A chart hears what happens in itself, and where a pointer goes that was pressed in it. It adds no form fields. */
const OWN_EVENTS = {
  bind: 'none',
  window: ['pointermove', 'pointerup'],
  selector: false,
  container: false,
  timer: false,
};

/**
 * The spec cannot be trusted: it decides what is drawn inside of the element, and nothing else. Throws `ChartRefusedError`, or tells
 * `refuse` while the chart runs, if it asks for too much or for what it may not have: then nothing is drawn.
 */
export function createView(
  spec: object,
  config: object,
  locale: object,
  labels: (own: VegaLocale) => Partial<VegaLocale>,
  refuse: (problem: ChartRefusedError) => void,
  renderer: 'svg' | 'none',
): View {
  requireNoCode(spec);
  const runtime = { ...parse(spec, config, { ast: true }), eventConfig: OWN_EVENTS, bindings: [] };
  const budget = createDrawingBudget();
  const view = new View(runtime, {
    renderer,
    expr: closedInterpreter(budget),
    loader: noLoader,
    logger: { ...quietly, error: (found: unknown) => found instanceof ChartRefusedError && refuse(found) },
    locale,
    hover: true,
  });
  boundView(view, budget);
  view.locale({ ...view.locale(), ...labels(view.locale()) });
  // Vega looks for the element to change its pointer, which can be a picture from elsewhere.
  view.container = () => null;
  return view;
}
