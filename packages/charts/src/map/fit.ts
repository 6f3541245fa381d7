/** The part of the map that the places with values take. */

interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const sizeOf = ({ left, top, right, bottom }: Box) => (right - left) * (bottom - top);

/** Islands and lands overseas that are small beside the rest would make the map as large as the world. */
const SHARE_MIN = 0.15;
/** One small country is shown with its neighbours. */
const LEAST = { width: 160, height: 90 };
const MARGIN = 12;

/** The boxes of the shapes in a path, of which each begins with a place and goes on in steps. */
function boxesOf(path: string): Box[] {
  return path
    .split('M')
    .filter(Boolean)
    .map((shape) => {
      const [x = 0, y = 0, ...steps] = (shape.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
      const box = { left: x, top: y, right: x, bottom: y };
      let [atX, atY] = [x, y];
      for (let i = 0; i + 1 < steps.length; i += 2) {
        atX += steps[i]!;
        atY += steps[i + 1]!;
        box.left = Math.min(box.left, atX);
        box.right = Math.max(box.right, atX);
        box.top = Math.min(box.top, atY);
        box.bottom = Math.max(box.bottom, atY);
      }
      return box;
    });
}

/** A view box: left, top, width and height. */
export function fitting(paths: readonly string[], world: { width: number; height: number }) {
  const boxes = paths.flatMap((path) => {
    const own = boxesOf(path);
    const largest = Math.max(...own.map(sizeOf));
    return own.filter((box) => sizeOf(box) >= SHARE_MIN * largest);
  });
  return around(boxes, world);
}

/** The view box around all of these boxes, of which there is at least one. */
export function around(boxes: readonly Box[], world: { width: number; height: number }) {
  const edges = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const { left, top, right, bottom } of boxes) {
    edges.left = Math.min(edges.left, left - MARGIN);
    edges.top = Math.min(edges.top, top - MARGIN);
    edges.right = Math.max(edges.right, right + MARGIN);
    edges.bottom = Math.max(edges.bottom, bottom + MARGIN);
  }
  const [left, width] = within(edges.left, edges.right, LEAST.width, world.width);
  const [top, height] = within(edges.top, edges.bottom, LEAST.height, world.height);
  return [left, top, width, height] as const;
}

/** The stretch, at least so long, and inside of the whole. */
function within(from: number, to: number, least: number, whole: number): [start: number, length: number] {
  const length = Math.min(Math.max(to - from, least), whole);
  const start = (from + to - length) / 2;
  return [Math.min(Math.max(start, 0), whole - length), length];
}
