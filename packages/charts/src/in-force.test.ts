import { expect, test } from 'vitest';
import { createFormats } from './format.ts';
import { inForce } from './in-force.ts';
import type { FilterValue, Widget } from './types.ts';

const WRITING = { formats: createFormats('en'), locale: 'en', timezone: 'UTC' };

test.each<[string | undefined, FilterValue, string]>([
  ['date-range', { operator: 'between', value: ['2026-01-01', '2026-03-31'] }, 'Jan – Mar 2026'],
  ['date-range', { operator: 'between', value: 'from 3 days ago to now' }, 'from 3 days ago to now'],
  ['number-range', { operator: 'between', value: [5, Number.MAX_SAFE_INTEGER] }, '≥ 5'],
  ['number-range', { operator: 'between', value: [-Number.MAX_SAFE_INTEGER, 9] }, '≤ 9'],
  ['number-range', { operator: 'between', value: [5, 9] }, '5 – 9'],
  ['select', { operator: 'equals', value: ['Germany', 'France'] }, 'Germany, France'],
  ['select', { operator: 'equals', value: [...'abcdefg'] }, 'a, b, c, d, e, +2'],
  ['search', { operator: 'contains', value: ['lamp'] }, '…lamp…'],
  [undefined, { operator: 'not_equals', value: 'new' }, '≠ new'],
  [undefined, { operator: 'greater_than', value: 7 }, '> 7'],
  [undefined, { operator: 'is_null', value: null }, '–'],
])('a filter of the kind %s, %j, is in force as %s', (kind, filter, text) => {
  const widget = { id: 'f', type: 'FILTER', config: { member: 'a.ordered_on', kind } } as unknown as Widget;
  const shown = inForce([widget, widget], new Map([['a.ordered_on', filter]]), WRITING);
  expect(shown.map((each) => ({ ...each, text: each.text.replaceAll('\u2009', ' ') }))).toEqual([
    { title: 'ordered on', text },
  ]);
});
