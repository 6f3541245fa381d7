import { expect, test } from 'vitest';
import { contrast } from '../color.ts';
import { tokensOf } from '../theme.ts';
import { configOf } from './config.ts';
import { distance } from './palette.ts';

test.each(['light', 'dark'] as const)('32 series have colours of their own in the %s', (scheme) => {
  for (const accent of [undefined, '#d9730d', '#00aa00', '#777777']) {
    const tokens = tokensOf(scheme, [accent ? { accent } : {}]);
    const { surface } = tokens;
    const series = configOf(tokens).range.category;
    expect(series).toHaveLength(32);
    for (const [i, color] of series.entries()) {
      if (i >= 8) expect(contrast(color, surface), color).toBeGreaterThanOrEqual(3);
      for (const other of series.slice(Math.max(i + 1, 8)))
        expect(distance(color, other), `${color} and ${other}`).toBeGreaterThan(0.05);
    }
  }
});
