/** Collects bodies within bounds: each one's size, the time that it takes, and the memory of all that are under way. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';

const KB = 1024;
const MB = 1024 * KB;

/** So much of each body counts towards nothing: connections are capped, and small requests must always get through. */
const SMALL_BYTES = 64 * KB;
/** What lies beyond that, of all bodies that are half received. */
const LARGE_BYTES_MAX = 128 * MB;
/** So that nobody can keep all others from sending large bodies. */
const LARGE_BYTES_SHARE = LARGE_BYTES_MAX / 4;

export interface BodyLimits {
  maxBytes: number;
  /** By the Content-Length; not a number where there is none. */
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

export function createBodyReader(): BodyReader {
  const budget = createBudget();

  return (payload, { maxBytes, announcedBytes, sharer, withinMs }, done) => {
    if (announcedBytes > maxBytes) return done(tooLarge(maxBytes));
    const chunks: Buffer[] = [];
    let received = 0;
    let counted = 0;

    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > maxBytes) return finish(tooLarge(maxBytes));
      const large = received - SMALL_BYTES;
      if (large > counted) {
        if (!budget.take(sharer, large - counted)) return finish(new ApiError('unavailable'));
        counted = large;
      }
      chunks.push(chunk);
    };
    const onEnd = () => {
      if (received < announcedBytes) return onCut();
      finish(null, chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received));
    };
    const onCut = () =>
      finish(new ApiError('invalid_request', { message: 'The connection ended before the body did.' }));
    const onLate = () => finish(new ApiError('request_timeout'));
    const timer = withinMs === undefined ? undefined : setTimeout(onLate, withinMs);

    const finish = (error: Error | null, bytes?: Buffer) => {
      clearTimeout(timer);
      payload.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut);
      // A client that goes away after its request was refused is no error of ours.
      payload.on('error', ignore);
      if (counted) budget.giveBack(sharer, counted);
      done(error, bytes);
    };
    if (payload.destroyed) return onCut();
    payload.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut);
  };
}

const ignore = () => {};

function createBudget() {
  const shares = new Map<string, number>();
  let total = 0;
  return {
    take(sharer: string, bytes: number): boolean {
      const share = (shares.get(sharer) ?? 0) + bytes;
      if (total + bytes > LARGE_BYTES_MAX || share > LARGE_BYTES_SHARE) return false;
      total += bytes;
      shares.set(sharer, share);
      return true;
    },
    giveBack(sharer: string, bytes: number) {
      total -= bytes;
      const share = shares.get(sharer)! - bytes;
      if (share) shares.set(sharer, share);
      else shares.delete(sharer);
    },
  };
}

const tooLarge = (maxBytes: number) =>
  new ApiError('body_too_large', {
    message: `The body is larger than ${sizeText(maxBytes)}, the most that this operation takes.`,
  });

const sizeText = (bytes: number) => (bytes >= MB ? `${bytes / MB} MB` : `${bytes / KB} KB`);
