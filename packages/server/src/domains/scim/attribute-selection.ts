/** `attributes` and `excludedAttributes`: which attributes a reply shows (RFC 7644, 3.9). */
import { attributePath } from './filter.ts';

/** Paths in lower case, such as `name.familyname`. */
export interface AttributeSelection {
  /** Undefined for all of them. */
  only: ReadonlySet<string> | undefined;
  except: ReadonlySet<string>;
}

interface AttributeQuery {
  attributes?: string | readonly string[];
  excludedAttributes?: string | readonly string[];
}

export function shownOf({ attributes, excludedAttributes }: AttributeQuery): AttributeSelection {
  const only = namesOf(attributes);
  return { only: only.size ? only : undefined, except: namesOf(excludedAttributes) };
}

function namesOf(given: string | readonly string[] = []): ReadonlySet<string> {
  const names = typeof given === 'string' ? given.split(',') : given;
  const paths = names.flatMap((name) => attributePath(name.trim()) ?? []);
  return new Set(paths.map(({ name, sub }) => (sub === null ? name : `${name}.${sub}`)));
}

const ALWAYS = ['schemas', 'id'];

/** Whether any part of the attribute is shown. */
export const shows = ({ only, except }: AttributeSelection, name: string) =>
  !except.has(name) && (!only || [...only].some((path) => path === name || path.startsWith(`${name}.`)));

export function show<R extends object>(resource: R, shown: AttributeSelection): R {
  const entries = Object.entries(resource)
    .filter(([name]) => ALWAYS.includes(name) || shows(shown, name.toLowerCase()))
    .map(([name, value]) => [name, showParts(value, name.toLowerCase(), shown)]);
  return Object.fromEntries(entries) as R;
}

/** The parts of an attribute, or of each element of a list. */
function showParts(value: unknown, name: string, { only, except }: AttributeSelection): unknown {
  if (typeof value !== 'object' || value === null || ALWAYS.includes(name)) return value;
  if (Array.isArray(value)) return value.map((element) => showParts(element, name, { only, except }));
  const isShown = (part: string) => {
    const path = `${name}.${part.toLowerCase()}`;
    return !except.has(path) && (!only || only.has(name) || only.has(path));
  };
  return Object.fromEntries(Object.entries(value).filter(([part]) => isShown(part)));
}
