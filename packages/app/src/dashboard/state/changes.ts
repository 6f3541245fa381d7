/** What differs between two drafts, field by field. */
import type { Doc } from './doc.ts';

/** `title`, `settings/timezone`, `widgets/a` (added or removed), `widgets/a/position`, `widgets/a/config/title`. */
export type Path = readonly string[];

export interface Change {
  path: Path;
  before: unknown;
  after: unknown;
}

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** By their content. Absent, undefined and null are the same: the server stores them alike. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b || (a ?? null) === (b ?? null)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isSame(item, b[i]));
  if (!isFields(a) || !isFields(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => isSame(a[key], b[key]));
}

/** Fields whose own fields are compared one by one. */
const DEEP = [
  /^$/,
  /^(settings|theme|layout|widgets)$/,
  /^theme\/(widgets|controls|dashboard)(\/border)?$/,
  /^widgets\/[^/]+$/,
  /^widgets\/[^/]+\/(config|style)$/,
];

export function changesBetween(before: Doc, after: Doc): Change[] {
  const found: Change[] = [];
  const compare = (a: unknown, b: unknown, path: string[]) => {
    if (isSame(a, b)) return;
    if (!DEEP.some((deep) => deep.test(path.join('/'))) || !isFields(a) || !isFields(b))
      return void found.push({ path, before: a, after: b });
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(a[key], b[key], [...path, key]);
  };
  // The order of the list has no meaning of its own: it follows what is added and removed.
  compare({ ...before, order: [] }, { ...after, order: [] }, []);
  return found;
}

export const startsWith = (path: Path, start: Path) =>
  start.length <= path.length && start.every((part, i) => path[i] === part);

/** The draft with a change made. A change inside of a widget that is gone changes nothing. */
export function withChange(doc: Doc, { path, after }: Pick<Change, 'path' | 'after'>): Doc {
  if (path[0] === 'widgets' && path.length === 2)
    return withWidget(doc, path[1]!, after as Doc['widgets'][string]);
  if (path[0] === 'widgets' && !doc.widgets[path[1]!]) return doc;
  return withField(doc as unknown as Fields, path, after) as unknown as Doc;
}

function withWidget(doc: Doc, id: string, widget: Doc['widgets'][string] | undefined): Doc {
  const { [id]: _before, ...others } = doc.widgets;
  if (widget === undefined)
    return { ...doc, widgets: others, order: doc.order.filter((other) => other !== id) };
  return {
    ...doc,
    widgets: { ...doc.widgets, [id]: widget },
    order: doc.order.includes(id) ? doc.order : [...doc.order, id],
  };
}

function withField(fields: Fields, [first, ...rest]: Path, value: unknown): Fields {
  if (first === undefined) return fields;
  if (rest.length === 0) {
    const { [first]: _before, ...others } = fields;
    return value === undefined ? others : { ...fields, [first]: value };
  }
  const inner = fields[first];
  return { ...fields, [first]: withField(isFields(inner) ? inner : {}, rest, value) };
}

/** The same as `withChange`, in a draft of immer. */
export function setIn(doc: Doc, path: Path, value: unknown) {
  const [first, id] = path;
  if (first === 'widgets' && path.length === 2) {
    doc.order = doc.order.filter((other) => other !== id);
    if (value === undefined) delete doc.widgets[id!];
    else {
      doc.widgets[id!] = value as Doc['widgets'][string];
      doc.order.push(id!);
    }
    return;
  }
  if (first === 'widgets' && !doc.widgets[id!]) return;
  let at = doc as unknown as Fields;
  for (const part of path.slice(0, -1)) {
    if (!isFields(at[part])) at[part] = {};
    at = at[part] as Fields;
  }
  if (value === undefined) delete at[path.at(-1)!];
  else at[path.at(-1)!] = value;
}
