import { expect, test } from 'vitest';
import { fitCells } from './fit-cells.ts';
import type { Room } from './spec-parts.ts';

const ROOM: Room = { width: 360, height: 240, isRightToLeft: false, measure: (text) => text.length * 6 };
/** A facet by name, as it is compiled. */
const widthFor = (names: string[]) => {
  const spec = {
    layout: { columns: 2 },
    signals: [
      { name: 'child_width', value: 220 },
      { name: 'child_height', value: 150 },
    ],
    marks: [
      {
        type: 'group',
        from: { facet: { groupby: ['name'] } },
        encode: { update: { width: { signal: 'child_width' }, height: { signal: 'child_height' } } },
      },
    ],
  };
  const rows = names.map((name) => ({ name }));
  fitCells(spec, rows, ROOM);
  return spec.signals[0]!.value;
};

test('a small chart is as wide as its name, up to three times the room', () => {
  expect(widthFor(['a'.repeat(70), 'b'])).toBe(420);
  expect(widthFor(['a'.repeat(5000), 'b'])).toBe(3 * 360);
});
