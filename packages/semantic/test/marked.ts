/** Models for tables of tests. A `«` in a text marks the place where an error is expected. */
import { expect } from 'vitest';
import { compileModel, type Problem } from '../src/index.ts';
import { schemaProblems, schemaProblemsOfFilled } from './schema.ts';

export const FILE = 'model/test.yml';

export function compileText(text: string, more: Record<string, string> = {}) {
  const compiled = compileModel(new Map([[FILE, text], ...Object.entries(more)]));
  if (compiled.model) expect(schemaProblemsOfFilled(text), 'the schema accepts what compiles').toEqual([]);
  return compiled;
}

export interface ExpectedProblem {
  code: Problem['code'];
  message?: string | RegExp;
  hint?: string | RegExp;
}

/** The marked place must have this error, and it must be the only one. */
export function expectError(
  marked: string,
  { code, message, hint }: ExpectedProblem,
  more?: Record<string, string>,
) {
  const offset = marked.indexOf('«');
  expect(offset, 'the text has a mark').toBeGreaterThanOrEqual(0);
  const before = marked.slice(0, offset).split('\n');
  const text = marked.replace('«', '');
  const { errors, model } = compileText(text, more);
  if (code === 'unknown_key') expect(schemaProblems(text), 'the schema knows the same keys').not.toEqual([]);
  expect(model).toBeUndefined();
  expect(errors).toMatchObject([
    { code, file: FILE, line: before.length, column: before.at(-1)!.length + 1 },
  ]);
  if (message !== undefined) expect(errors[0]!.message).toMatch(message);
  if (hint !== undefined) expect(errors[0]!.hint).toMatch(hint);
}

/** A cube with members of every kind, and with these lines at its end. */
export const orders = (lines = '') => `cubes:
  - name: orders
    sql_table: public.orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
      - { name: paid, sql: paid, type: boolean }
      - { name: created_at, sql: created_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: total, sql: amount, type: sum }
    segments:
      - { name: open, sql: "{CUBE}.status = 'open'" }
    hierarchies:
      - { name: all, levels: [status, id] }
${lines}`;

/** A second cube, for joins: `lines` are added to it. */
export const customers = (lines = '') => `  - name: customers
    sql_table: customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: region, sql: region, type: string }
    measures:
      - { name: count, type: count }
${lines}`;

export const JOIN = `    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
`;

/** The cube `orders` with another dimension, measure or segment before its own. */
export const withDimension = (line: string) =>
  orders().replace('    dimensions:\n', `    dimensions:\n      - ${line}\n`);
export const withMeasure = (line: string) =>
  orders().replace('    measures:\n', `    measures:\n      - ${line}\n`);
export const withSegment = (line: string) =>
  orders().replace('    segments:\n', `    segments:\n      - ${line}\n`);
