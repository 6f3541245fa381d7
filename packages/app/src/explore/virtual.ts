/** Long lists of which only the rows in sight are in the page. All rows of a list are equally high. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

type Ref<T> = RefObject<T | null>;

interface Range {
  from: number;
  size: number;
}

/** Rows above and below those in sight, until a scroll is drawn, and for the Tab key. */
const OVERSCAN = 12;

function rangeIn({ scrollTop, clientHeight }: HTMLElement, count: number, height: number): Range {
  const size = Math.min(count, Math.ceil(clientHeight / height) + 1 + 2 * OVERSCAN);
  const from = Math.floor(scrollTop / height) - OVERSCAN;
  return { from: Math.max(0, Math.min(from, count - size)), size };
}

/** Scrolls are told once for each frame, before it is drawn. */
function watch(frame: HTMLElement, onChange: () => void): () => void {
  const resizes = new ResizeObserver(onChange);
  resizes.observe(frame);
  frame.addEventListener('scroll', onChange, { passive: true });
  return () => {
    resizes.disconnect();
    frame.removeEventListener('scroll', onChange);
  };
}

/** Which rows of a list are in the page, and what scrolls to one of them. */
export function useRange(frame: Ref<HTMLElement>, count: number, height: number) {
  const [range, setRange] = useState<Range>({ from: 0, size: 0 });
  useLayoutEffect(() => {
    const look = () =>
      setRange((before) => {
        const now = rangeIn(frame.current!, count, height);
        return now.from === before.from && now.size === before.size ? before : now;
      });
    look();
    return watch(frame.current!, look);
  }, [count, height]);
  const scrollTo = (index: number) => {
    const { scrollTop, clientHeight } = frame.current!;
    const least = (index + 1) * height - clientHeight;
    frame.current!.scrollTop = Math.min(index * height, Math.max(least, scrollTop));
  };
  return { ...range, scrollTo };
}

interface Rows {
  count: number;
  height: number;
  make(): RowElement;
}

export interface RowElement {
  element: HTMLTableRowElement;
  show(index: number): void;
}

/**
 * Draws the rows of a table. A scroll moves rows that are there already and shows other values in them: it makes no
 * elements, and compares none. They are made anew for another `make`.
 */
export function useRows(
  frame: Ref<HTMLElement>,
  body: Ref<HTMLElement>,
  { count, height, make }: Rows,
): void {
  useLayoutEffect(
    () => watch(frame.current!, drawing(frame.current!, body.current!, { count, height, make })),
    [count, height, make],
  );
}

/** Row `i` is in the element `i % size`, so that a scroll changes only those that come into sight. */
function drawing(frame: HTMLElement, body: HTMLElement, { count, height, make }: Rows): () => void {
  const [before, after] = [space(), space()];
  let elements: (RowElement & { index?: number })[] = [];
  let drawn: Range = { from: 0, size: -1 };

  /** The elements that show other rows now, those above and those below the rows that stay. */
  function reuse({ from, size }: Range) {
    const [above, below]: [HTMLElement[], HTMLElement[]] = [[], []];
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    for (let index = from; index < from + size; index++) {
      const row = elements[index % size]!;
      if (row.index === index) continue;
      // Keys go on scrolling when the cell that had the focus is gone.
      if (focused && row.element.contains(focused)) frame.focus({ preventScroll: true });
      row.index = index;
      row.show(index);
      row.element.ariaRowIndex = String(index + 2);
      (index < drawn.from ? above : below).push(row.element);
    }
    return { above, below };
  }

  function draw() {
    const range = rangeIn(frame, count, height);
    if (range.from === drawn.from && range.size === drawn.size) return;
    if (range.size !== drawn.size) {
      elements = Array.from({ length: range.size }, make);
      // Keys go on scrolling here, too. Only now, before the old rows leave: it makes a layout, which needs their height.
      if (body.contains(document.activeElement)) frame.focus({ preventScroll: true });
      body.replaceChildren(before, after);
    }
    const { above, below } = reuse(range);
    before.after(...above);
    after.before(...below);
    before.style.height = `${range.from * height}px`;
    after.style.height = `${(count - range.from - range.size) * height}px`;
    drawn = range;
  }
  draw();
  return draw;
}

function space(): HTMLTableRowElement {
  const element = document.createElement('tr');
  element.className = 'space';
  element.ariaHidden = 'true';
  return element;
}
