/** PATCH of RFC 7644 (3.5.2), as the RFC describes it and as Okta and Entra ID send it. */
import type { ScimPatchOperation } from '@oriel/contract';
import { ApiError, invalid } from '../../platform/errors.ts';
import { matches } from './elements.ts';
import { type Filter, parseTarget, type TargetPath } from './filter.ts';

/** A resource, or a part of it, with names in lower case. */
export type Doc = Readonly<Record<string, unknown>>;

/** One change of one attribute. */
export interface Step extends Omit<TargetPath, 'urn'> {
  op: 'add' | 'replace' | 'remove';
  value: unknown;
  /** The place in the request, for messages. */
  at: string;
}

/** The attributes of a resource that PATCH can change. All others are accepted and ignored. */
export interface Patchable {
  urn: string;
  plain: readonly string[];
  complex: readonly string[];
  lists: readonly string[];
}

const READ_ONLY = ['id', 'meta', 'schemas', 'groups'];
const OPS = ['add', 'replace', 'remove'];

/** Takes operations apart, so that each step has a path, and leaves out attributes of other schemas. */
export function stepsOf(operations: readonly ScimPatchOperation[], urn: string): Step[] {
  return operations.flatMap((operation, i) => {
    const at = `Operations[${i}]`;
    const op = operation.op.toLowerCase() as Step['op'];
    if (!OPS.includes(op)) throw invalid(`${at}.op`, 'must be add, replace or remove');
    const steps = operation.path
      ? [stepAt(op, operation.path, operation.value, at)]
      : stepsWithoutPath(op, operation.value, at);
    return steps.filter((step) => step.urn === null || step.urn === urn.toLowerCase());
  });
}

function stepAt(op: Step['op'], path: string, value: unknown, at: string) {
  const target = parseTarget(path);
  if (READ_ONLY.includes(target.name) && target.urn === null) {
    throw new ApiError('scim_read_only', { message: `${at}.path: \`${target.name}\` can not be changed.` });
  }
  if (op !== 'remove' && value === undefined) throw invalid(`${at}.value`, 'is required');
  return { ...target, op, value: lowerKeys(value), at };
}

/** Okta repeats the id of a group in the value, so attributes that can not be changed are no error here. */
function stepsWithoutPath(op: Step['op'], value: unknown, at: string) {
  if (op === 'remove') throw new ApiError('scim_no_target', { message: `${at}: remove needs a path.` });
  if (!isObject(value)) throw invalid(`${at}.value`, 'must be an object, because the operation has no path');
  return Object.entries(value)
    .map(([path, part]) => ({ ...parseTarget(path), op, value: lowerKeys(part), at }))
    .filter(({ name }) => !READ_ONLY.includes(name));
}

export function patched(doc: Doc, steps: readonly Step[], { plain, complex, lists }: Patchable): Doc {
  const result = { ...doc };
  for (const step of steps) {
    const { name } = step;
    if (lists.includes(name)) result[name] = patchedList(listOf(result[name]), step);
    else if (complex.includes(name)) result[name] = patchedObject(result[name], withoutFilter(step));
    else if (plain.includes(name)) result[name] = patchedValue(withoutFilter(step));
  }
  return result;
}

function withoutFilter(step: Step): Step {
  if (step.filter) throw wrongPath(step, `\`${step.name}\` is not a list`);
  return step;
}

function patchedValue(step: Step): unknown {
  if (step.sub !== null) throw wrongPath(step, `\`${step.name}\` has no parts`);
  return step.op === 'remove' ? null : step.value;
}

const wrongPath = ({ at }: Step, message: string) =>
  new ApiError('scim_invalid_path', { message: `${at}.path: ${message}.` });

/** Parts that are not given stay as they are. */
function patchedObject(current: unknown, { op, sub, value, at }: Step): Doc {
  const parts = isObject(current) ? current : {};
  if (sub !== null) return { ...parts, [sub]: op === 'remove' ? null : value };
  if (op === 'remove' || value === null) return {};
  if (!isObject(value)) throw invalid(`${at}.value`, 'must be an object');
  return { ...parts, ...value };
}

function patchedList(list: readonly Doc[], step: Step): readonly Doc[] {
  const { op, sub, filter, value } = step;
  if (filter === null && sub === null) {
    if (op === 'replace') return elementsOf(step);
    if (op === 'add') return added(list, elementsOf(step));
    return value == null ? [] : without(list, elementsOf(step));
  }
  const isTarget = (element: Doc) => filter === null || matches(filter, element);
  if (op === 'remove' && sub === null) return list.filter((element) => !isTarget(element));
  if (!list.some(isTarget)) return op === 'remove' ? list : added(list, [newElement(step)]);
  return list.map((element) => (isTarget(element) ? patchedObject(element, step) : element));
}

/** Entra ID changes elements that do not exist yet: the filter tells what they look like. */
function newElement(step: Step): Doc {
  const known = step.filter === null ? {} : equalities(step.filter);
  if (!known) {
    throw new ApiError('scim_no_target', { message: `${step.at}.path: no element matches the filter.` });
  }
  return patchedObject(known, step);
}

/** The attributes that an element needs to match the filter, if the filter says them all. */
function equalities(filter: Filter): Doc | undefined {
  if (filter.op === 'eq') return { [filter.path.name]: filter.value };
  if (filter.op !== 'and') return undefined;
  const parts = filter.filters.map(equalities);
  return parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
}

/** Only one element of a list is the primary one. An element with the same value as a new one is replaced. */
function added(list: readonly Doc[], elements: readonly Doc[]): readonly Doc[] {
  const kept = without(list, elements);
  const hasPrimary = elements.some(({ primary }) => isTrue(primary));
  return [...(hasPrimary ? kept.map((element) => ({ ...element, primary: false })) : kept), ...elements];
}

const without = (list: readonly Doc[], elements: readonly Doc[]) => {
  const values = new Set(elements.map(({ value }) => value));
  return list.filter(({ value }) => !values.has(value));
};

function elementsOf({ value, at }: Step): readonly Doc[] {
  const elements = value === null ? [] : [value].flat();
  if (!elements.every(isObject)) throw invalid(`${at}.value`, 'must be a list of objects');
  return elements;
}

export const isTrue = (value: unknown) => String(value).toLowerCase() === 'true';

export const isObject = (value: unknown): value is Doc =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly Doc[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

/** The depth of a body is limited. */
export function lowerKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerKeys);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name.toLowerCase(), lowerKeys(part)]),
  );
}
