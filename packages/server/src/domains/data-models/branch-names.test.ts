import { expect, test } from 'vitest';
import { isBranchName } from '../../platform/git/names.ts';
import { devBranchName, namesAbove } from './branch-names.ts';

test.each([
  ['ada', 'dev-ada'],
  ['ada@example.com', 'dev-ada@example-com'],
  ['Ada Lovelace', 'dev-Ada-Lovelace'],
  ['../..', 'dev-user'],
  ['-x.lock', 'dev-x-lock'],
  ['李雷', 'dev-李雷'],
  ['x'.repeat(300), `dev-${'x'.repeat(40)}`],
  ['😀', 'dev-user'],
])('the branch of the user %s is %s', (username, name) => {
  expect(devBranchName(username)).toBe(name);
  expect(isBranchName(name)).toBe(true);
});

test('a name excludes the names above it', () => {
  expect(namesAbove('a/b/c')).toEqual(['a', 'a/b']);
  expect(namesAbove('a')).toEqual([]);
});
