import { describe, expect, test } from 'vitest';
import { below, planFinish, transactionId } from './rules.ts';

const ID = '0190a0f2-1111-4222-8333-444455556666';

test.each([
  ['the bare id', ID, ID],
  ['the id with spaces around it', ` ${ID}\n`, ID],
  ['JSON', JSON.stringify({ id: ID }), ID],
  ['JSON with more fields', JSON.stringify({ id: ID, x: 1 }), ID],
  ['JSON that is cut', `{"id":"${ID}`, undefined],
  ['JSON with a number', '{"id":7}', undefined],
  ['JSON without an id', '{}', undefined],
  ['another id', '1', undefined],
  ['null', 'null', undefined],
])('the transaction of a form is read: %s', (_, field, id) => {
  expect(transactionId(field)).toBe(id);
});

test('only files below the root are shown, by their paths from there', () => {
  const files = new Map([
    ['a.yml', '1'],
    ['x/b.yml', '2'],
    ['xy/c.yml', '3'],
  ]);
  expect([...below('x/', files)]).toEqual([['b.yml', '2']]);
  expect([...below('', files)]).toEqual([...files]);
});

describe('the plan of a finish', () => {
  const present = new Map([
    ['same.yml', 'blob-same'],
    ['old.yml', 'blob-old'],
    ['gone.yml', 'blob-gone'],
  ]);
  const blobByDigest = new Map([
    ['same', 'blob-same'],
    ['old', 'blob-old'],
    ['gone', 'blob-gone'],
    ['new', 'blob-new'],
  ]);
  const plan = (wanted: Record<string, string>, removesOthers = true) =>
    planFinish({ present, blobByDigest, wanted: new Map(Object.entries(wanted)), removesOthers });

  test('changes what differs, and removes what is not wanted', () => {
    const { edits, unknown } = plan({ 'same.yml': 'same', 'old.yml': 'new' });
    expect(unknown).toEqual([]);
    expect([...edits]).toEqual([
      ['old.yml', 'blob-new'],
      ['gone.yml', null],
    ]);
  });

  test('without removal, other files stay', () => {
    expect([...plan({ 'new.yml': 'new' }, false).edits]).toEqual([['new.yml', 'blob-new']]);
  });

  test('a file that was only moved need not be sent', () => {
    expect([...plan({ 'same.yml': 'same', 'old.yml': 'old', 'moved.yml': 'gone' }).edits]).toEqual([
      ['moved.yml', 'blob-gone'],
      ['gone.yml', null],
    ]);
  });

  test('names the paths whose content nobody has', () => {
    expect(plan({ 'a.yml': 'nobody has this', 'same.yml': 'same' }).unknown).toEqual(['a.yml']);
  });
});
