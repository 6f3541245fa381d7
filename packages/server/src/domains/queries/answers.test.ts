import { expect, inject, test } from 'vitest';
import type { WholeBytes } from '../../platform/http/streams.ts';
import { sqlAnswerText } from './answers.ts';
import { bufferText, type StoredText } from './buffered-text.ts';

const resultOf = <Rows extends Buffer | StoredText>(rows: Rows) => ({
  rows,
  columns: [],
  rowCount: 0,
  isCapped: false,
  at: new Date(),
});

const uncounted = () => ({ giveBack() {} });

test('the rows of a large answer that is kept are sent without a copy', async () => {
  const rows = Buffer.alloc(100_000, 'x');
  const answer = sqlAnswerText([], resultOf(rows), uncounted);
  const pieces: Uint8Array[] = [];
  for await (const piece of answer as AsyncIterable<Uint8Array>) pieces.push(piece);
  expect(pieces.some((piece) => piece.buffer === rows.buffer && piece.length === rows.length)).toBe(true);
});

test('a small answer that is kept is one buffer', () => {
  const answer = sqlAnswerText([], resultOf(Buffer.from('[[1]]')), uncounted);
  expect(answer.toString()).toMatch(/^\{"schema":\[\],.*\n\{"data":\[\[1\]\]\}\n\{"rowsCapped":false\}\n$/);
});

test('an answer from a file is sent from there and released, however small it is', async () => {
  const text = bufferText(inject('runFolder'), 3);
  await text.add(Buffer.from('[[1]]'));
  const rows = text.end() as StoredText;
  let unread = 0;
  const count = (bytes: number) => {
    unread += bytes;
    return {
      giveBack() {
        unread -= bytes;
      },
    };
  };
  const answer = sqlAnswerText([], resultOf(rows), count) as WholeBytes;
  expect(unread).toBe(answer.byteLength);
  const pieces: Uint8Array[] = [];
  for await (const piece of answer) pieces.push(piece);
  expect(Buffer.concat(pieces)).toHaveLength(answer.byteLength);
  expect(Buffer.concat(pieces).toString()).toContain('{"data":[[1]]}');
  answer.release();
  expect(unread).toBe(0);
  await expect(rows.pieces()[Symbol.asyncIterator]().next()).rejects.toThrow();
});
