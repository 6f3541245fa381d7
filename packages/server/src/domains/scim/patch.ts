/** PATCH of RFC 7644 (3.5.2), as the RFC describes it and as Okta and Entra ID send it. */
import { type ScimPatchOperation, scimLimits } from '@oriel/contract';
import { ApiError, invalid } from '../../platform/errors.ts';
import { byLowerName } from '../../platform/http/names-in-any-case.ts';
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
export interface PatchSchema {
  urn: string;
  plain: readonly string[];
  /** Attributes with parts, each with the names of these. */
  complex: Parts;
  /** Lists, each with the names of the parts of an element. */
  lists: Parts;
}

type Parts = Readonly<Record<string, readonly string[]>>;

const READ_ONLY = ['id', 'meta', 'schemas', 'groups'];
/** The other attributes of RFC 7643 (4.1, 4.2), in lower case. `members` is read elsewhere, and the rest ignored. */
const OTHERS =
  'members nickname profileurl usertype preferredlanguage locale timezone password phonenumbers ims photos addresses entitlements roles x509certificates'.split(
    ' ',
  );
const OPS = ['add', 'replace', 'remove'];
/** The longest text of a part. */
const PART_MAX = 1000;
/** How many elements the filters of a request may be compared with. Clients send a few filters for a few emails. */
const COMPARED_MAX = 20_000;

/**
 * Takes operations apart, so that each step has a path. It leaves out attributes of other schemas and parts that we do
 * not keep: what is left is small, however often the steps copy and compare it.
 */
export function stepsOf(operations: readonly ScimPatchOperation[], patchable: PatchSchema): Step[] {
  const steps = allSteps(operations, patchable).flatMap((step) => withKnownParts(step, patchable));
  if (steps.length > scimLimits.operations) {
    throw invalid('Operations', `must change at most ${scimLimits.operations} attributes`);
  }
  return steps;
}

function allSteps(operations: readonly ScimPatchOperation[], patchable: PatchSchema): Step[] {
  const urn = patchable.urn.toLowerCase();
  return operations.flatMap((operation, i) => {
    const at = `Operations[${i}]`;
    const op = operation.op.toLowerCase() as Step['op'];
    if (!OPS.includes(op)) throw invalid(`${at}.op`, 'must be add, replace or remove');
    const steps = operation.path
      ? [stepAt(op, operation.path, operation.value, at, patchable)]
      : stepsWithoutPath(op, operation.value, at);
    return steps.filter((step) => step.urn === null || step.urn === urn);
  });
}

function stepAt(op: Step['op'], path: string, value: unknown, at: string, patchable: PatchSchema) {
  const target = parseTarget(path);
  if (READ_ONLY.includes(target.name) && target.urn === null) {
    throw new ApiError('scim_read_only', { message: `${at}.path: \`${target.name}\` cannot be changed.` });
  }
  const isOurs = target.urn === null || target.urn === patchable.urn.toLowerCase();
  if (isOurs && !isAttribute(target.name, patchable)) {
    throw new ApiError('scim_invalid_path', {
      message: `${at}.path: there is no attribute \`${target.name}\`.`,
    });
  }
  if (op !== 'remove' && value === undefined) throw invalid(`${at}.value`, 'is required');
  return { ...target, op, value: lowerKeys(value), at };
}

/** Okta repeats the id of a group in the value, so attributes that cannot be changed are no error here. */
function stepsWithoutPath(op: Step['op'], value: unknown, at: string) {
  if (op === 'remove') throw new ApiError('scim_no_target', { message: `${at}: remove needs a path.` });
  if (!isObject(value)) throw invalid(`${at}.value`, 'must be an object, because the operation has no path');
  return byLowerName(value)
    .map(([, path, part]) => ({ ...parseTarget(path), op, value: lowerKeys(part), at }))
    .filter(({ name }) => !READ_ONLY.includes(name));
}

const isAttribute = (name: string, { plain, complex, lists }: PatchSchema) =>
  [...plain, ...OTHERS, ...READ_ONLY].includes(name) ||
  Object.hasOwn(complex, name) ||
  Object.hasOwn(lists, name);

const partsOf = (name: string, { complex, lists }: PatchSchema) =>
  [complex, lists].find((attributes) => Object.hasOwn(attributes, name))?.[name];

/** Returns no step if it is about a part that we do not keep. */
function withKnownParts(step: Step, patchable: PatchSchema): Step[] {
  const { name, sub, value, at } = step;
  const parts = partsOf(name, patchable);
  if (!parts) return [step];
  if (sub !== null) {
    requirePart(value, at);
    return parts.includes(sub) ? [step] : [];
  }
  const known = (each: unknown) => (isObject(each) ? knownParts(each, parts, at) : each);
  return [{ ...step, value: Array.isArray(value) ? value.map(known) : known(value) }];
}

