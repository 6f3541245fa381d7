/** Whatever is in the files, a compilation ends, and says what is wrong in the words that it has. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileModel } from './index.ts';

/** The factor for the number of runs, which is larger in `npm run test:worlds`. */
const SHARE = Number(process.env.ORIEL_TEST_RUNS ?? 0.2);

const DEMO = join(import.meta.dirname, '../../server/models/demo/main');
const demo = readdirSync(DEMO, { recursive: true })
  .map(String)
  .filter((file) => file.endsWith('.yml'))
  .map((file) => readFileSync(join(DEMO, file), 'utf8'))
  .join('\n')
  .replaceAll(/^(cubes|views):$/gm, (line, _, offset) => (offset === 0 ? line : `# ${line}`))
  .replace(/^# views:$/m, 'views:')
  .replace(/^# views:$/m, '');

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '{CUBE}',
  '{orders.id}',
  '"',
  "'",
  ':',
  '- ',
  '\n',
  '  ',
  '&a ',
  '*a',
  '!!x ',
  '|',
  '>',
  '? ',
  '{{',
  '{%',
  '#',
  '\t',
  '\0',
  '\ud800',
  '𝒳',
  '\\{',
  '---\n',
  '<<: ',
  'null',
  '~',
  '*',
  '__proto__',
  'constructor',
  'CUBE',
  '1e999',
  'true',
];

const edit = fc.record({
  at: fc.nat({ max: demo.length }),
  remove: fc.oneof(fc.nat({ max: 5 }), fc.nat({ max: 500 })),
  insert: fc.oneof(fc.constant(''), fc.constantFrom(...TOKENS), fc.string({ maxLength: 8 })),
});

const mutate = (text: string, edits: { at: number; remove: number; insert: string }[]) =>
  edits.reduce((now, { at, remove, insert }) => now.slice(0, at) + insert + now.slice(at + remove), text);

const CODES = /^[a-z]+(_[a-z]+)*$/;

function check(text: string) {
  const { model, errors, warnings, cubesCount } = compileModel(new Map([['model/a.yml', text]]));
  expect(model === undefined).toBe(errors.length > 0);
  expect(errors.length).toBeLessThanOrEqual(100);
  expect(cubesCount).toBeGreaterThanOrEqual(0);
  const lines = text.split('\n');
  for (const { code, message, file, line, column } of [...errors, ...warnings]) {
    expect(code).toMatch(CODES);
    expect(message).toMatch(/\.$/);
    expect(message.length).toBeLessThan(1000);
    expect(file).toBe('model/a.yml');
    expect(line).toBeGreaterThanOrEqual(1);
    expect(line).toBeLessThanOrEqual(lines.length);
    expect(column).toBeGreaterThanOrEqual(1);
    expect(column).toBeLessThanOrEqual(lines[line - 1]!.length + 1);
  }
}

test('the model of the demo in one file is valid', () => {
  expect(compileModel(new Map([['model/a.yml', demo]])).errors).toEqual([]);
});

test('a model with random edits compiles, or has errors with a place, a code and a message', () => {
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => check(mutate(demo, edits))),
    { numRuns: 75 * SHARE },
  );
});

test('random text compiles, or has errors', () => {
  const text = fc.array(
    fc.oneof(fc.constantFrom(...TOKENS), fc.constantFrom('cubes', 'views', 'name', 'sql', 'a', 'b', '.')),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(text, (tokens) => check(`cubes:\n  - name: a\n    ${tokens.join('')}`)),
    { numRuns: 500 * SHARE },
  );
});

/** Texts that cost a bad parser time that grows with the square of their length. */
const HARD: [string, (n: number) => string][] = [
  ['braces', (n) => orders(`"${'{'.repeat(n)}"`)],
  ['references', (n) => orders(`"${'{x}'.repeat(n)}"`)],
  ['escapes of braces', (n) => orders(`"${'\\x7b'.repeat(n)}"`)],
  ['names that do not exist', (n) => orders(`"{${'a.'.repeat(n)}a}"`)],
  ['templates in a comment', (n) => `# ${'{{ '.repeat(n)}\n${orders('x')}`],
  ['empty lines', (n) => orders('x') + '\n'.repeat(n)],
  ['spaces', (n) => orders('x') + ' '.repeat(n)],
  ['quotes', (n) => orders(`'${"''".repeat(n)}'`)],
  ['colons', (n) => orders('a: '.repeat(n))],
  ['dashes', (n) => orders('x').replace('cubes:', `cubes: ${'-'.repeat(n)}`)],
  ['anchors', (n) => `cubes: [${'&a b, '.repeat(n)}]`],
  ['keys', (n) => Array.from({ length: n / 10 }, (_, i) => `k${i}: 1\n`).join('')],
  [
    'members with the same mistake',
    (n) =>
      `cubes:\n  - name: a\n    sql_table: a\n    dimensions:\n${'      - { name: x, sql: "{y}", type: q }\n'.repeat(n / 40)}`,
  ],
];
const orders = (sql: string) =>
  `cubes:\n  - name: a\n    sql_table: a\n    dimensions:\n      - { name: x, type: string, sql: ${sql} }\n`;

test.each(HARD)('%s cost work that grows with their number, not with its square', (_, make) => {
  const cpuMs = (n: number) => {
    const text = make(n);
    const before = process.cpuUsage();
    check(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  cpuMs(1000);
  const small = cpuMs(5000);
  // Sixteen times the text takes 256 times as long if the work grows with the square.
  expect(cpuMs(80_000)).toBeLessThan(Math.max(12, small) * 80);
});
