/** Merges three versions of a text by ranges of lines, so that each place in conflict is known by where it is. */
import { matches } from './diff.ts';

export interface Piece {
  /** A conflict waits for a choice, and `merged` needs none. */
  kind: 'merged' | 'conflict';
  branch: string;
  parent: string;
}

/** Whose lines a place in conflict gets; `both` is those of the branch, and then those of the parent. */
export type Choice = 'branch' | 'parent' | 'both';

/** Lines with their ends, so that a text without a last line break stays one. */
const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/**
 * Splits the merged text into pieces. Where both sides are the same, or one equals the base, the piece is no conflict.
 */
export function mergeTexts(base: string, branch: string, parent: string): Piece[] {
  const [o, a, b] = [linesOf(base), linesOf(branch), linesOf(parent)];
  const inBranch = new Map(matches(o, a));
  const inParent = new Map(matches(o, b));
  const pieces: Piece[] = [];
  const add = (kind: Piece['kind'], ours: string, theirs: string) => {
    if (ours === '' && theirs === '') return;
    const last = pieces.at(-1);
    if (last?.kind === 'merged' && kind === 'merged') {
      last.branch += ours;
      last.parent += theirs;
    } else pieces.push({ kind, branch: ours, parent: theirs });
  };
  let [i, j, k] = [0, 0, 0];
  while (i < o.length || j < a.length || k < b.length) {
    if (i < o.length && inBranch.get(i) === j && inParent.get(i) === k) {
      add('merged', o[i]!, o[i]!);
      [i, j, k] = [i + 1, j + 1, k + 1];
      continue;
    }
    let next = i;
    while (next < o.length && !(inBranch.has(next) && inParent.has(next))) next++;
    const [nextJ, nextK] =
      next < o.length ? [inBranch.get(next)!, inParent.get(next)!] : [a.length, b.length];
    const old = o.slice(i, next).join('');
    const ours = a.slice(j, nextJ).join('');
    const theirs = b.slice(k, nextK).join('');
    if (ours === theirs || theirs === old) add('merged', ours, ours);
    else if (ours === old) add('merged', theirs, theirs);
    else add('conflict', ours, theirs);
    [i, j, k] = [next, nextJ, nextK];
  }
  return pieces;
}

const withEnd = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** The text with what was chosen for each conflict, counted from 0. Places that wait for a choice stand between markers. */
export function writeMerged(
  pieces: readonly Piece[],
  choices: ReadonlyMap<number, Choice>,
  names: { branch: string; parent: string },
): string {
  let conflicts = 0;
  return pieces
    .map(({ kind, branch, parent }) => {
      if (kind === 'merged') return branch;
      const choice = choices.get(conflicts++);
      if (choice === 'both') return withEnd(branch) + parent;
      if (choice) return choice === 'branch' ? branch : parent;
      return `<<<<<<< ${names.branch}\n${withEnd(branch)}=======\n${withEnd(parent)}>>>>>>> ${names.parent}\n`;
    })
    .join('');
}

export const hasMarkers = (text: string) => /^(<{7} |={7}\r?$|>{7} )/m.test(text);