function knownParts(value: Doc, parts: readonly string[], at: string): Doc {
  const known = Object.entries(value).filter(([name]) => parts.includes(name));
  for (const [, part] of known) requirePart(part, at);
  return Object.fromEntries(known);
}

function requirePart(part: unknown, at: string) {
  if (typeof part === 'object' && part !== null)
    throw invalid(`${at}.value`, 'must not hold a part with parts');
  if (typeof part === 'string' && part.length > PART_MAX) {
    throw invalid(`${at}.value`, `must not hold a text with more than ${PART_MAX} characters`);
  }
}

export function patched(doc: Doc, steps: readonly Step[], patchable: PatchSchema): Doc {
  const { plain, complex, lists } = patchable;
  const result = { ...doc };
  let compared = 0;
  for (const step of steps) {
    const { name } = step;
    if (Object.hasOwn(lists, name)) {
      const list = listOf(result[name]);
      compared += list.length * comparisonsIn(step.filter);
      if (compared > COMPARED_MAX) {
        throw invalid('Operations', 'compare too many elements: send fewer in a request');
      }
      result[name] = patchedList(list, step, lists[name]!);
    } else if (Object.hasOwn(complex, name)) result[name] = patchedObject(result[name], withoutFilter(step));
    else if (plain.includes(name)) result[name] = patchedValue(withoutFilter(step));
  }
  return result;
}

function comparisonsIn(filter: Filter | null): number {
  if (filter === null) return 0;
  if ('filters' in filter) return filter.filters.reduce((sum, each) => sum + comparisonsIn(each), 0);
  return 'filter' in filter ? comparisonsIn(filter.filter) : 1;
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

function patchedList(list: readonly Doc[], step: Step, parts: readonly string[]): readonly Doc[] {
  const { op, sub, filter, value } = step;
  if (filter === null && sub === null) {
    if (op === 'replace') return elementsOf(step);
    if (op === 'add') return added(list, elementsOf(step), step);
    return value == null ? [] : without(list, elementsOf(step));
  }
  const isTarget = (element: Doc) => filter === null || matches(filter, element);
  if (op === 'remove' && sub === null) return list.filter((element) => !isTarget(element));
  if (!list.some(isTarget)) {
    if (op === 'replace' && filter !== null) throw noMatch(step);
    return op === 'remove' ? list : added(list, [newElement(step, parts)], step);
  }
  return list.map((element) => (isTarget(element) ? patchedObject(element, step) : element));
}

const noMatch = ({ at }: Step) =>
  new ApiError('scim_no_target', { message: `${at}.path: no element matches the filter.` });

/** Entra ID adds parts to elements that do not exist yet: the filter tells what they look like. */
function newElement(step: Step, parts: readonly string[]): Doc {
  const known = step.filter === null ? {} : equalities(step.filter);
  if (!known) throw noMatch(step);
  return patchedObject(knownParts(known, parts, step.at), step);
}

/** The attributes that an element needs to match the filter, if the filter says them all. */
function equalities(filter: Filter): Doc | undefined {
  if (filter.op === 'eq') return { [filter.path.name]: filter.value };
  if (filter.op !== 'and') return undefined;
  const parts = filter.filters.map(equalities);
  return parts.includes(undefined) ? undefined : Object.assign({}, ...parts);
}

/** Only one element of a list is the primary one. An element with the same value as a new one is replaced. */
function added(list: readonly Doc[], elements: readonly Doc[], { name, at }: Step): readonly Doc[] {
  const kept = without(list, elements);
  if (kept.length + elements.length > scimLimits.elements) throw tooMany(at, name);
  const hasPrimary = elements.some(({ primary }) => isTrue(primary));
  return [...(hasPrimary ? kept.map((element) => ({ ...element, primary: false })) : kept), ...elements];
}

const without = (list: readonly Doc[], elements: readonly Doc[]) => {
  const values = new Set(elements.map(({ value }) => value));
  return list.filter(({ value }) => !values.has(value));
};

const tooMany = (at: string, name: string) =>
  invalid(`${at}.value`, `\`${name}\` must have at most ${scimLimits.elements} items`);

function elementsOf({ name, value, at }: Step): readonly Doc[] {
  const elements = value === null ? [] : [value].flat();
  if (elements.length > scimLimits.elements) throw tooMany(at, name);
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
  return Object.fromEntries(byLowerName(value).map(([lower, , part]) => [lower, lowerKeys(part)]));
}
