/**
 * The grid of a dashboard as pure functions: items have places `{ x, y, w, h }` in columns and rows, never overlap, and fall
 * up until something is above them. The rules are those of react-grid-layout with vertical compaction, whose shape stored
 * layouts have; a test compares them.
 */
export const COLUMNS = 12;
export const HEIGHT_MAX = 200;

export interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Item extends Place {
  id: string;
}

export type Layout = readonly Item[];

export const collides = (a: Item, b: Item): boolean =>
  a.id !== b.id && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

const byRow = (a: Place, b: Place) => a.y - b.y || a.x - b.x;

export const bottomOf = (layout: Layout): number => Math.max(0, ...layout.map(({ y, h }) => y + h));

/** The item inside of the grid: not wider than it, and not beyond its edges. */
export function bounded<T extends Place>(item: T, columns = COLUMNS): T {
  const w = Math.min(Math.max(Math.trunc(item.w), 1), columns);
  const h = Math.min(Math.max(Math.trunc(item.h), 1), HEIGHT_MAX);
  const x = Math.min(Math.max(Math.trunc(item.x), 0), columns - w);
  return { ...item, x, y: Math.max(Math.trunc(item.y), 0), w, h };
}

/** Every item as far up as it goes, in the order of rows. Items that overlap make way downwards. The order of the list stays. */
export function compact(layout: Layout, columns = COLUMNS): Item[] {
  const items = layout.map((item) => bounded(item, columns));
  const sorted = items.toSorted(byRow);
  const placed: Item[] = [];
  for (const [i, item] of sorted.entries()) {
    const hit = () => placed.find((other) => collides(item, other));
    item.y = Math.min(bottomOf(placed), item.y);
    while (item.y > 0 && !hit()) item.y--;
    for (let above = hit(); above; above = hit()) pushBelow(sorted, i, above.y + above.h);
    placed.push(item);
  }
  return items;
}

/** Moves an item down to a row, and before it those after it that would be in its way. */
function pushBelow(sorted: readonly Item[], at: number, row: number) {
  const item = sorted[at]!;
  item.y += 1;
  for (let i = at + 1; i < sorted.length && sorted[i]!.y <= item.y + item.h; i++)
    if (collides(item, sorted[i]!)) pushBelow(sorted, i, row + item.h);
  item.y = row;
}

/** The item at another place. What is in its way changes places with it if there is room above, and otherwise goes down. */
export function move(layout: Layout, id: string, to: { x: number; y: number }, columns = COLUMNS): Item[] {
  const items = layout.map((item) => ({ ...item }));
  const item = items.find((each) => each.id === id);
  if (!item) return items;
  const { x, y } = bounded({ ...item, ...to }, columns);
  if (x === item.x && y === item.y) return items;
  shift(items, item, { x, y }, new Set(), true);
  return compact(items, columns);
}

/** Several items by the same distance, as far as the grid reaches. They keep their places among each other. */
export function moveAll(
  layout: Layout,
  ids: readonly string[],
  by: { x: number; y: number },
  columns = COLUMNS,
): Item[] {
  const items = layout.map((item) => bounded(item, columns));
  const chosen = items.filter(({ id }) => ids.includes(id));
  if (!chosen.length) return items;
  const left = Math.min(...chosen.map(({ x }) => x));
  const right = Math.max(...chosen.map(({ x, w }) => x + w));
  const dx = Math.min(Math.max(by.x, -left), columns - right);
  const dy = Math.max(by.y, -Math.min(...chosen.map(({ y }) => y)));
  if (dx === 0 && dy === 0) return items;
  const targets = chosen.map((item) => ({ item, to: { x: item.x + dx, y: item.y + dy } }));
  const fixed = new Set(chosen);
  for (const { item, to } of targets) shift(items, item, to, fixed, true);
  return compact(items, columns);
}

/** `isChosen`: the item that the person moves, and not one that makes way. */
function shift(
  items: readonly Item[],
  item: Item,
  to: { x: number; y: number },
  moved: Set<Item>,
  isChosen: boolean,
) {
  const others = items.toSorted(byRow);
  if (item.y >= to.y) others.reverse();
  Object.assign(item, to);
  moved.add(item);
  for (const hit of others.filter((other) => collides(item, other))) {
    if (moved.has(hit)) continue;
    const above = { ...hit, id: '', y: Math.max(item.y - hit.h, 0) };
    const isFree = isChosen && !items.some((other) => collides(above, other));
    shift(items, hit, { x: hit.x, y: isFree ? above.y : hit.y + 1 }, moved, false);
  }
}

/** The item in another size. Those in its way go down. */
export function resize(layout: Layout, id: string, to: { w: number; h: number }, columns = COLUMNS): Item[] {
  return compact(
    layout.map((item) => {
      if (item.id !== id) return item;
      const w = Math.min(Math.max(to.w, 1), columns - item.x);
      return bounded({ ...item, w, h: to.h }, columns);
    }),
    columns,
  );
}

/** The first place that is free for something of this size, from the top. */
export function place(layout: Layout, size: { w: number; h: number }, columns = COLUMNS): Place {
  const { w, h } = bounded({ ...size, x: 0, y: 0 }, columns);
  for (let y = 0; ; y++)
    for (let x = 0; x + w <= columns; x++) {
      const candidate = { id: '', x, y, w, h };
      if (!layout.some((item) => collides(candidate, item))) return { x, y, w, h };
    }
}
