/** The guide and the code must say the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { compileModel } from './index.ts';

const guide = readFileSync(join(import.meta.dirname, '../../../docs/modelling.md'), 'utf8');
const examples = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text!);

test('the examples of the guide are one valid model', () => {
  expect(examples.length).toBeGreaterThan(4);
  const files = new Map(examples.map((text, i) => [`model/${i}.yml`, text]));
  const { errors, warnings, model } = compileModel(files);
  expect(errors).toEqual([]);
  expect(warnings).toEqual([]);
  expect([...model!.cubes.keys()].sort()).toEqual(['customers', 'invoices', 'orders', 'regions']);
  expect([...model!.views.get('sales')!.members.keys()]).toContain('customer_region');
});

/** What is allowed where, as the error for a key that does not exist lists it. */
const keysOf = (text: string) => {
  const { errors } = compileModel(new Map([['model/a.yml', text]]));
  const hint = errors.find(({ code }) => code === 'unknown_key')!.hint!;
  return [...hint.matchAll(/`(\w+)`/g)].map(([, key]) => key!);
};

test.each([
  ['a cube', 'cubes: [{ zzzzzzzzzz: 1 }]'],
  ['a dimension', 'cubes: [{ dimensions: [{ zzzzzzzzzz: 1 }] }]'],
  ['a granularity', 'cubes: [{ dimensions: [{ granularities: [{ zzzzzzzzzz: 1 }] }] }]'],
  ['a case', 'cubes: [{ dimensions: [{ case: { zzzzzzzzzz: 1 } }] }]'],
  ['a measure', 'cubes: [{ measures: [{ zzzzzzzzzz: 1 }] }]'],
  ['a rolling window', 'cubes: [{ measures: [{ rolling_window: { zzzzzzzzzz: 1 } }] }]'],
  ['a segment', 'cubes: [{ segments: [{ zzzzzzzzzz: 1 }] }]'],
  ['a hierarchy', 'cubes: [{ hierarchies: [{ zzzzzzzzzz: 1 }] }]'],
  ['a join', 'cubes: [{ joins: [{ zzzzzzzzzz: 1 }] }]'],
  ['a view', 'views: [{ zzzzzzzzzz: 1 }]'],
  ['an item of a view', 'views: [{ cubes: [{ zzzzzzzzzz: 1 }] }]'],
  ['an item of includes', 'views: [{ cubes: [{ includes: [{ zzzzzzzzzz: 1 }] }] }]'],
  ['a policy', 'cubes: [{ access_policy: [{ zzzzzzzzzz: 1 }] }]'],
  ['the rows of a policy', 'cubes: [{ access_policy: [{ row_level: { zzzzzzzzzz: 1 } }] }]'],
  ['the members of a policy', 'cubes: [{ access_policy: [{ member_level: { zzzzzzzzzz: 1 } }] }]'],
  ['a filter of a policy', 'cubes: [{ access_policy: [{ row_level: { filters: [{ zzzzzzzzzz: 1 }] } }] }]'],
])('the guide describes every key of %s', (_, text) => {
  const keys = keysOf(text);
  expect(keys.length).toBeGreaterThan(1);
  for (const key of keys) expect(guide).toContain(`\`${key}\``);
});
