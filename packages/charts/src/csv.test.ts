import { expect, test } from 'vitest';
import { csvOf } from './csv.ts';
import type { Column } from './table.ts';

const column = (member: string, title: string) => ({ member, title }) as Column;

test('texts that a spreadsheet would run as formulas are texts', () => {
  const values = [
    '=1+1',
    '+A1',
    '-1',
    '-1+A1',
    '@x',
    '\tx',
    'a"b',
    'a\r\nb',
    ' a',
    null,
    -2,
    '9007199254740993',
  ];
  const rows = values.map((value) => ({ a: value }));
  expect(csvOf(rows, [column('a', '=cmd()')])).toBe(
    [
      ...["'=cmd()", "'=1+1", "'+A1", '-1', "'-1+A1", "'@x", "'\tx", '"a""b"', '"a\r\nb"', '" a"'],
      ...['', '-2', '9007199254740993', ''],
    ].join('\r\n'),
  );
});
