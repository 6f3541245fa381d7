/** What the specs of charts must satisfy: nothing is loaded from or sent elsewhere, and nothing sees the page around. */

/** Something wrong in a spec, with its place there. */
export class SpecError extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

export const SPEC_MAX_BYTES = 200 * 1024;
export const VEGA_MAX_BYTES = 500 * 1024;
const DEPTH_MAX = 40;

const REFUSED_KEYS: Record<string, string> = {
  url: 'cannot be used: a chart loads nothing',
  href: 'cannot be used: a chart has no links',
  loader: 'cannot be used: a chart loads nothing',
  config: 'cannot be used: colours and fonts come from the theme of the page',
  usermeta: 'cannot be used',
  datasets: 'cannot be used: the data are the rows of the report',
  cursor: 'cannot be used: the pointer belongs to the page',
  on: 'cannot be used: a chart hears only events of its selections',
  selection: 'cannot be used: write `params` with `select`',
};
const MARKS = [
  ...['arc', 'area', 'bar', 'boxplot', 'circle', 'errorband', 'errorbar', 'line'],
  ...['point', 'rect', 'rule', 'square', 'text', 'tick', 'trail'],
];

/** What styles load pictures with. */
const PICTURE = /(?:url|image-set)\(/i;

type Value = unknown;
type Visit = (key: string, value: Value, path: string) => void;

/** Calls the function for each value in the spec. The items of a list have the key of the list. */
export function walk(value: Value, visit: Visit, path = '', depth = 0, listKey = '') {
  if (depth > DEPTH_MAX) throw new SpecError(path, 'is nested too deeply');
  if (typeof value !== 'object' || value === null) return;
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    const at = isList ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    const name = isList ? listKey : key;
    visit(name, inner, at);
    walk(inner, visit, at, depth + 1, name);
  }
}

/** What all objects share. It leads to functions that make code of texts. */
export const OBJECT_NAMES = ['__proto__', 'constructor', 'prototype'];

/** Refuses what Vega-Lite and Vega have in common. A style of the pointer can load a picture, with data in its address. */
function refuseLeaks(key: string, value: Value, path: string) {
  if (typeof value === 'string' && PICTURE.test(value))
    throw new SpecError(path, 'cannot have `url(`: a chart loads nothing');
  if (key.startsWith('$') && path !== '$schema')
    throw new SpecError(path, 'cannot be used: it is read as code of Vega');
  if (OBJECT_NAMES.includes(key)) throw new SpecError(path, 'cannot be used: all objects share it');
  if ((key === 'mark' || key === 'type') && value === 'image')
    throw new SpecError(path, 'cannot be `image`: a chart loads nothing');
  if (key === 'name' && value === 'cursor')
    throw new SpecError(path, 'cannot be `cursor`: the pointer belongs to the page');
}

const MARK_EVENTS = [
  ...['click', 'dblclick', 'pointerdown', 'pointerup', 'pointermove', 'pointerover', 'pointerout'],
  ...['mousedown', 'mouseup', 'mousemove', 'mouseover', 'mouseout'],
];
const isMarkEvent = (value: Value) => MARK_EVENTS.includes(value as string);
const isBoolean = (value: Value) => typeof value === 'boolean';
const isAny = () => true;

/** The fields of selections. The rest of what Vega-Lite knows can name events of the page, or has code. */
const SELECTION: Record<string, (value: Value) => boolean> = {
  type: isAny,
  fields: isAny,
  encodings: isAny,
  resolve: isAny,
  mark: isAny,
  nearest: isBoolean,
  toggle: isBoolean,
  translate: isBoolean,
  zoom: isBoolean,
  on: isMarkEvent,
  clear: (value) => isBoolean(value) || isMarkEvent(value),
};

function requireSelection(selection: Value, path: string) {
  if (typeof selection === 'string') return;
  if (typeof selection !== 'object' || selection === null || Array.isArray(selection))
    throw new SpecError(path, 'must be `"point"`, `"interval"` or an object');
  for (const [key, value] of Object.entries(selection)) {
    if (!Object.hasOwn(SELECTION, key)) throw new SpecError(`${path}.${key}`, 'cannot be used');
    if (!SELECTION[key]!(value))
      throw new SpecError(`${path}.${key}`, 'must be true or false, or the name of an event such as `click`');
  }
}

