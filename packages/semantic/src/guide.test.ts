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
  expect([...model!.cubes.keys()].sort()).toEqual([
    'base_orders',
    'customers',
    'invoices',
    'open_orders',
    'orders',
    'regions',
  ]);
  expect(model!.cubes.get('open_orders')!.policies).toHaveLength(1);
  expect([...model!.views.get('sales')!.members.keys()]).toContain('customer_region');
});
