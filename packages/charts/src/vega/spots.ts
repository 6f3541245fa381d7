/// <reference path="./modules.d.ts" />
/**
 * Where the rows of a chart are drawn. A line, an area or a trail is one shape for many rows, so the shape under the pointer
 * does not tell the row: the nearest point does.
 */
import type { Item, Mark } from 'vega-view';

/** A row at its place in the chart. */
export interface Spot {
  datum: Record<string, unknown>;
  /** The name of its mark in the spec. */
  mark: string;
  x: number;
  y: number;
  /** What the shape takes across its direction: an area from its base to its line. */
  span: [number, number];
  /** False where the line has a gap, because there is no value. */
  isDrawn: boolean;
  color: string | undefined;
}

/** How the points of a mark follow each other: along an axis, or anyhow. */
export type Direction = 'x' | 'y' | 'none';

/** A part of the picture with axes of its own. */
export interface Cell {
  x: number;
  y: number;
  width: number;
  height: number;
  direction: Direction;
  /** The points of marks that span rows. */
  points: Spot[];
  /** The shapes of marks with one shape for each row. */
  shapes: Spot[];
}

/** What is pointed at: the rows at one place, and the one among them that is nearest. */
export interface Target {
  cell: Cell;
  spots: Spot[];
  chosen: Spot;
}

const PATHS = ['line', 'area', 'trail'];
/** A shape as large as its value: the pointer on it means its row, whatever lines are near. */
const SOLID = ['rect', 'arc', 'shape', 'path'];
const DRAWN_ROLES = ['frame', 'scope', 'mark'];
/** Points that differ by less are at one place. */
const SAME = 0.01;

export interface SpecMark {
  name?: string;
  type?: string;
  sort?: { field?: unknown };
  marks?: SpecMark[];
  encode?: { update?: Record<string, unknown> };
}

/** The marks of a spec by their names. */
export function marksOf({ marks = [] }: { marks?: SpecMark[] }): Map<string, SpecMark> {
  const named = new Map<string, SpecMark>();
  for (const mark of marks) {
    if (mark.name) named.set(mark.name, mark);
    for (const [name, inner] of marksOf(mark)) named.set(name, inner);
  }
  return named;
}

function directionOf({ marktype, name, items }: Mark, named: Map<string, SpecMark>): Direction {
  const spec = named.get(name ?? '');
  if (!spec || marktype === 'area') return items[0]?.orient === 'horizontal' ? 'y' : 'x';
  const field = spec.sort?.field;
  return field === 'x' || field === 'y' ? field : 'none';
}

const paintOf = ({ stroke, fill }: Item, marktype: string) => {
  const paint = marktype === 'area' ? (fill ?? stroke) : (stroke ?? fill);
  return typeof paint === 'string' && paint !== 'transparent' ? paint : undefined;
};

/** The times whose labels found no room, if one of them has a second line: the year, which nobody would see then. */
export function unseenTimes(root: Mark): Set<number> {
  const unseen = new Set<number>();
  let isLost = false;
  function visit({ role, items }: Mark) {
    for (const item of items) {
      for (const inner of item.items ?? []) visit(inner);
      const time = item.datum?.value;
      if (role !== 'axis-label' || item.opacity !== 0 || !(time instanceof Date)) continue;
      unseen.add(Number(time));
      isLost ||= Array.isArray(item.text);
    }
  }
  visit(root);
  return isLost ? unseen : new Set();
}

/** The cells of what is drawn now. */
export function cellsOf(root: Mark, named: Map<string, SpecMark>): Cell[] {
  const cells = new Map<string, Cell>();

  function visit(mark: Mark, dx: number, dy: number, around: Cell | undefined) {
    if (!DRAWN_ROLES.includes(mark.role)) return;
    if (mark.marktype === 'group') {
      for (const group of mark.items) {
        const [x, y] = [dx + (group.x ?? 0), dy + (group.y ?? 0)];
        // The series of a chart are groups in the same place.
        const { width = around?.width ?? 0, height = around?.height ?? 0 } = group;
        const key = [x, y, width, height].join();
        const cell = cells.get(key) ?? { x, y, width, height, direction: 'x', points: [], shapes: [] };
        cells.set(key, cell);
        for (const inner of group.items ?? []) visit(inner, x, y, cell);
      }
      return;
    }
    if (!around) return;
    const isPath = PATHS.includes(mark.marktype);
    if (isPath && !around.points.length) around.direction = directionOf(mark, named);
    for (const item of mark.items) {
      if (!item.datum) continue;
      const { bounds } = item;
      const isMiddle = !isPath && bounds;
      const x = dx + (isMiddle ? (bounds.x1 + bounds.x2) / 2 : (item.x ?? 0));
      const y = dy + (isMiddle ? (bounds.y1 + bounds.y2) / 2 : (item.y ?? 0));
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      const [line, base] =
        around.direction === 'y' ? [x, dx + (item.x2 ?? item.x ?? 0)] : [y, dy + (item.y2 ?? item.y ?? 0)];
      const isArea = mark.marktype === 'area';
      const spot = {
        ...{ datum: item.datum, mark: mark.name ?? '', x, y, color: paintOf(item, mark.marktype) },
        span: (isArea ? [Math.min(line, base), Math.max(line, base)] : [line, line]) as [number, number],
        isDrawn: item.defined !== false,
      };
      (isPath ? around.points : around.shapes).push(spot);
    }
  }

  visit(root, 0, 0, undefined);
  return [...cells.values()].filter(({ points, shapes }) => points.length + shapes.length > 0);
}

