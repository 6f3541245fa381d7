/** Writes files of a model from values that come from elsewhere, so that no text in them means more than itself. */
import { Document, isScalar, Scalar, visit } from 'yaml';

/** A line with `{{` would be refused as a template, wherever it stands. */
const TEMPLATE = /\{[{%]/;

export function yamlText(value: object): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (isScalar(node) && typeof node.value === 'string' && TEMPLATE.test(node.value))
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // All of them stand in double quotes now, where an escape means the same.
  return document.toString({ lineWidth: 0 }).replace(/\{(?=[{%])/g, '\\x7b');
}

const META_CHARACTERS_MAX = 16 * 1024;
const META_DEPTH_MAX = 12;

/** Free data of dbt as `meta`: undefined if there is none, null if it is too large or too deep. */
export function metaOf(given: Readonly<Record<string, unknown>>): object | null | undefined {
  const clean = cleaned(given, 0);
  if (clean === TOO_DEEP) return null;
  if (Object.keys(clean as object).length === 0) return undefined;
  return JSON.stringify(clean).length > META_CHARACTERS_MAX ? null : (clean as object);
}

const TOO_DEEP = Symbol('too deep');

function cleaned(value: unknown, depth: number): unknown {
  if (depth > META_DEPTH_MAX) return TOO_DEEP;
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  const isList = Array.isArray(value);
  const items: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    // In YAML this key takes over the keys of another object.
    if (key === '<<') continue;
    const clean = cleaned(item, depth + 1);
    if (clean === TOO_DEEP) return TOO_DEEP;
    items.push([key.toWellFormed(), clean]);
  }
  return isList ? items.map(([, item]) => item) : Object.fromEntries(items);
}

const TITLE_MAX = 500;
const DESCRIPTION_MAX = 10_000;

const cut = (text: string | undefined, max: number) => {
  const trimmed = text?.trim();
  if (!trimmed) return undefined;
  return trimmed.length > max ? `${trimmed.slice(0, max - 1).toWellFormed()}…` : trimmed;
};

export const titleOf = (text: string | undefined) => cut(text, TITLE_MAX);
export const descriptionOf = (text: string | undefined) => cut(text, DESCRIPTION_MAX);

/** Leaves out keys without a value, so that files have only what somebody wrote. */
export const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
