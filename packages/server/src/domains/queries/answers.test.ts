import { expect, test } from 'vitest';
import { sqlAnswerText } from './answers.ts';

const resultOf = (rows: Buffer) => ({ rows, columns: [], rowCount: 0, isCapped: false, at: new Date() });

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
