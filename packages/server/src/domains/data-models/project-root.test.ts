import { expect, test } from 'vitest';
import { normalRoot, rootOf, rootProblem } from './project-root.ts';

test.each([
  ['/', '', '/'],
  ['', '', '/'],
  ['/analytics/model/', 'analytics/model/', '/analytics/model'],
  ['analytics', 'analytics/', '/analytics'],
  ['./a//b', 'a/b/', '/a/b'],
  ['mode\u0300le', 'mod\u00e8le/', '/mod\u00e8le'],
])('the root %s is one folder, in one form', (given, root, normal) => {
  expect(rootOf(given)).toBe(root);
  expect(normalRoot(given)).toBe(normal);
  expect(normalRoot(normal)).toBe(normal);
  expect(rootProblem(given)).toBeUndefined();
});

test.each([' ', '.git', 'a/.git', 'é'.repeat(200), 'a/../b', 'con', 'x/'.repeat(21)])(
  'a root follows the rules of paths: %s',
  (root) => {
    expect(rootProblem(root)).toMatch(/^must/);
  },
);
