import { expect, test } from 'vitest';
import { nodeBytes, toSourceTree } from './listing.ts';

test('files are put into their folders, in their order', () => {
  const files = ['a.yml', 'model/cubes/x.yml', 'model/cubes/y.yml', 'model/z.yml'];
  expect(toSourceTree(files.map((path) => ({ path, content: path })))).toEqual([
    { path: 'a.yml', type: 'file', content: 'a.yml' },
    {
      path: 'model',
      type: 'directory',
      children: [
        {
          path: 'model/cubes',
          type: 'directory',
          children: [
            { path: 'model/cubes/x.yml', type: 'file', content: 'model/cubes/x.yml' },
            { path: 'model/cubes/y.yml', type: 'file', content: 'model/cubes/y.yml' },
          ],
        },
        { path: 'model/z.yml', type: 'file', content: 'model/z.yml' },
      ],
    },
  ]);
});

test('files without content have none, and no files are no tree', () => {
  expect(toSourceTree([{ path: 'a' }])).toEqual([{ path: 'a', type: 'file' }]);
  expect(toSourceTree([])).toEqual([]);
});

test('the size of a list is known before it is made', () => {
  const deep = Array.from(
    { length: 300 },
    (_, i) => `${i % 3}${'/folder'.repeat(i % 20)}/${i}/file.yml`,
  ).sort();
  const known = deep.reduce((sum, path, i) => sum + nodeBytes(path, deep[i - 1]), 0);
  const { length } = JSON.stringify(toSourceTree(deep.map((path) => ({ path }))));
  expect(known / length).toBeGreaterThan(0.9);
  expect(known / length).toBeLessThan(1.2);
});
