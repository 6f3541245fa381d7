import { inflateRawSync } from 'node:zlib';
import type { TableColumn } from '@oriel/charts';
import { expect, test } from 'vitest';
import { emptyQuestion } from './question.ts';
import { arrangeColumns, type ColumnSettings, movedColumn, setColumns, withColumn } from './table-columns.ts';
import { xlsxOf } from './xlsx.ts';

const column = (member: string, more: Partial<TableColumn> = {}) =>
  ({ member, title: member, isNumber: false, ...more }) as TableColumn;
const names = (columns: readonly ColumnSettings[]) => columns.map(({ member }) => member).join(' ');

test('columns are moved and pinned, and settings outlive changes of the question', () => {
  const columns = ['a', 'b', 'c', 'd'].map((name) => column(name));
  const first = arrangeColumns(columns, []);
  expect(names(first)).toBe('a b c d');
  expect(names(movedColumn(first, 'd', { before: 'b' }))).toBe('a d b c');
  expect(names(movedColumn(first, 'a', { before: 'c' }))).toBe('b c a d');
  expect(names(movedColumn(first, 'b', { step: 1 }))).toBe('a c b d');
  expect(names(movedColumn(first, 'a', { step: -1 }))).toBe('a b c d');
  const pinned = arrangeColumns(columns, withColumn(first, 'c', { pinned: true, bar: true }));
  expect(names(pinned)).toBe('c a b d');
  // A column stays among its own.
  expect(names(movedColumn(pinned, 'a', { step: -1 }))).toBe('c a b d');
  // What is gone is left out, what is new stands at the end, and what comes back has its settings again.
  expect(names(arrangeColumns([column('e'), column('b'), column('a')], pinned))).toBe('a b e');
  expect(withColumn(pinned, 'c', { bar: false, pinned: undefined as never })[0]).toEqual({ member: 'c' });
  const chosen = {
    ...emptyQuestion('sales'),
    visualization: { type: 'line' as const, labels: 'value' as const },
  };
  expect(setColumns(chosen, 'table', pinned).visualization).toEqual({
    type: 'line',
    labels: 'value',
    columns: pinned,
  });
});

/** The files of a ZIP, by its directory. */
function unzip(bytes: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  const end = bytes.length - 22;
  expect(bytes.readUInt32LE(end)).toBe(0x06054b50);
  let at = bytes.readUInt32LE(end + 16);
  for (let i = bytes.readUInt16LE(end + 10); i > 0; i--) {
    expect(bytes.readUInt32LE(at)).toBe(0x02014b50);
    const [packed, size, length] = [
      bytes.readUInt32LE(at + 20),
      bytes.readUInt32LE(at + 24),
      bytes.readUInt16LE(at + 28),
    ];
    const name = bytes.toString('utf8', at + 46, at + 46 + length);
    const begin = bytes.readUInt32LE(at + 42) + 30 + length;
    const text = inflateRawSync(bytes.subarray(begin, begin + packed));
    expect(text.length).toBe(size);
    files.set(name, text.toString('utf8'));
    at += 46 + length;
  }
  return files;
}

test('a workbook holds numbers, times and texts as what they are, and no formula', async () => {
  const columns = [
    column('name', { title: 'Name & <co>' }),
    column('n', { isNumber: true }),
    column('share', { isNumber: true, shown: { format: 'percent' } as TableColumn['shown'] }),
    column('at'),
  ];
  const rows = [
    { name: '=1+1', n: '12.50', share: '0.25', at: '2026-03-01T00:00:00.000' },
    { name: 'a\u0000\ud800<b>&_x0041_', n: '9007199254740993', share: null, at: '2026-03-01T12:00:00.000' },
    { name: null, n: '1e400', share: 0, at: '1700-01-01T00:00:00.000' },
    { name: true, n: 7, share: '1', at: 'soon' },
  ];
  const blob = await xlsxOf(
    [...rows, ...Array.from({ length: 1200 }, (_, i) => ({ name: `row ${i}` }))],
    columns,
  );
  const files = unzip(Buffer.from(await blob.arrayBuffer()));
  expect([...files.keys()].sort()).toEqual([
    '[Content_Types].xml',
    '_rels/.rels',
    'xl/_rels/workbook.xml.rels',
    'xl/styles.xml',
    'xl/workbook.xml',
    'xl/worksheets/sheet1.xml',
  ]);
  const sheet = files.get('xl/worksheets/sheet1.xml')!;
  const cells = [...sheet.matchAll(/<row>(.*?)<\/row>/g)].map(([, row]) =>
    [...row!.matchAll(/<c(?:\/>|([^>]*)>(?:<v>(.*?)<\/v>|<is><t[^>]*>(.*?)<\/t><\/is>)<\/c>)/g)].map(
      ([, , number, text]) => number ?? text ?? null,
    ),
  );
  expect(cells).toHaveLength(1205);
  expect(cells[0]).toEqual(['Name &amp; &lt;co&gt;', 'n', 'share', 'at']);
  // 2026-03-01 is day 46082 of spreadsheets.
  expect(cells[1]).toEqual(['=1+1', '12.5', '0.25', '46082']);
  expect(cells[2]).toEqual(['a&lt;b&gt;&amp;_x005F_x0041_', '9007199254740993', null, '46082.5']);
  expect(cells[3]).toEqual([null, '1e400', '0', '1700-01-01T00:00:00.000']);
  expect(cells[4]).toEqual(['1', '7', '1', 'soon']);
  expect(sheet).toContain('t="inlineStr"><is><t xml:space="preserve">=1+1<');
  expect(sheet).toContain('t="inlineStr"><is><t xml:space="preserve">9007199254740993<');
  expect(sheet).not.toContain('<f>');
});
