/** Models that a few words make large. */
import { expect, test } from 'vitest';
import { compileText } from '../test/marked.ts';
import { modelOf, somebody } from '../test/plans.ts';
import { CUBES_MAX, MEMBERS_MAX, metaOf, metaText, packModel, unpackModel } from './index.ts';

const times = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const cube = (count: number, more = '', key = '') => `cubes:
  - name: a
    sql_table: a
${more}    dimensions:
${times(count, (i) => `      - { name: d${i}, sql: x, type: string${key} }\n`).join('')}`;
const views = (count: number) =>
  `views:\n${times(count, (i) => `  - { name: v${i}, cubes: [{ join_path: a, includes: "*" }] }\n`).join('')}`;

test('a model has at most 50,000 members', () => {
  expect(compileText(cube(MEMBERS_MAX + 1)).errors).toMatchObject([
    { code: 'too_large', line: 2, message: expect.stringContaining('at most 50000 members') },
  ]);
});

test('a model has at most 5,000 cubes', () => {
  const text = `cubes:\n${times(CUBES_MAX + 1, (i) => `  - { name: c${i}, sql_table: t }\n`).join('')}`;
  expect(compileText(text).errors).toMatchObject([
    { code: 'too_large', line: CUBES_MAX + 2, message: 'A model has at most 5000 cubes.' },
  ]);
});

test('members of views count', () => {
  expect(compileText(cube(1000) + views(4)).errors).toEqual([]);
  expect(compileText(cube(1000) + views(60)).errors).toMatchObject([
    { code: 'too_large', line: 1055, message: expect.stringContaining('those of views included') },
  ]);
});

test('texts that views take over count again', () => {
  const text = cube(100, '', `, description: "${'x'.repeat(9000)}"`) + views(30);
  expect(compileText(text).errors).toMatchObject([
    { code: 'too_large', message: expect.stringContaining('take over') },
  ]);
});

test('what policies open counts', () => {
  const policies = times(200, () => '{ group: g, member_level: { excludes: [d1] } }').join(', ');
  const text = cube(5010, `    access_policy: [${policies}]\n`);
  expect(compileText(text).errors).toMatchObject([
    { code: 'too_large', message: expect.stringContaining('member_level') },
  ]);
  const more = times(201, () => '{ group: g }').join(', ');
  expect(compileText(cube(1, `    access_policy: [${more}]\n`)).errors).toMatchObject([
    { code: 'too_large', message: expect.stringContaining('at most 200') },
  ]);
});

test('a model that was packed is the same again, and no part of it is large', () => {
  const model = modelOf(cube(250) + views(2));
  const unpacked = unpackModel();
  for (const part of packModel(model)) {
    if ('items' in part) expect(part.items.length).toBeLessThanOrEqual(100);
    unpacked.add(structuredClone(part));
  }
  expect(unpacked.model).toEqual(model);
});

test('the text of what can be queried comes in pieces of a hundred members', () => {
  const model = modelOf(cube(1000) + views(1));
  const pieces = [...metaText(model, somebody)];
  expect(Math.max(...pieces.map((piece) => piece.split('"shortTitle"').length - 1))).toBe(100);
  expect(JSON.parse(pieces.join(''))).toEqual(metaOf(model, somebody));
  expect(JSON.parse([...metaText(model, somebody, { onlyViews: true })].join(''))).toMatchObject([
    { name: 'v0', type: 'view' },
  ]);
});
