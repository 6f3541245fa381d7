/**
 * Collects bodies within limits: the size of each body, the time that it takes, and the memory of all bodies that are
 * being received.
 */

import type { IncomingMessage } from 'node:http';
import { sizeText } from '@oriel/contract';
import { type ByteReservation, createByteBudget } from '../byte-budget.ts';
import { ApiError } from '../errors.ts';

const KB = 1024;
const MB = 1024 * KB;

/**
 * This much of each body is not counted, because the number of connections is limited and small requests must always be
 * accepted.
 */
const SMALL_BYTES = 64 * KB;
/** The limit for the rest of all bodies, until they are parsed or, for uploads, until the handler has ended. */
const LARGE_BYTES_MAX = 128 * MB;

/**
 * Returns the chunks of a body as they arrive, within the same limits. The rest stays unread; connections.ts handles
 * it.
 */
export async function* chunksOf(
  payload: IncomingMessage,
  limits: Omit<BodyLimits, 'sharer'>,
): AsyncGenerator<Buffer> {
  const { maxBytes, announcedBytes, withinMs } = limits;
  if (announcedBytes > maxBytes) throw tooLarge(maxBytes);
  const iterator = payload.iterator({ destroyOnReturn: false });
  let isLate = false;
  let giveUp = () => {};
  const onLate = () => {
    isLate = true;
    giveUp();
  };
  const timer = withinMs === undefined ? undefined : setTimeout(onLate, withinMs);
  // Each wait has a promise of its own. One that all of them share would hold every chunk until the body ends.
  const next = () =>
    new Promise<IteratorResult<Buffer>>((resolve, reject) => {
      giveUp = () => reject(new ApiError('request_timeout'));
      if (isLate) giveUp();
      else iterator.next().then(resolve, () => reject(cutOff()));
    });
  let received = 0;
  try {
    for (;;) {
      const step = await next();
      if (step.done) break;
      received += step.value.length;
      if (received > maxBytes) throw tooLarge(maxBytes);
      yield step.value;
    }
    if (received < announcedBytes) throw cutOff();
  } finally {
    clearTimeout(timer);
    // Not awaited, because it may wait for a chunk that never comes.
    iterator.return?.().catch(ignore);
    payload.on('error', ignore);
  }
}

const cutOff = () =>
  new ApiError('invalid_request', { message: 'The connection ended before the body did.' });

export interface BodyLimits {
  maxBytes: number;
  /** The Content-Length, or NaN if there is none. */
  announcedBytes: number;
  /** Whose share of the memory is used. */
  sharer: string;
  withinMs: number | undefined;
}

export type BodyReader = (
  payload: IncomingMessage,
  limits: BodyLimits,
  done: (error: Error | null, bytes?: Buffer) => void,
) => void;

export const createMemoryBudget = () => createByteBudget(LARGE_BYTES_MAX);

export interface MemoryMeter {
  /** Throws a 503 if the memory for bodies is used up. */
  hold(bytes: number): void;
  /** Frees bytes for the rest of the same body. */
  release(bytes: number): void;
}

/** Counts the memory that one body takes, beyond what each body may take. */
export function meterOf(share: ByteReservation): MemoryMeter {
  let held = 0;
  let counted = 0;
  return {
    hold(bytes) {
      held += bytes;
      const large = held - SMALL_BYTES;
      if (large <= counted) return;
      if (!share.take(large - counted)) throw new ApiError('unavailable');
      counted = large;
    },
    release(bytes) {
      held -= bytes;
    },
  };
}

export function createBodyReader(budget = createMemoryBudget()): BodyReader {
  return (payload, { maxBytes, announcedBytes, sharer, withinMs }, done) => {
    if (announcedBytes > maxBytes) return done(tooLarge(maxBytes));
    const chunks = createChunks();
    let received = 0;
    const share = budget.reservationOf(sharer);
    const memory = meterOf(share);

    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) return finish(tooLarge(maxBytes));
      try {
        memory.hold(chunk.length);
      } catch (error) {
        return finish(error as Error);
      }
      chunks.add(chunk);
    };
    const onEnd = () => {
      if (received < announcedBytes) return onCut();
      finish(null, chunks.whole());
    };
    const onCut = () => finish(cutOff());
    const onLate = () => finish(new ApiError('request_timeout'));
    const timer = withinMs === undefined ? undefined : setTimeout(onLate, withinMs);

    const finish = (error: Error | null, bytes?: Buffer) => {
      clearTimeout(timer);
      payload.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      // A client that disconnects after its request was refused is not an error.
      payload.on('error', ignore);
      share.giveBack();
      done(error, bytes);
    };
    if (payload.destroyed) return onCut();
    payload.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  };
}

const ignore = () => {};

const BLOCK_BYTES = 16 * KB;

/**
 * Small chunks are copied together. Each buffer takes far more memory than a few bytes, and the limits count only the
 * bytes.
 */
function createChunks() {
  const chunks: Buffer[] = [];
  let block = Buffer.alloc(0);
  let used = 0;
  const closeBlock = () => {
    if (used) chunks.push(block.subarray(0, used));
    block = Buffer.alloc(0);
    used = 0;
  };
  return {
    add(chunk: Buffer) {
      if (chunk.length >= BLOCK_BYTES / 4) {
        closeBlock();
        chunks.push(chunk);
        return;
      }
      if (used + chunk.length > block.length) {
        closeBlock();
        block = Buffer.alloc(BLOCK_BYTES);
      }
      used += chunk.copy(block, used);
    },
    whole() {
      closeBlock();
      return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
    },
  };
}

export const tooLarge = (maxBytes: number) =>
  new ApiError('body_too_large', {
    message: `The body is larger than ${sizeText(maxBytes)}, the limit of this operation.`,
  });
