/** The grid beside react-grid-layout, whose rules stored layouts follow. */
import fc from 'fast-check';
import * as oracle from 'react-grid-layout/core';
import { expect, test } from 'vitest';
import { COLUMNS, collides, compact, type Item, move, moveAll, place, resize } from './grid.ts';

const numbered = (places: Omit<Item, 'id'>[]): Item[] =>
  places.map((item, i) => ({ ...item, x: Math.min(item.x, COLUMNS - item.w), id: `w${i}` }));
const places = fc
  .array(
    fc.record({
      x: fc.nat(11),
      y: fc.nat(20),
      w: fc.integer({ min: 1, max: 12 }),
      h: fc.integer({ min: 1, max: 6 }),
    }),
    { minLength: 1, maxLength: 14 },
  )
  .map(numbered);

const theirs = (layout: readonly Item[]) => layout.map(({ id, ...item }) => ({ ...item, i: id }));
const ours = (layout: readonly { i: string; x: number; y: number; w: number; h: number }[]): Item[] =>
  layout.map(({ i, x, y, w, h }) => ({ id: i, x, y, w, h }));
const { compact: compactTheirs } = oracle.verticalCompactor;

test('items fall up as in react-grid-layout, also from layouts in which they overlap', () => {
  fc.assert(
    fc.property(places, (layout) => {
      expect(compact(layout)).toEqual(ours(compactTheirs(theirs(layout), COLUMNS)));
    }),
    { numRuns: 300 },
  );
});

test('a moved item ends where react-grid-layout puts it, and so do all others', () => {
  fc.assert(
    fc.property(places, fc.nat(13), fc.nat(11), fc.nat(25), (given, which, x, y) => {
      const layout = compact(given);
      const { id, w } = layout[which % layout.length]!;
      const target = { x: Math.min(x, COLUMNS - w), y };
      const copy = theirs(layout);
      const item = copy.find(({ i }) => i === id)!;
      const moved = oracle.moveElement(copy, item, target.x, target.y, true, false, 'vertical', COLUMNS);
      expect(move(layout, id, target)).toEqual(ours(compactTheirs(moved, COLUMNS)));
    }),
    { numRuns: 500 },
  );
});

test('whatever is moved, resized and added, nothing overlaps, leaves the grid or floats', () => {
  const step = fc.record({
    which: fc.nat(13),
    kind: fc.constantFrom('move', 'together', 'resize', 'place'),
    a: fc.integer({ min: -3, max: 14 }),
    b: fc.integer({ min: -3, max: 30 }),
  });
  fc.assert(
    fc.property(places, fc.array(step, { maxLength: 12 }), (given, steps) => {
      let layout = compact(given);
      for (const { which, kind, a, b } of steps) {
        const { id } = layout[which % layout.length]!;
        if (kind === 'move') layout = move(layout, id, { x: a, y: b });
        else if (kind === 'together') {
          const ids = layout.filter((_, i) => i % 3 === which % 3).map((item) => item.id);
          layout = moveAll(layout, ids, { x: a, y: b - 10 });
        } else if (kind === 'resize') layout = resize(layout, id, { w: a, h: b });
        else {
          const added = { id: `w${layout.length}`, ...place(layout, { w: a, h: b }) };
          expect(layout.some((item) => collides(added, item))).toBe(false);
          layout = compact([...layout, added]);
        }
      }
      for (const item of layout) {
        expect(item.x >= 0 && item.x + item.w <= COLUMNS && item.w > 0 && item.h > 0).toBe(true);
        expect(layout.some((other) => collides(item, other))).toBe(false);
      }
      expect(compact(layout)).toEqual(layout);
    }),
    { numRuns: 200 },
  );
});

test('two items change places, and one that is unknown changes nothing', () => {
  const layout: Item[] = [
    { id: 'a', x: 0, y: 0, w: 6, h: 2 },
    { id: 'b', x: 0, y: 2, w: 6, h: 2 },
  ];
  expect(move(layout, 'b', { x: 0, y: 0 })).toEqual([
    { id: 'a', x: 0, y: 2, w: 6, h: 2 },
    { id: 'b', x: 0, y: 0, w: 6, h: 2 },
  ]);
  expect(move(layout, 'c', { x: 0, y: 0 })).toEqual(layout);
  expect(place(layout, { w: 6, h: 3 })).toEqual({ x: 6, y: 0, w: 6, h: 3 });
});
