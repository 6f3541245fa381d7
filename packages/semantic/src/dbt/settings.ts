/** What a sync takes of a project, and where it puts the cubes. */
import type { DbtNode } from './manifest.ts';

export interface DbtSettings {
  /** The prefix of the name of each cube and view. */
  readonly namePrefix: string;
  /** As dbt selects: `tag:mart`, `path:marts`, `package:shop`, or a name; `*` stands for any characters. Empty for all. */
  readonly select: readonly string[];
  /** The folder of the files, without a slash at its end. */
  readonly folder: string;
  readonly includeSources: boolean;
  readonly includeSeeds: boolean;
  readonly includeSnapshots: boolean;
  /** Read the tables from this schema, instead of those that dbt made them in. */
  readonly targetSchema: string | undefined;
}

const METHOD = /^(?:(tag|path|package|name):)?(.+)$/s;

export const isSelector = (text: string) => {
  const [, method, wanted] = METHOD.exec(text) ?? [];
  return wanted !== undefined && (method !== undefined || !/[:+@,]/.test(wanted));
};

export function isSelected(node: DbtNode, { select }: DbtSettings): boolean {
  return select.length === 0 || select.some((selector) => matches(node, selector));
}

function matches(node: DbtNode, selector: string): boolean {
  const [, method = 'name', wanted = ''] = METHOD.exec(selector) ?? [];
  if (method === 'tag') return node.tags.some((tag) => isLike(tag, wanted));
  if (method === 'package') return isLike(node.package, wanted);
  if (method === 'path') return isBelow(node.path, wanted.replace(/^models\//, '').replace(/\/+$/, ''));
  return isLike(node.name, wanted);
}

const isBelow = (path: string, wanted: string) =>
  isLike(path, wanted) || path.split('/').some((_, i, parts) => isLike(parts.slice(0, i).join('/'), wanted));

/** Compares piece by piece, because a regular expression with many stars takes too long. */
function isLike(text: string, pattern: string): boolean {
  const [first, ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  const last = rest.pop()!;
  if (!text.startsWith(first!) || !text.endsWith(last) || text.length < first!.length + last.length)
    return false;
  let at = first!.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}
