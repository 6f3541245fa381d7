/** Where in a YAML file the cursor is, by indentation: half-written files are no YAML yet. */

export interface YamlPlace {
  /** The keys around the cursor, from the outside; `[]` is an item of a list. */
  path: string[];
  /** The key whose value is written at the cursor, or undefined where a key is written. */
  key: string | undefined;
  /** Whether the cursor is in an item of a list that has no key yet: `- |`. */
  isItem: boolean;
  /** What was typed of the key or the value. */
  typed: string;
}

const LINE = /^(\s*)((?:-\s+)*)(?:([\w.]+)\s*:(?:\s+|$))?(.*)$/;

interface Line {
  indent: number;
  /** The columns of the dashes at its begin. */
  dashes: number[];
  keyAt: number;
  key: string | undefined;
  rest: string;
}

function read(text: string): Line | undefined {
  if (/^\s*(#|$)/.test(text)) return undefined;
  const [, spaces = '', marks = '', key, rest = ''] = LINE.exec(text) ?? [];
  const dashes = [...marks.matchAll(/-/g)].map(({ index }) => spaces.length + index);
  return { indent: spaces.length, dashes, keyAt: spaces.length + marks.length, key, rest };
}

/** `before` are the lines up to the cursor, the last of them only as far as the cursor. */
export function placeIn(before: readonly string[]): YamlPlace {
  const last = before.at(-1) ?? '';
  const flow = flowIn(last);
  const own = read(flow ? last.slice(0, flow.at) : last);
  const blank = /^(\s*)((?:-\s*)*)$/.exec(last);
  const line: Line = own ?? { indent: last.length, dashes: [], keyAt: last.length, key: undefined, rest: '' };
  if (blank && !flow) {
    const dashes = [...blank[2]!.matchAll(/-/g)].map(({ index }) => blank[1]!.length + index);
    Object.assign(line, { dashes, keyAt: last.length, key: undefined, rest: '' });
  }
  const path: string[] = [];
  let { keyAt } = line;
  let dashes = [...line.dashes];
  /** Leaves the lists that begin in a line. Their key stands at the dash, or to the left of it. */
  const leaveLists = () => {
    for (const dash of dashes.reverse()) {
      path.unshift('[]');
      keyAt = dash + 1;
    }
    dashes = [];
  };
  leaveLists();
  for (let i = before.length - 2; i >= 0 && keyAt > 0; i--) {
    const above = read(before[i]!);
    if (!above) continue;
    if (above.keyAt === keyAt && above.dashes.length && above.dashes.at(-1)! < keyAt) {
      // A key beside the cursor that begins the item.
      dashes = [...above.dashes];
      leaveLists();
      continue;
    }
    if (above.keyAt >= keyAt || above.key === undefined) continue;
    path.unshift(above.key);
    keyAt = above.keyAt;
    dashes = [...above.dashes];
    leaveLists();
  }
  if (flow) return inFlow(path, line.key, flow);
  return {
    path,
    key: line.key,
    isItem: line.dashes.length > 0 && line.key === undefined,
    typed: line.rest.replace(/^["']/, ''),
  };
}

/** The last `{` or `[` of a line that is still open, outside of quotes. */
function flowIn(text: string): { at: number; open: string; inside: string } | undefined {
  const open: number[] = [];
  let quote = '';
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]!;
    if (quote) {
      if (sign === quote) quote = '';
    } else if ((sign === '"' || sign === "'") && /[\s:,[{]/.test(text[i - 1] ?? ' ')) quote = sign;
    else if ((sign === '{' || sign === '[') && /[\s:,[{-]/.test(text[i - 1] ?? ' ')) open.push(i);
    else if (sign === '}' || sign === ']') open.pop();
  }
  const at = open.at(-1);
  return at === undefined ? undefined : { at, open: text[at]!, inside: text.slice(at + 1) };
}

function inFlow(
  path: string[],
  key: string | undefined,
  { open, inside }: { open: string; inside: string },
): YamlPlace {
  const around = [...path, ...(key === undefined ? [] : [key])];
  const part = inside.slice(inside.lastIndexOf(',') + 1);
  if (open === '[') return { path: [...around, '[]'], key: undefined, isItem: true, typed: part.trimStart() };
  const [, own, value] = /^\s*([\w.]+)\s*:\s+(.*)$/.exec(part) ?? [];
  return own === undefined
    ? { path: around, key: undefined, isItem: false, typed: part.trimStart() }
    : { path: around, key: own, isItem: false, typed: value!.replace(/^["']/, '') };
}
