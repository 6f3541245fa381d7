/** The parent's end of the pipe to a child: requests with their replies, and the heartbeat. */
import type { Duplex } from 'node:stream';
import { encodeFrame, frameReader } from './frames.ts';

export type ChildErrorCode =
  /** The child has ended, or is being started again. */
  | 'gone'
  | 'timed_out'
  /** The request is too large, or the child does not read its messages fast enough. */
  | 'too_large'
  /** The child refused or failed. The message comes from its error. */
  | 'failed';

export class ChildError extends Error {
  readonly code: ChildErrorCode;
  /** The code of the error that the child's handler threw, if it has one. */
  readonly remoteCode: string | undefined;

  constructor(code: ChildErrorCode, message: string, remoteCode?: string) {
    super(message);
    this.code = code;
    this.remoteCode = remoteCode;
  }
}

export interface RequestOptions {
  /** After this time, the child is also told to give up. */
  timeoutMs: number;
  /** When it is aborted, the child is told to give up, and the request rejects with the reason of the signal. */
  signal?: AbortSignal;
  /**
   * Called with bytes that the child sends before its reply. The child pauses until `taken` is called, if too many were
   * not taken yet.
   */
  onBytes?(bytes: Buffer, taken: () => void): void;
  /**
   * Called when the request was sent. `ended` resolves when the child does not work on it any more, which may be later
   * than the time limit or the signal that ended the request.
   */
  onSent?(ended: Promise<void>): void;
}

export type ToChild =
  | { start: unknown }
  | { id: number; method: string; params: unknown }
  | { cancel: number }
  /** This many more bytes of the request were read. */
  | { taken: number; bytes: number }
  | { ping: true }
  | { stop: true };

export type FromChild =
  | { ready: true }
  | { failed: string }
  | { id: number; result: unknown }
  | { id: number; error: { message: string; code?: string } }
  | { pong: true };

export interface Channel {
  /** Resolves when the child says that it is ready, and rejects with the child's message if its start failed. */
  readonly ready: Promise<unknown>;
  request(method: string, params: unknown, options: RequestOptions): Promise<unknown>;
  send(message: ToChild): void;
  /** Sends a ping. Returns how many pings in a row, this one included, have no answer yet. */
  ping(): number;
  /** Rejects all waiting requests, and all later ones. */
  close(reason: ChildError): void;
}

interface PendingRequest {
  resolve(result: unknown): void;
  reject(error: Error): void;
  onBytes?: RequestOptions['onBytes'];
}

export function createChannel(
  pipe: Duplex,
  options: {
    messageBytesMax: number;
    /** Called if the child sends data that is not a valid message. */
    onGarbage(error: Error): void;
  },
): Channel {
  const { messageBytesMax } = options;
  const pending = new Map<number, PendingRequest>();
  /** What to call when the child has ended the work on a request. */
  const working = new Map<number, () => void>();
  let start: PendingRequest;
  const ready = new Promise<unknown>((resolve, reject) => {
    start = { resolve, reject };
  });
  // Some callers do not use this promise, because they check in another way whether the child is ready.
  ready.catch(() => {});
  let nextId = 1;
  let unanswered = 0;
  let closed: ChildError | undefined;

  function take(message: FromChild) {
    if ('ready' in message) return start.resolve(undefined);
    if ('failed' in message) return start.reject(new ChildError('failed', message.failed));
    if ('pong' in message) {
      unanswered = 0;
      return;
    }
    if (!('id' in message)) throw new SyntaxError('not a message that a child sends');
    endWork(message.id);
    // Nothing is waiting for a reply to a request that was cancelled or took too long.
    const waiting = pending.get(message.id);
    if ('error' in message) {
      waiting?.reject(new ChildError('failed', message.error.message, message.error.code));
    } else waiting?.resolve(message.result);
  }

  function endWork(id: number) {
    working.get(id)?.();
    working.delete(id);
  }

  function takeBytes(id: number, bytes: Buffer) {
    const taken = () => {
      if (pending.has(id) && !closed) send({ taken: id, bytes: bytes.length });
    };
    pending.get(id)?.onBytes?.(bytes, taken);
  }

  const read = frameReader(messageBytesMax, (message) => take(message as FromChild), takeBytes);
  pipe.on('data', (chunk: Buffer) => {
    if (closed) return;
    try {
      read(chunk);
    } catch (error) {
      options.onGarbage(error as Error);
    }
  });
  // We learn from its exit that the child has ended. This error only says that writing is useless now.
  pipe.on('error', () => {});

  function send(message: ToChild) {
    const frame = encodeFrame(message, messageBytesMax);
    // Limits the memory that requests to a hanging child can take.
    if (pipe.writableLength + frame.length > 2 * messageBytesMax) {
      throw new RangeError('the child does not read its messages');
    }
    if (pipe.writable) pipe.write(frame);
  }

  return {
    ready,
    send,
    request(method, params, { timeoutMs, signal, onBytes, onSent }) {
      if (closed) return Promise.reject(closed);
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      const id = nextId++;
      try {
        send({ id, method, params });
      } catch (error) {
        return Promise.reject(new ChildError('too_large', (error as Error).message));
      }
      onSent?.(new Promise((resolve) => working.set(id, resolve)));
      return new Promise<unknown>((resolve, reject) => {
        const giveUp = (reason: Error) => {
          pending.get(id)?.reject(reason);
          // If the child does not read its messages, the heartbeat will end it.
          if (pipe.writableLength < messageBytesMax) send({ cancel: id });
        };
        const late = () =>
          giveUp(new ChildError('timed_out', `no answer to ${method} within ${timeoutMs} ms`));
        const cancel = () => giveUp(signal!.reason as Error);
        const timer = setTimeout(late, timeoutMs);
        signal?.addEventListener('abort', cancel, { once: true });
        const settle =
          <T>(outcome: (value: T) => void) =>
          (value: T) => {
            pending.delete(id);
            clearTimeout(timer);
            signal?.removeEventListener('abort', cancel);
            outcome(value);
          };
        pending.set(id, { resolve: settle(resolve), reject: settle(reject), onBytes });
      });
    },
    ping() {
      if (pipe.writableLength < messageBytesMax) send({ ping: true });
      return ++unanswered;
    },
    close(reason) {
      closed ??= reason;
      for (const { reject } of [...pending.values()]) reject(closed);
      for (const id of [...working.keys()]) endWork(id);
      pipe.destroy();
    },
  };
}
