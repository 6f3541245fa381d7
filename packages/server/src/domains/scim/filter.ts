/**
 * Reads filters and paths of RFC 7644 (3.4.2.2 and 3.5.2). The known libraries have no limit on nesting, and read
 * escaped characters wrongly.
 */
import type { ErrorCode } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';

const TEXT_MAX = 10_000;
const DEPTH_MAX = 20;
const COMPARISONS_MAX = 200;

/** Names are in lower case, because SCIM ignores the case of attributes and schemas. */
export interface AttributePath {
  /** The schema, if the path names one. */
  urn: string | null;
  name: string;
  sub: string | null;
}

const COMPARISONS = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const;
export type Comparison = (typeof COMPARISONS)[number];
export type FilterValue = string | number | boolean | null;

export type Filter =
  | { op: 'and' | 'or'; filters: Filter[] }
  | { op: 'not'; filter: Filter }
  | { op: 'pr'; path: AttributePath }
  | { op: Comparison; path: AttributePath; value: FilterValue }
  /** One element of a list matches. The paths inside are relative to the element. */
  | { op: 'some'; path: AttributePath; filter: Filter };

/** Where a PATCH operation applies: an attribute, or the elements of a list that match. */
export interface TargetPath extends AttributePath {
  filter: Filter | null;
}

export function parseFilter(text: string): Filter {
  const parser = createParser(text, 'scim_invalid_filter');
  const filter = parser.filter();
  parser.end();
  return filter;
}

export function parseTarget(text: string): TargetPath {
  const parser = createParser(text, 'scim_invalid_path');
  const target = parser.target();
  parser.end();
  return target;
}

const PATH = /^(?:(urn:\S+):)?([a-z$][\w$-]*)(?:\.([a-z$][\w$-]*))?$/i;

/** Returns nothing if the text is not the path of an attribute. */
export function attributePath(text: string): AttributePath | undefined {
  const [, urn, name, sub] = PATH.exec(text) ?? [];
  if (name === undefined) return undefined;
  return {
    urn: urn?.toLowerCase() ?? null,
    name: name.toLowerCase(),
    sub: sub?.toLowerCase() ?? null,
  };
}

const TOKEN = /\s+|[()[\]]|"(?:[^"\\]|\\.)*"|[^\s()[\]"]+|"/gs;
const NUMBER = /^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i;

function createParser(text: string, code: ErrorCode) {
  const fail = (message: string) => new ApiError(code, { message: `${message}, in ${quoted(text)}.` });
  const tokens = [...tokensOf(text, fail)];
  let position = 0;
  let depth = 0;
  let comparisons = 0;

  const peek = () => tokens[position]?.toLowerCase();
  const next = (wanted: string) => {
    const token = tokens[position++];
    if (token === undefined) throw fail(`Expected ${wanted} at the end`);
    return token;
  };
  const expect = (token: string) => {
    const found = next(token);
    if (found !== token) throw fail(`Expected ${token} but found ${quoted(found)}`);
  };
  const nested = <T>(read: () => T): T => {
    if (++depth > DEPTH_MAX) throw fail(`More than ${DEPTH_MAX} levels of nesting`);
    const result = read();
    depth--;
    return result;
  };
  const chain = (op: 'and' | 'or', read: () => Filter): Filter => {
    const filters = [read()];
    while (peek() === op) {
      position++;
      filters.push(read());
    }
    return filters.length === 1 ? filters[0]! : { op, filters };
  };

  const filter = (): Filter => chain('or', () => chain('and', term));

  const grouped = (close: ')' | ']') =>
    nested(() => {
      position++;
      const inner = filter();
      expect(close);
      return inner;
    });

  const term = (): Filter => {
    if (peek() === '(') return grouped(')');
    if (peek() === 'not') {
      position++;
      if (peek() !== '(') throw fail('Expected ( after not');
      return { op: 'not', filter: grouped(')') };
    }
    const path = attribute();
    return peek() === '[' ? some(path) : condition(path);
  };

  const attribute = (): AttributePath => {
    const token = next('an attribute');
    const path = attributePath(token);
    if (!path) throw fail(`Expected an attribute but found ${quoted(token)}`);
    return path;
  };

  /** Also `emails[type eq "work"].value eq "…"`, which the RFC allows only in paths but clients send in filters. */
  const some = (path: AttributePath): Filter => {
    const inner = elementFilter();
    const sub = subAttribute();
    if (sub === null) return { op: 'some', path, filter: inner };
    const outer = condition({ urn: null, name: sub, sub: null });
    return { op: 'some', path, filter: { op: 'and', filters: [inner, outer] } };
  };

  const elementFilter = (): Filter => {
    const inner = grouped(']');
    if (holdsSome(inner)) throw fail('A filter in brackets cannot hold another one');
    return inner;
  };

  const subAttribute = (): string | null => {
    if (!peek()?.startsWith('.')) return null;
    const path = attributePath(next('an attribute').slice(1));
    if (!path || path.urn !== null || path.sub !== null) throw fail('Expected an attribute after ].');
    return path.name;
  };

  const condition = (path: AttributePath): Filter => {
    if (++comparisons > COMPARISONS_MAX) throw fail(`More than ${COMPARISONS_MAX} comparisons`);
    const token = next('an operator');
    const op = token.toLowerCase();
    if (op === 'pr') return { op, path };
    if (!isComparison(op)) throw fail(`Expected an operator but found ${quoted(token)}`);
    return { op, path, value: value() };
  };

  const value = (): FilterValue => {
    const token = next('a value');
    if (
      !token.startsWith('"') &&
      !NUMBER.test(token) &&
      !['true', 'false', 'null'].includes(token.toLowerCase())
    ) {
      throw fail(`Expected a text in quotes, a number, true, false or null but found ${quoted(token)}`);
    }
    try {
      const parsed = JSON.parse(token.startsWith('"') ? token : token.toLowerCase());
      if (typeof parsed !== 'string' || (!parsed.includes('\0') && parsed.isWellFormed())) return parsed;
    } catch {}
    throw fail(`${quoted(token)} is not a valid value`);
  };

  return {
    filter,
    target: (): TargetPath => {
      const path = attribute();
      if (peek() !== '[') return { ...path, filter: null };
      if (path.sub !== null) throw fail('Expected [ after the name of a list');
      const inner = elementFilter();
      return { ...path, filter: inner, sub: subAttribute() };
    },
    end: () => {
      if (position < tokens.length) throw fail(`Did not expect ${quoted(tokens[position]!)}`);
    },
  };
}

function* tokensOf(text: string, fail: (message: string) => ApiError) {
  if (text.length > TEXT_MAX) throw fail(`More than ${TEXT_MAX} characters`);
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '"') throw fail('A quote has no end');
    if (token.trim() !== '') yield token;
  }
}

const isComparison = (op: string): op is Comparison => COMPARISONS.includes(op as Comparison);

function holdsSome(filter: Filter): boolean {
  if ('filters' in filter) return filter.filters.some(holdsSome);
  return filter.op === 'some' || (filter.op === 'not' && holdsSome(filter.filter));
}

/** Short enough for a message. */
const quoted = (text: string) => `\`${text.length > 80 ? `${text.slice(0, 80)}…` : text}\``;
