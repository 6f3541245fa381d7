/** Limits on the memory of bodies that are being received, tested with streams instead of connections. */
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { createBodyReader } from './body-reader.ts';

const KB = 1024;
const MB = 1024 * KB;
/** The size up to which a body is not counted. */
const SMALL_BYTES = 64 * KB;
/** The limit for all callers together, and for each of them. */
const COUNTED_MAX = 128 * MB;
const COUNTED_SHARE = 32 * MB;
const BODY_BYTES = 8 * MB;

/** The same memory is used repeatedly, because only the bytes are counted. */
const CHUNK = Buffer.alloc(MB);

function createSender() {
  const read = createBodyReader();

  /** Sends a body of which this much has arrived. */
  return (sharer: string, bytes: number) => {
    const payload = Object.assign(new EventEmitter(), { destroyed: false });
    const outcome: { status?: number; bytes?: number } = {};
    const limits = { maxBytes: 2 * BODY_BYTES, announcedBytes: Number.NaN, sharer, withinMs: undefined };
    read(payload as unknown as IncomingMessage, limits, (error, body) => {
      if (error) outcome.status = (error as { statusCode?: number }).statusCode;
      else outcome.bytes = body!.length;
    });
    for (let left = bytes; left > 0; left -= CHUNK.length) payload.emit('data', CHUNK.subarray(0, left));
    return { outcome, end: () => payload.emit('end'), leave: () => payload.emit('close') };
  };
}

/** Sends as many unfinished bodies as all callers together may have. Each caller stays within their share. */
function fill(send: ReturnType<typeof createSender>) {
  const callers = Array.from({ length: COUNTED_MAX / COUNTED_SHARE }, (_, i) => `caller ${i}`);
  const bodies = callers.flatMap((caller) =>
    Array.from({ length: COUNTED_SHARE / BODY_BYTES }, () => send(caller, BODY_BYTES + SMALL_BYTES)),
  );
  expect(bodies.map(({ outcome }) => outcome)).toEqual(bodies.map(() => ({})));
  return bodies;
}

test('callers who each stay within their share have a limit together', () => {
  const send = createSender();
  fill(send);
  expect(send('one more', SMALL_BYTES + 1).outcome).toEqual({ status: 503 });
});

test('small bodies are accepted even if large ones are refused', () => {
  const send = createSender();
  fill(send);
  const small = send('one more', SMALL_BYTES);
  small.end();
  expect(small.outcome).toEqual({ bytes: SMALL_BYTES });
});

test.each(['end', 'leave'] as const)('there is room again for large bodies when others %s', (how) => {
  const send = createSender();
  const bodies = fill(send);
  bodies[0]![how]();
  const large = send('one more', BODY_BYTES + SMALL_BYTES);
  large.end();
  expect(large.outcome).toEqual({ bytes: BODY_BYTES + SMALL_BYTES });
  // Checks that no memory was given back twice.
  const again = send('one more', BODY_BYTES + SMALL_BYTES);
  expect([again.outcome, send('one more', SMALL_BYTES + 1).outcome]).toEqual([{}, { status: 503 }]);
});