const holds = ({ x, y, width, height }: Cell, px: number, py: number) =>
  px >= x - 1 && px <= x + width + 1 && py >= y - 1 && py <= y + height + 1;

/** The points in sight: a chart that was zoomed into has others beside it. */
const visible = (cell: Cell) => cell.points.filter(({ x, y, isDrawn }) => !isDrawn || holds(cell, x, y));

/** Along the direction, and across it. */
const placeOf = ({ direction }: Cell, { x, y }: { x: number; y: number }) =>
  direction === 'y' ? ([y, x] as const) : ([x, y] as const);

const nearest = <T>(all: T[], distanceOf: (each: T) => number): T | undefined => {
  let best: T | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const each of all) {
    const distance = distanceOf(each);
    if (distance < least) [best, least] = [each, distance];
  }
  return best;
};

/** Points with the same number are at one place along the direction. */
const placeNumber = (cell: Cell, spot: Spot) => Math.round(placeOf(cell, spot)[0] / SAME);

/** `spots` are at one place. They come in the order in which people see them. */
function targetOf(cell: Cell, spots: Spot[], across: number): Target {
  const sorted = spots.toSorted((a, b) => placeOf(cell, a)[1] - placeOf(cell, b)[1]);
  const chosen = nearest(sorted, ({ span: [from, to], isDrawn, ...spot }) => {
    if (!isDrawn) return Number.MAX_VALUE;
    const isInside = from !== to && across >= from && across <= to;
    const distance = Math.abs(placeOf(cell, spot)[1] - across);
    // The area under the pointer comes before a line near it.
    return isInside ? distance / 1e6 : distance;
  });
  return { cell, spots: sorted, chosen: chosen! };
}

const alone = (cell: Cell, chosen: Spot): Target => ({ cell, spots: [chosen], chosen });

/** What the pointer means. `item` is the shape under it, if there is one. */
export function targetAt(cells: Cell[], item: Item | undefined, px: number, py: number): Target | undefined {
  const cell = cells.findLast((each) => each.points.length > 0 && holds(each, px, py));
  const isOnShape = item && (SOLID.includes(item.mark.marktype) || !cell);
  if (isOnShape) {
    for (const each of cells) {
      const chosen = each.shapes.find(
        ({ datum, mark }) => datum === item.datum && mark === (item.mark.name ?? ''),
      );
      if (chosen) return alone(each, chosen);
    }
  }
  if (!cell) return undefined;
  const [along, across] = placeOf(cell, { x: px, y: py });
  const points = visible(cell);
  if (cell.direction === 'none') {
    const chosen = nearest(points, (spot) => Math.hypot(spot.x - px, spot.y - py));
    return chosen && alone(cell, chosen);
  }
  const first = nearest(points, (spot) => Math.abs(placeOf(cell, spot)[0] - along));
  if (!first) return undefined;
  const place = placeNumber(cell, first);
  return targetOf(
    cell,
    points.filter((spot) => placeNumber(cell, spot) === place),
    across,
  );
}

/** What the arrow keys go through: places with points or, in a cell without any, its shapes. */
export function stopsOf(cells: Cell[]): Target[] {
  return cells.flatMap((cell) => {
    // A bar and the text on it are of one row.
    if (!cell.points.length)
      return [...new Map(cell.shapes.toReversed().map((spot) => [spot.datum, spot])).values()]
        .reverse()
        .map((spot) => alone(cell, spot));
    const points = visible(cell);
    if (cell.direction === 'none') return points.map((spot) => alone(cell, spot));
    const places = new Map<number, Spot[]>();
    for (const spot of points) {
      const place = placeNumber(cell, spot);
      const others = places.get(place);
      if (others) others.push(spot);
      else places.set(place, [spot]);
    }
    return [...places]
      .sort(([a], [b]) => a - b)
      .map(([, spots]) => targetOf(cell, spots, placeOf(cell, spots[0]!)[1]));
  });
}
