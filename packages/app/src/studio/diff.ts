/** Compares two texts line by line, for two columns side by side. */

export interface DiffRow {
  kind: 'same' | 'changed' | 'removed' | 'added' | 'gap';
  before: { line: number; text: string } | undefined;
  after: { line: number; text: string } | undefined;
}

/** Lines around a change that are shown with it. */
const CONTEXT = 3;
/** More differences than this are shown as one block, so that a rewritten file does not stop the page. */
const EDITS_MAX = 2000;

export function diffRows(before: string, after: string): DiffRow[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const rows: DiffRow[] = [];
  let [i, j] = [0, 0];
  const upTo = (nextI: number, nextJ: number) => {
    while (i < nextI || j < nextJ) {
      const [old, now] = [i < nextI ? a[i] : undefined, j < nextJ ? b[j] : undefined];
      rows.push({
        kind: old !== undefined && now !== undefined ? 'changed' : old !== undefined ? 'removed' : 'added',
        before: old === undefined ? undefined : { line: ++i, text: old },
        after: now === undefined ? undefined : { line: ++j, text: now },
      });
    }
  };
  for (const [x, y] of matches(a, b)) {
    upTo(x, y);
    rows.push({ kind: 'same', before: { line: ++i, text: a[x]! }, after: { line: ++j, text: b[y]! } });
  }
  upTo(a.length, b.length);
  return shortened(rows);
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The lines that both have, in order: the algorithm of Myers, after what is the same at both ends. */
export function matches(a: readonly string[], b: readonly string[]): [number, number][] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const inner = shortestEdit(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [
    ...Array.from({ length: start }, (_, k): [number, number] => [k, k]),
    ...inner.map(([x, y]): [number, number] => [x + start, y + start]),
    ...Array.from({ length: end }, (_, k): [number, number] => [a.length - end + k, b.length - end + k]),
  ];
}

function shortestEdit(a: readonly string[], b: readonly string[]): [number, number][] {
  const most = Math.min(a.length + b.length, EDITS_MAX);
  const reach = new Map<number, number>([[1, 0]]);
  const trace: Map<number, number>[] = [];
  for (let edits = 0; edits <= most; edits++) {
    trace.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      let x = isDown ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      reach.set(k, x);
      if (x >= a.length && y >= b.length) return backtrack(trace, a.length, b.length);
    }
  }
  return [];
}

function backtrack(trace: readonly Map<number, number>[], x: number, y: number): [number, number][] {
  const found: [number, number][] = [];
  for (let edits = trace.length - 1; edits >= 0; edits--) {
    const reach = trace[edits]!;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = reach.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    while (x > Math.max(fromX, 0) && y > Math.max(fromY, 0)) found.push([--x, --y]);
    if (edits === 0) break;
    [x, y] = [fromX, fromY];
  }
  return found.reverse();
}

/** Leaves out what is far from every change. */
function shortened(rows: readonly DiffRow[]): DiffRow[] {
  const near = new Set<number>();
  rows.forEach(({ kind }, i) => {
    if (kind !== 'same') for (let k = i - CONTEXT; k <= i + CONTEXT; k++) near.add(k);
  });
  const shown: DiffRow[] = [];
  rows.forEach((row, i) => {
    if (near.has(i)) shown.push(row);
    else if (shown.at(-1)?.kind !== 'gap') shown.push({ kind: 'gap', before: undefined, after: undefined });
  });
  return shown;
}
