import { expect, test } from 'vitest';
import { ApiError, found } from './errors.ts';

test('found returns the row if there is one', () => {
  const row = { id: 1 };
  expect(found(row, 'role_not_found')).toBe(row);
  expect(found(0, 'role_not_found')).toBe(0);
});

test.each([undefined, null])('found throws the 404 of its code for %s', (row) => {
  const error = expect.objectContaining({ code: 'role_not_found', statusCode: 404 });
  expect(() => found(row, 'role_not_found')).toThrow(ApiError);
  expect(() => found(row, 'role_not_found')).toThrow(error);
});
