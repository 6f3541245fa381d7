import { describe, expect, test } from 'vitest';
import { compileText, expectError, FILE, orders } from '../test/marked.ts';
import { compileModel } from './index.ts';

test.each<[string, string, Parameters<typeof expectError>[1]]>([
  [
    'a key given twice',
    orders('    title: a\n    «title: b\n'),
    { code: 'duplicate_key', message: /`title`/ },
  ],
  ['a tag', orders('    title: !!js/function «"x"\n'), { code: 'unsupported', message: /tag/ }],
  ['an unclosed quote', orders('    title: "a«'), { code: 'invalid_yaml' }],
  ['a tab as indent', orders('«\ttitle: a\n'), { code: 'invalid_yaml' }],
  ['a second document', orders('«---\ncubes: []\n'), { code: 'unsupported', hint: /---/ }],
  ['a template', orders('    title: «{{ name }}\n'), { code: 'template', message: /cannot run code/ }],
  ['a template in quotes', orders('    title: "«{% if x %}"\n'), { code: 'template' }],
  ['a list as the file', '«- a\n', { code: 'bad_value' }],
  ['a text as the file', '«hello\n', { code: 'bad_value', hint: /`cubes`/ }],
  ['a map as a key', orders('    meta:\n      ? «{ a: 1 }\n      : 2\n'), { code: 'invalid_yaml' }],
])('%s is refused, at its place', (_, text, expected) => {
  expectError(text, expected);
});

test('a reference without quotes gets a hint that it needs them', () => {
  const inText = orders('    segments2:\n').replace('"{CUBE}.status = \'open\'"', "{CUBE}.status = 'open'");
  expect(compileText(inText).errors[0]).toMatchObject({ code: 'invalid_yaml', line: 13, hint: /quotes/ });
  const alone =
    'cubes:\n  - name: a\n    sql_table: a\n    measures:\n      - name: x\n        type: number\n        sql: «{total}\n';
  expectError(alone, { code: 'bad_value', hint: /quotes/ });
});

test.each([
  ['a colon in a text', '    title: «Orders: all\n', /quotes/],
  ['two keys in a line', '    title: «Orders description: all\n', /line of its own/],
  ['a key that is indented too far', '    title: «Orders\n      description: all\n', /indentation/],
])('%s is one error, in plain words', (_, lines, hint) => {
  expectError(orders(lines), { code: 'invalid_yaml', message: /Another key begins/, hint });
});

test('a misspelt key is one error, although the key is needed', () => {
  const text = orders().replace('type: ', '«tpye: ');
  expectError(text, { code: 'unknown_key', message: /`tpye`/, hint: /`type`/ });
});

test('a template in a comment is no template', () => {
  expect(compileText(`# {{ this }} is only a comment\n${orders()}`).errors).toEqual([]);
});

test.each([
  ['flow lists', '['],
  ['flow maps', '{a: '],
  ['block lists', '- '],
  ['explicit keys', '? '],
])('a file of nothing but %s is too deep, and is not read to its end', (_, opening) => {
  const { errors } = compileText(
    `cubes: ${opening.startsWith('-') || opening.startsWith('?') ? '\n  ' : ''}${opening.repeat(100_000)}`,
  );
  expect(errors).toMatchObject([{ code: 'too_deep', file: FILE }]);
});

test('twenty thousand keys in one map are read, and the repeated one is found', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => `      k${i}: 1`).join('\n');
  const text = orders(`    meta:\n${keys}\n      k5: 2\n`);
  expect(compileText(text).errors.map(({ code }) => code)).toEqual(['too_large', 'duplicate_key']);
});

describe('files', () => {
  const compile = (files: Record<string, string>) => compileModel(new Map(Object.entries(files)));

  test('an empty file and an empty model are valid', () => {
    expect(compile({})).toMatchObject({ errors: [], cubesCount: 0 });
    expect(
      compile({ 'model/a.yml': '', 'model/b.yaml': '# nothing yet\n', 'model/c.yml': 'cubes:\n' }).errors,
    ).toEqual([]);
  });

  test('YAML that is not of the model is left alone, wherever cubes are written they count', () => {
    const { errors, cubesCount } = compile({
      'docker-compose.yml': 'services: {}\n',
      'README.md': '# {{ x }}',
      'package.json': '{}',
      'cube.js': 'module.exports = {}',
      'orders.yml': orders(),
    });
    expect(errors).toEqual([]);
    expect(cubesCount).toBe(1);
  });

  test.each(['model/orders.js', 'model/cubes/a.py', 'schema/b.jinja'])(
    '%s is refused, because a model cannot run code',
    (file) => {
      const { errors } = compile({ [file]: 'cube(`orders`, {})' });
      expect(errors).toMatchObject([{ code: 'code_file', file, line: 1, column: 1 }]);
    },
  );

  test('errors come in the order of files and lines, and are at most a hundred', () => {
    const lines = Array.from(
      { length: 150 },
      (_, i) => `      - { name: d${i}, sql: x, type: nothing }`,
    ).join('\n');
    const { errors } = compile({
      'model/b.yml': 'x: 1\n',
      'model/a.yml': `cubes:\n  - name: a\n    sql_table: a\n    dimensions:\n${lines}\n`,
    });
    expect(errors).toHaveLength(100);
    expect(errors.map(({ file, line }) => `${file}:${line}`).slice(0, 2)).toEqual([
      'model/a.yml:5',
      'model/a.yml:6',
    ]);
  });

  test('more than 20 MB is refused', () => {
    const files = Object.fromEntries(
      Array.from({ length: 21 }, (_, i) => [`model/${i}.yml`, `#${'x'.repeat(1024 * 1024)}\n`]),
    );
    expect(compile(files).errors).toMatchObject([{ code: 'too_large' }]);
  });
});
