/** A value that cannot be bound does not compile. If a cast hides its type, it fails at run time. */
import { describe, expect, test } from 'vitest';
import { json, sql } from './sql.ts';

describe('a statement accepts', () => {
  test('texts, numbers, booleans, null, bytes and arrays of them', () => {
    const bytes = Buffer.from('bytes');
    const { text, values } =
      sql`select ${'text'}, ${1}, ${true}, ${null}, ${bytes}, ${[1, 2]}, ${[['a'], [null]]}`;
    expect(text).toBe('select $1, $2, $3, $4, $5, $6, $7');
    expect(values).toEqual(['text', 1, true, null, bytes, [1, 2], [['a'], [null]]]);
  });

  test('other statements, whose values get the next numbers', () => {
    const condition = sql`a = ${1} and b = ${2}`;
    const { text, values } = sql`select ${0} where ${condition} limit ${3}`;
    expect(text).toBe('select $1 where a = $2 and b = $3 limit $4');
    expect(values).toEqual([0, 1, 2, 3]);
  });

  test('values for JSON columns, alone and in arrays', () => {
    const row: { name: string; tags?: string[] } = { name: 'x' };
    expect(sql`${json(row)}, ${json('text')}, ${json([1, null])}, ${[json({}), json(null)]}`.values).toEqual([
      '{"name":"x"}',
      '"text"',
      '[1,null]',
      ['{}', null],
    ]);
  });

  test('the null of SQL if a JSON value is null', () => {
    expect(sql`${json(null)}`.values).toEqual([null]);
  });
});

const promise = Promise.resolve(1);
const missing = undefined as undefined;

describe('a statement refuses', () => {
  test.each([
    // @ts-expect-error
    ['a promise', () => sql`${promise}`],
    // @ts-expect-error
    ['a function', () => sql`${() => 1}`],
    // @ts-expect-error
    ['undefined', () => sql`${missing}`],
    // @ts-expect-error
    ['an object', () => sql`${{ id: 1 }}`],
    // @ts-expect-error
    ['a time that would lose its microseconds', () => sql`${new Date()}`],
    // @ts-expect-error
    ['a bigint', () => sql`${1n}`],
    // @ts-expect-error
    ['a symbol', () => sql`${Symbol('secret')}`],
    // @ts-expect-error
    ['an array with one of these', () => sql`${['a', missing]}`],
    // @ts-expect-error
    ['an array of promises', () => sql`${[promise]}`],
  ])('%s', (_, statement) => {
    expect(statement).toThrow(/^an? (value|object) of type \w+ cannot be bound to a statement$/);
  });
});

describe('a JSON column refuses', () => {
  test.each([
    // @ts-expect-error
    ['a promise', () => json(promise)],
    // @ts-expect-error
    ['a function', () => json(() => 1)],
    // @ts-expect-error
    ['undefined', () => json(missing)],
    // @ts-expect-error
    ['a symbol', () => json(Symbol('secret'))],
  ])('%s', (_, value) => {
    expect(value).toThrow(/ has no JSON form$/);
  });
});
