import { finished } from 'node:stream/promises';
import { expect, test } from 'vitest';
import { wholeStream } from './streams.ts';

function bytesOf(pieces: Buffer[], failure?: Error) {
  const released: string[] = [];
  return {
    released,
    byteLength: pieces.reduce((sum, { length }) => sum + length, 0),
    release: () => void released.push('released'),
    async *[Symbol.asyncIterator]() {
      if (failure) throw failure;
      yield* pieces;
    },
  };
}

const LARGE = Buffer.alloc(256 * 1024);

test('the bytes of a whole reply are released when they were read', async () => {
  const bytes = bytesOf([LARGE, LARGE]);
  const stream = await wholeStream(bytes);
  expect(bytes.released).toEqual([]);
  await finished(stream.resume());
  await expect.poll(() => bytes.released).toEqual(['released']);
});

test('a client who does not read is cut off, and the bytes are released', async () => {
  const bytes = bytesOf([LARGE, LARGE, LARGE]);
  const stream = await wholeStream(bytes, 20);
  await expect(finished(stream)).rejects.toMatchObject({ code: 'timed_out' });
  await expect.poll(() => bytes.released).toEqual(['released']);
});

test('bytes that cannot be sent are released', async () => {
  const failing = bytesOf([], new Error('no'));
  await expect(wholeStream(failing)).rejects.toThrow('no');
  expect(failing.released).toEqual(['released']);
  const left = bytesOf([LARGE]);
  (await wholeStream(left)).destroy();
  await expect.poll(() => left.released).toEqual(['released']);
});
