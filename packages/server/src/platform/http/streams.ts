/**
 * Replies that are sent while they are made, only as fast as the client reads. A failure before the first piece gives
 * an error reply. A later failure closes the connection, so that half a reply never looks complete.
 */
import { Readable } from 'node:stream';
import type { CsvTable, CsvValue } from '@oriel/contract';
import { ApiError } from '../errors.ts';

type Piece = string | Uint8Array;
type Items<T> = Iterable<T> | AsyncIterable<T>;

/** Small pieces are sent together if they are ready at the same time. */
const CHUNK_CHARS = 16 * 1024;
/** Proxies and our own server close connections that are idle for a minute or more. */
const HEARTBEAT_MS = 15_000;

/** All bytes of a reply, which are there before the first of them is sent. */
export interface WholeBytes extends AsyncIterable<Uint8Array> {
  readonly byteLength: number;
  /** Called when they were sent, or will not be sent. */
  release(): void;
}

/** How long a client may take to read a whole reply. */
const READ_WITHIN_MS = 5 * 60_000;

/** Cuts off a client who does not read. */
export async function wholeStream(bytes: WholeBytes, withinMs = READ_WITHIN_MS): Promise<Readable> {
  try {
    const stream = await streamOf(bytes);
    const timer = setTimeout(() => stream.destroy(new ApiError('timed_out')), withinMs).unref();
    return stream.once('close', () => {
      clearTimeout(timer);
      bytes.release();
    });
  } catch (error) {
    bytes.release();
    throw error;
  }
}

/** Rejects if the first piece cannot be made. */
export async function streamOf(pieces: AsyncIterable<Piece>): Promise<Readable> {
  const iterator = pieces[Symbol.asyncIterator]();
  const first = await iterator.next();
  const stream = Readable.from(startingWith(first, iterator), { objectMode: false });
  // A stream that is destroyed before it is read never starts the generator, so its `finally` does not run.
  stream.once('close', () => end(iterator));
  return stream;
}

/** Lets the handler clean up. Nobody waits for the reply any more, so a failure can only be a warning. */
function end(iterator: AsyncIterator<unknown>) {
  iterator.return?.().catch((error: Error) => process.emitWarning(error));
}

async function* startingWith<T>(first: IteratorResult<T>, iterator: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    for (let step = first; !step.done; step = await iterator.next()) yield step.value;
  } finally {
    await iterator.return?.();
  }
}

const TURNED = Symbol('turned');
const nextTurn = () => new Promise<typeof TURNED>((resolve) => setImmediate(resolve, TURNED));

/** Joins texts that are ready at the same time. A text that is ready never waits for one that is not. */
async function* batched(texts: AsyncIterable<string>): AsyncGenerator<string> {
  const iterator = texts[Symbol.asyncIterator]();
  let text = '';
  let next = iterator.next();
  let turn: Promise<typeof TURNED> | undefined;
  try {
    for (;;) {
      const step = turn ? await Promise.race([next, turn]) : await next;
      if (step !== TURNED) {
        if (step.done) break;
        text += step.value;
        next = iterator.next();
        turn ??= nextTurn();
        if (text.length < CHUNK_CHARS) continue;
      }
      yield text;
      text = '';
      turn = undefined;
    }
    if (text) yield text;
  } finally {
    // The reader has left, so a failure of the last step cannot be reported to anybody.
    next.catch(() => {});
    await iterator.return?.();
  }
}

export const ndjsonStream = (items: Items<unknown>, write: (item: unknown) => string) =>
  streamOf(batched(mapped(items, (item) => `${write(item)}\n`)));

export const csvStream = ({ columns, rows }: CsvTable) => streamOf(batched(csvLines(columns, rows)));

async function* csvLines(columns: readonly string[], rows: CsvTable['rows']) {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  try {
    // The first row is read before the header line is sent, so that nothing is sent if the rows cannot be read.
    let step = await iterator.next();
    yield csvLine(columns);
    for (; !step.done; step = await iterator.next()) {
      if (step.value.length !== columns.length) {
        throw new Error(`a row has ${step.value.length} values for ${columns.length} columns`);
      }
      yield csvLine(step.value);
    }
  } finally {
    await iterator.return?.();
  }
}

/** RFC 4180. Null is an empty field, and an empty text is `""`. */
const csvLine = (values: readonly CsvValue[]) => `${values.map(csvField).join(',')}\r\n`;

function csvField(value: CsvValue): string {
  if (value === null) return '';
  const text = String(value);
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function* mapped<T>(items: Items<T>, map: (item: T) => string) {
  for await (const item of items) yield map(item);
}

export interface ServerEvent {
  event: string;
  data: unknown;
  id?: string;
}

export interface EventStreamOptions {
  write: (event: string, data: unknown) => string;
  /** Ends the stream properly when the server stops. */
  stopping: AbortSignal;
  heartbeatMs?: number;
}

/** The headers are sent at once, because a page that waits for events must see that it is connected. */
export const eventStream = (events: AsyncIterable<ServerEvent>, options: EventStreamOptions) =>
  Readable.from(eventTexts(events, options), { objectMode: false });

async function* eventTexts(
  events: AsyncIterable<ServerEvent>,
  { write, stopping, heartbeatMs = HEARTBEAT_MS }: EventStreamOptions,
) {
  const iterator = events[Symbol.asyncIterator]();
  let stop = () => {};
  const onStop = () => stop();
  stopping.addEventListener('abort', onStop);
  let next = iterator.next();
  /** Each wait has a promise of its own. One that all waits share would hold every event until the server stops. */
  const wait = () => {
    let heartbeat: NodeJS.Timeout | undefined;
    return new Promise<IteratorResult<ServerEvent> | 'ended' | 'over'>((resolve, reject) => {
      stop = () => resolve('ended');
      if (stopping.aborted) stop();
      heartbeat = setTimeout(resolve, heartbeatMs, 'over');
      next.then(resolve, reject);
    }).finally(() => clearTimeout(heartbeat));
  };
  try {
    yield COMMENT;
    for (;;) {
      const step = await wait();
      if (step === 'ended') return;
      if (step === 'over') yield COMMENT;
      else if (step.done) return;
      else {
        yield eventText(step.value, write);
        next = iterator.next();
      }
    }
  } finally {
    // The reader has left, so a failure of the last step cannot be reported. The signal tells a waiting handler to
    // stop.
    next.catch(() => {});
    stopping.removeEventListener('abort', onStop);
    end(iterator);
  }
}

const COMMENT = ':\n\n';

function eventText({ event, data, id }: ServerEvent, write: EventStreamOptions['write']) {
  if (id !== undefined && /[\r\n\0]/.test(id)) throw new Error('the id of an event has a line break in it');
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${write(event, data)}\n\n`;
}
