import { expect, test } from 'vitest';
import { changed, created, deleted } from './change.ts';

const before = { id: 7, name: 'old' };
const after = { id: 7, name: 'new' };

test('a change holds the id of the row, and the row before and after', () => {
  expect(created(after)).toEqual({ id: 7, before: null, after });
  expect(changed(before, after)).toEqual({ id: 7, before, after });
  expect(deleted(before)).toEqual({ id: 7, before, after: null });
});
