/// <reference path="./modules.d.ts" />
/** Pointing at the rows of a chart with a mouse, a finger or the keys. */
import type { Item, View } from 'vega-view';
import type { createReader } from './datum.ts';
import { cellsOf, type marksOf, type Spot, stopsOf, type Target, targetAt } from './spots.ts';
import type { TooltipLine } from './tooltip.tsx';

/** What is pointed at, at places on the screen. */
export interface PointerHit {
  x: number;
  y: number;
  lines: TooltipLine[];
  /** By a finger, which has to come back to see the details. */
  isTouched: boolean;
  /** The number of the stop of the arrow keys, and how many there are. */
  stop?: [at: number, of: number];
  /** Where the points are, inside of the chart. */
  dots: { x: number; y: number; color: string | undefined; isChosen: boolean }[];
  /** The line through them, if they follow an axis. */
  rule?: { x1: number; y1: number; x2: number; y2: number };
}

export interface PointerController {
  /** Takes a key, or leaves it to the page. */
  press(key: string): boolean;
  leave(): void;
}

interface Options {
  view: View;
  frame: HTMLElement;
  marks: ReturnType<typeof marksOf>;
  reader: ReturnType<typeof createReader>;
  show(pointed: PointerHit | undefined): void;
  open(target: Target): void;
}

/** A press that moves further selects or drags. */
const CLICK_MAX_PX = 5;
const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
const CHOICES: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

export function createPointing({ view, frame, marks, reader, show, open }: Options): PointerController {
  let current: Target | undefined;
  let stop = -1;
  let touched: Target | undefined;
  let pressedAt: [number, number] = [0, 0];

  const cells = () => cellsOf(view.scenegraph().root, marks);
  /** From places of the chart to those of the screen. */
  const matrix = () => frame.querySelector<SVGGElement>('svg .root')?.getScreenCTM();

  function point(target: Target | undefined, by: Partial<PointerHit> & { at?: [number, number] } = {}) {
    current = target;
    const toScreen = matrix();
    const lines = target ? reader.linesOf(target) : [];
    if (!target || !toScreen || !lines.length) return show(undefined);
    const { left, top } = frame.getBoundingClientRect();
    const place = (x: number, y: number) => {
      const on = new DOMPoint(x, y).matrixTransform(toScreen);
      return { x: on.x - left, y: on.y - top };
    };
    const { cell, spots, chosen } = target;
    const isPath = cell.points.includes(chosen);
    const { at, isTouched = false, ...rest } = by;
    const own = place(chosen.x, chosen.y);
    const [from, to] =
      cell.direction === 'y'
        ? [place(cell.x, chosen.y), place(cell.x + cell.width, chosen.y)]
        : [place(chosen.x, cell.y), place(chosen.x, cell.y + cell.height)];
    show({
      x: at?.[0] ?? own.x + left,
      y: at?.[1] ?? own.y + top,
      lines,
      isTouched,
      dots: (isPath ? spots.filter(({ isDrawn }) => isDrawn) : [])
        .map((spot) => ({ ...place(spot.x, spot.y), color: spot.color, isChosen: spot === chosen }))
        .slice(0, DOTS_MAX),
      ...(isPath && cell.direction !== 'none'
        ? { rule: { x1: from.x, y1: from.y, x2: to.x, y2: to.y } }
        : {}),
      ...rest,
    });
  }

  function under(event: MouseEvent, item: Item | null): Target | undefined {
    const toScreen = matrix();
    if (!toScreen) return undefined;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(toScreen.inverse());
    return targetAt(cells(), item ?? undefined, x, y);
  }

  const atPointer = (event: MouseEvent) => ({ at: [event.clientX, event.clientY] as [number, number] });
  const isFinger = (event: Event) => (event as PointerEvent).pointerType === 'touch';

  view.addEventListener('pointerdown', (event, item) => {
    const pointer = event as PointerEvent;
    pressedAt = [pointer.clientX, pointer.clientY];
    stop = -1;
    if (isFinger(event)) point(under(pointer, item), { ...atPointer(pointer), isTouched: true });
  });
  view.addEventListener('pointermove', (event, item) => {
    const pointer = event as PointerEvent;
    stop = -1;
    point(under(pointer, item), { ...atPointer(pointer), isTouched: isFinger(event) });
  });
  view.addEventListener('click', (event, item) => {
    const pointer = event as PointerEvent;
    if (Math.hypot(pointer.clientX - pressedAt[0], pointer.clientY - pressedAt[1]) > CLICK_MAX_PX) return;
    const target = under(pointer, item);
    // A finger cannot hover: the first touch shows the numbers, and the second one what is behind them.
    const isFirstTouch = isFinger(event) && !isSame(touched, target);
    touched = isFinger(event) ? target : undefined;
    if (target && !isFirstTouch) open(target);
  });

  return {
    press(key) {
      const stops = stopsOf(cells());
      if (!stops.length) return false;
      if (key === 'Escape' || key === 'Tab') {
        this.leave();
        return false;
      }
      if ((key === 'Enter' || key === ' ') && current) {
        open(current);
        return true;
      }
      if (CHOICES[key] && current && current.spots.length > 1) {
        const { spots, chosen } = current;
        const at = (spots.indexOf(chosen) + CHOICES[key] + spots.length) % spots.length;
        point({ ...current, chosen: spots[at]! }, { stop: [stop + 1, stops.length] });
        return true;
      }
      const step = STEPS[key] ?? CHOICES[key];
      const next =
        key === 'Home'
          ? 0
          : key === 'End'
            ? stops.length - 1
            : step === undefined
              ? -1
              : Math.min(stops.length - 1, Math.max(0, stop + step));
      if (next < 0) return false;
      stop = next;
      point(stops[next], { stop: [next + 1, stops.length] });
      return true;
    },
    leave() {
      touched = undefined;
      stop = -1;
      point(undefined);
    },
  };
}

const DOTS_MAX = 200;

const sameSpot = (a: Spot, b: Spot) => a.datum === b.datum && a.mark === b.mark;
const isSame = (a: Target | undefined, b: Target | undefined) =>
  a !== undefined && b !== undefined && sameSpot(a.chosen, b.chosen);
