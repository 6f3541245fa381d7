import { expect, test } from 'vitest';
import { requireConfig } from './config-rules.ts';
import { requirePlainSpec, requireVegaLite } from './spec-rules.ts';

const position = { x: 0, y: 0, w: 1, h: 1 };
/** A regular expression that tries again at each place takes long for some of these. */
const HARD: [string, (n: number) => string][] = [
  ['an equals sign and spaces', (n) => `=${' '.repeat(n - 1)}`],
  ['equals signs', (n) => '='.repeat(n)],
  ['spaces', (n) => ' '.repeat(n)],
  ['lines', (n) => '\n'.repeat(n)],
  ['angles', (n) => '<'.repeat(n)],
  ['angles and spaces', (n) => '< '.repeat(n / 2)],
  ['brackets', (n) => '['.repeat(n)],
  ['brackets that close', (n) => ']('.repeat(n / 2)],
  ['quotes', (n) => `="'`.repeat(n / 3)],
  ['addresses', (n) => `data${' '.repeat(n - 4)}`],
  ['names', (n) => 'a.'.repeat(n / 2)],
  ['identifiers', (n) => 'event'.repeat(n / 5)],
];

test.each(HARD)('texts of %s cost work that grows with their length, not with its square', (_, make) => {
  const cpuMs = (n: number) => {
    const text = make(n);
    const texts = Array.from({ length: 10 }, (_, i) => ({ id: `t${i}`, markdown: text }));
    const before = process.cpuUsage();
    requireConfig(
      {
        widgets: texts.map(({ id, markdown }) => ({
          ...{ id, type: 'TEXT' as const, position },
          config: { markdown },
        })),
      },
      'config',
    );
    for (const check of [requirePlainSpec, requireVegaLite]) {
      for (let i = 0; i < 10; i++) check({ title: text, mark: 'bar' });
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  cpuMs(1000);
  const small = cpuMs(3000);
  // Sixteen times the text takes 256 times as long if the work grows with the square.
  expect(cpuMs(48_000)).toBeLessThan(Math.max(10, small) * 80);
});