/** Regressions name a field so. What is compiled is checked for events again. */
const FIELD_OF_TRANSFORM = /(?:^|\.)transform\[\d+\]\.on$/;

const isRows = (data: Value) =>
  typeof data === 'object' && data !== null && Object.keys(data).join() === 'name' && 'name' in data
    ? data.name === 'rows'
    : false;

/** Checks a Vega-Lite specification before it is compiled. `expression-rules.ts` checks its expressions. */
export function requireVegaLite(spec: object) {
  if (Buffer.byteLength(JSON.stringify(spec)) > SPEC_MAX_BYTES)
    throw new SpecError('', 'is larger than 200 KB');
  walk(spec, (key, value, path) => {
    if (key === 'select') requireSelection(value, path);
    const isOfSelection = path.endsWith('.select.on');
    const isField = typeof value === 'string' && FIELD_OF_TRANSFORM.test(path);
    if (Object.hasOwn(REFUSED_KEYS, key) && !isOfSelection && !isField)
      throw new SpecError(path, REFUSED_KEYS[key]!);
    if (key === 'bind' && value !== 'scales' && value !== 'legend')
      throw new SpecError(path, 'must be `"scales"` or `"legend"`: a chart has no inputs');
    if (key === 'data' && value !== null && !isRows(value))
      throw new SpecError(path, 'must be absent or `{"name": "rows"}`: the data are the rows of the report');
    refuseLeaks(key, value, path);
    if (key === 'mark') requireMark(value, path);
  });
}

function requireMark(mark: Value, path: string) {
  if (typeof mark === 'object' && mark !== null && 'type' in mark) requireMark(mark.type, `${path}.type`);
  else if (typeof mark === 'string' && !MARKS.includes(mark))
    throw new SpecError(path, `is unknown: \`${mark.slice(0, 50)}\`. The marks are: ${MARKS.join(', ')}`);
}

/** What Vega-Lite makes of selections: the pointer over the chart, and also beside it from when a button is down. */
const VIEW_EVENTS = [...MARK_EVENTS, 'wheel'];
const WINDOW_EVENTS = ['pointermove', 'pointerup'];

interface VegaEvent {
  source?: Value;
  type?: Value;
  between?: Value;
  merge?: Value;
  signal?: Value;
  scale?: Value;
}

function requireEvents(events: Value, path: string) {
  for (const event of (Array.isArray(events) ? events : [events]) as (VegaEvent | string)[]) {
    if (typeof event === 'string' && isMarkEvent(event)) continue;
    const { source, type, between, merge, signal, scale } = event as VegaEvent;
    if (between !== undefined) requireEvents(between, path);
    if (merge !== undefined) requireEvents(merge, path);
    const isChange = source === undefined && type === undefined && (signal ?? scale ?? merge) !== undefined;
    const types =
      source === 'window' ? WINDOW_EVENTS : source === 'scope' || source === 'view' ? VIEW_EVENTS : [];
    if (!isChange && !types.includes(type as string))
      throw new SpecError(path, 'cannot be used: a chart hears only events of its selections');
  }
}

/** The pointers that Vega-Lite sets where something can be selected. */
const CURSORS = ['{"value":"pointer"}', '{"value":"move"}'];

/** Checks what Vega-Lite was compiled to. It is not larger than a page can bear, and loads nothing. */
export function requireVega(spec: object) {
  if (Buffer.byteLength(JSON.stringify(spec)) > VEGA_MAX_BYTES)
    throw new SpecError('', 'is larger than 500 KB when it is compiled');
  walk(spec, (key, value, path) => {
    const isRefused = ['url', 'href', 'loader', 'bind'].includes(key);
    if (isRefused || (key === 'cursor' && !CURSORS.includes(JSON.stringify(value))))
      throw new SpecError(path, 'cannot be used');
    if (key === 'projections')
      throw new SpecError(path, 'cannot be used: a report of the kind `map` draws maps');
    if (key === 'events') requireEvents(value, path);
    refuseLeaks(key, value, path);
  });
}

/** Checks the spec of any other kind. Pages make no addresses of the texts in it. */
export function requirePlainSpec(spec: object) {
  if (Buffer.byteLength(JSON.stringify(spec)) > SPEC_MAX_BYTES)
    throw new SpecError('', 'is larger than 200 KB');
  walk(spec, () => {});
}
