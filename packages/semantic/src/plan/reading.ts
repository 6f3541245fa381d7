/** Reads values of JSON, and notes what is wrong with them and where. */
import { didYouMean } from '../problems.ts';
import type { QueryIssue } from './errors.ts';
import type { NamedMember } from './named-member.ts';
import { QUERY_LIMITS } from './query.ts';

export const MEMBER = /^[A-Za-z_][A-Za-z0-9_]{0,127}\.[A-Za-z_][A-Za-z0-9_]{0,127}$/;
export const ISSUES_MAX = 20;

export interface ReadContext {
  readonly issues: QueryIssue[];
  filters: number;
  values: number;
}

export function list<T>(
  json: unknown,
  path: string,
  reading: ReadContext,
  item: (json: unknown, path: string, reading: ReadContext) => T,
): T[] {
  if (!isGiven(json)) return [];
  if (!Array.isArray(json)) {
    refuse(reading, path, 'This must be a list.');
    return [];
  }
  if (json.length > QUERY_LIMITS.values) {
    refuse(reading, path, `This list has more than ${QUERY_LIMITS.values} items.`);
    return [];
  }
  return json.map((value, i) => item(value, `${path}[${i}]`, reading));
}

export function namedMember(json: unknown, path: string, reading: ReadContext): NamedMember {
  if (typeof json !== 'string' || !MEMBER.test(json)) {
    refuse(reading, path, 'This must be the name of a member, such as `orders.count`.');
    return { name: '', path };
  }
  return { name: json, path };
}

export function text(json: unknown, path: string, reading: ReadContext): NamedMember {
  if (typeof json === 'string') return { name: bounded(json, path, reading), path };
  refuse(reading, path, 'This must be a text.');
  return { name: '', path };
}

export function bounded(text: string, path: string, reading: ReadContext): string {
  if (text.length > QUERY_LIMITS.text)
    refuse(reading, path, `This has more than ${QUERY_LIMITS.text} characters.`);
  // No database takes it in a text.
  if (text.includes('\0')) refuse(reading, path, 'This contains a zero byte.');
  return text;
}

export function wholeNumber(json: unknown, path: string, reading: ReadContext): number | undefined {
  if (!isGiven(json)) return undefined;
  if (typeof json === 'number' && Number.isSafeInteger(json) && json >= 0) return json;
  refuse(reading, path, 'This must be a whole number, 0 or more.');
  return undefined;
}

export function truth(json: unknown, path: string, reading: ReadContext): boolean {
  if (isGiven(json) && typeof json !== 'boolean') {
    refuse(reading, path, 'This must be `true` or `false`.');
  }
  return json === true;
}

export function refuseUnknown(
  json: Record<string, unknown>,
  keys: readonly string[],
  path: string,
  reading: ReadContext,
) {
  for (const key of Object.keys(json)) {
    if (keys.includes(key)) continue;
    const at = path ? `${path}.${key.slice(0, 100)}` : key.slice(0, 100);
    refuse(
      reading,
      at,
      ['There is no such key.', didYouMean(key.slice(0, 100), keys)].filter(Boolean).join(' '),
    );
  }
}

export const isGiven = (json: unknown) => json !== undefined && json !== null;
export const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

export function refuse({ issues }: ReadContext, path: string, message: string) {
  if (issues.length < ISSUES_MAX) issues.push({ path, message });
}
