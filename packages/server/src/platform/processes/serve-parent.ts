/**
 * The child's side of the pipe. A process that calls this lives as long as its parent: when the pipe ends for any
 * reason, the process stops.
 */
import { Socket } from 'node:net';
import type { FromChild, ToChild } from './channel.ts';
import { encodeBytes, encodeFrame, frameReader, MESSAGE_BYTES_MAX } from './frames.ts';

/** The file descriptor that the parent gives us. Standard output stays free for logs. */
export const PIPE_FD = 3;
/** A stop that takes longer than this is forced. */
const STOP_WITHIN_MS = 30_000;

/** A handler pauses if the parent has not taken this many of its bytes yet. */
const UNREAD_BYTES_MAX = 1024 * 1024;

/** Sends bytes before the reply. Resolves when more can be sent, and rejects if nobody waits for them any more. */
export type Write = (bytes: Buffer) => Promise<void>;

/** `signal` is aborted when nobody waits for the result any more. */
export type Handler = (params: never, signal: AbortSignal, write: Write) => unknown;

export function serveParent(options: {
  /** Gets the value that the parent passed as `start`. The parent sends requests only after this has returned. */
  onStart?: (start: never) => unknown;
  handlers?: Record<string, Handler>;
  /** Called once, when the parent asks for a stop or is gone. The process ends afterwards. */
  onStop?: () => unknown;
  messageBytesMax?: number;
}): void {
  const { handlers = {}, messageBytesMax = MESSAGE_BYTES_MAX } = options;
  const pipe = new Socket({ fd: PIPE_FD, readable: true, writable: true });
  const running = new Map<number, { controller: AbortController; taken(bytes: number): void }>();
  let isStopping = false;

  const send = (message: FromChild) => void pipe.write(encodeFrame(message, messageBytesMax));

  function createWriter(id: number, signal: AbortSignal) {
    let unread = 0;
    let goOn = () => {};
    const write: Write = async (bytes) => {
      signal.throwIfAborted();
      pipe.write(encodeBytes(id, bytes, messageBytesMax));
      unread += bytes.length;
      while (unread > UNREAD_BYTES_MAX) {
        await new Promise<void>((resolve, reject) => {
          const stop = () => reject(signal.reason);
          signal.addEventListener('abort', stop, { once: true });
          goOn = () => {
            signal.removeEventListener('abort', stop);
            resolve();
          };
        });
      }
    };
    const taken = (bytes: number) => {
      unread -= bytes;
      goOn();
    };
    return { write, taken };
  }

  async function answer({ id, method, params }: Extract<ToChild, { id: number }>) {
    const controller = new AbortController();
    const { write, taken } = createWriter(id, controller.signal);
    running.set(id, { controller, taken });
    try {
      const handler = Object.hasOwn(handlers, method) ? handlers[method] : undefined;
      if (!handler) throw new Error(`there is no handler named ${method}`);
      send({ id, result: await handler(params as never, controller.signal, write) });
    } catch (error) {
      const { code } = error as { code?: unknown };
      send({ id, error: { message: messageOf(error), ...(code !== undefined && { code: String(code) }) } });
    } finally {
      running.delete(id);
    }
  }

  async function start(value: unknown) {
    try {
      await options.onStart?.(value as never);
      send({ ready: true });
    } catch (error) {
      console.error(error);
      pipe.end(encodeFrame({ failed: messageOf(error) }, messageBytesMax), () => process.exit(1));
    }
  }

  async function stop() {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    for (const { controller } of running.values()) controller.abort(new Error('the process stops'));
    try {
      await options.onStop?.();
      process.exit(0);
    } catch (error) {
      fail(error);
    }
  }

  function take(message: ToChild) {
    if ('ping' in message) return send({ pong: true });
    if ('cancel' in message) return running.get(message.cancel)?.controller.abort(new Error('cancelled'));
    if ('taken' in message) return running.get(message.taken)?.taken(message.bytes);
    if ('stop' in message) return void stop();
    if ('start' in message) return void start(message.start);
    return void answer(message);
  }

  const read = frameReader(messageBytesMax, (message) => take(message as ToChild));
  pipe.on('data', (chunk: Buffer) => {
    try {
      read(chunk);
    } catch (error) {
      fail(error);
    }
  });
  pipe.on('error', () => {});
  pipe.on('close', () => void stop());
  // If the parent is gone, nobody reads our output either. The stop must not fail because of that.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

const messageOf = (error: unknown) => String((error as Error).message ?? error).slice(0, 10_000);

function fail(error: unknown) {
  console.error(error);
  process.exit(1);
}
