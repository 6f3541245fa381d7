/** What the specs of charts must satisfy: nothing is loaded from elsewhere, and nothing runs. */

/** Something wrong in a spec, with its place there. */
export class SpecProblem extends Error {
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
  url: 'can not be used: a chart loads nothing',
  href: 'can not be used: a chart has no links',
  loader: 'can not be used: a chart loads nothing',
  config: 'can not be used: colours and fonts come from the theme of the page',
  usermeta: 'can not be used',
  datasets: 'can not be used: the data are the rows of the report',
};
const SCRIPT = /^\s*(?:javascript|vbscript|data)\s*:/i;

type Value = unknown;

/** Calls the function for each value of the spec, the spec itself included. */
function walk(value: Value, visit: (key: string, value: Value, path: string) => void, path = '', depth = 0) {
  if (depth > DEPTH_MAX) throw new SpecProblem(path, 'is nested too deeply');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const at = Array.isArray(value) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    visit(Array.isArray(value) ? '' : key, inner, at);
    walk(inner, visit, at, depth + 1);
  }
}

function refuseScript(_key: string, value: Value, path: string) {
  if (typeof value === 'string' && SCRIPT.test(value))
    throw new SpecProblem(path, 'has an address that would run a script');
}

const isRows = (data: Value) =>
  typeof data === 'object' && data !== null && Object.keys(data).join() === 'name' && 'name' in data
    ? data.name === 'rows'
    : false;

/** Checks a Vega-Lite specification before it is compiled. */
export function requireVegaLite(spec: object) {
  if (Buffer.byteLength(JSON.stringify(spec)) > SPEC_MAX_BYTES)
    throw new SpecProblem('', 'is larger than 200 KB');
  walk(spec, (key, value, path) => {
    if (Object.hasOwn(REFUSED_KEYS, key)) throw new SpecProblem(path, REFUSED_KEYS[key]!);
    if (key === 'data' && value !== null && !isRows(value))
      throw new SpecProblem(
        path,
        'must be absent or `{"name": "rows"}`: the data are the rows of the report',
      );
    refuseScript(key, value, path);
  });
}

/** Checks what Vega-Lite was compiled to. It is not larger than a page can bear, and loads nothing. */
export function requireVega(spec: object) {
  if (Buffer.byteLength(JSON.stringify(spec)) > VEGA_MAX_BYTES)
    throw new SpecProblem('', 'is larger than 500 KB when it is compiled');
  walk(spec, (key, value, path) => {
    if (key === 'url' || key === 'href' || key === 'loader') throw new SpecProblem(path, 'can not be used');
    refuseScript(key, value, path);
  });
}

/** Checks the spec of any other kind. */
export function requirePlainSpec(spec: object) {
  if (Buffer.byteLength(JSON.stringify(spec)) > SPEC_MAX_BYTES)
    throw new SpecProblem('', 'is larger than 200 KB');
  walk(spec, refuseScript);
}
