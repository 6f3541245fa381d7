/** Turns the result of a handler into the reply that is sent, as its operation describes. */
import { Readable } from 'node:stream';
import { type Operation, replyKindOf, replyTypesOf } from '@oriel/contract';
import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { serializerOf } from './serializer.ts';
import { csvStream, eventStream, ndjsonStream, streamOf, type WholeBytes, wholeStream } from './streams.ts';

/** A page may not load or run anything, unless the operation sends another policy. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const STREAMED = ['jsonText', 'ndjson', 'csv', 'eventStream', 'bytes'];

/**
 * Streamed operations do not accept HEAD, because it would produce a whole stream for nothing, and a stream of events
 * never ends.
 */
export const isStreamed = (op: Operation) => STREAMED.includes(replyKindOf(op)?.kind ?? '');

export interface PreparedReply {
  /** The status, if it is not that of the operation. */
  status?: number;
  headers?: Record<string, string | string[]>;
  payload: unknown;
}

type Prepare = (answer: never) => PreparedReply | Promise<PreparedReply>;

/** `stopping` ends streams of events, which have no other end. */
export function preparerOf(op: Operation, { stopping }: { stopping: AbortSignal }): Prepare {
  const kind = replyKindOf(op);
  if (!kind) return () => ({ payload: undefined });
  const headers = { 'content-type': `${replyTypesOf(kind)[0]}; charset=utf-8` };
  switch (kind.kind) {
    case 'json':
      return kind.contentType === 'application/json'
        ? (payload) => ({ payload })
        : (payload) => (payload === undefined ? { payload } : { headers, payload });
    case 'redirect':
      return prepareRedirect;
    case 'html':
      return (page: string | { location: string }) =>
        typeof page === 'string'
          ? { headers: { 'content-security-policy': PAGE_POLICY, ...headers }, payload: page }
          : { status: 303, ...prepareRedirect(page) };
    case 'ndjson': {
      const write = serializerOf(kind.schema);
      return async (items: never) => ({ headers, payload: await ndjsonStream(items, write) });
    }
    case 'jsonText':
      return (data: Data) => prepareData(headers, data);
    case 'csv':
      return async (table: never) => ({ headers, payload: await csvStream(table) });
    case 'bytes':
      return prepareBytes;
    case 'eventStream': {
      const writers = new Map(
        Object.entries(kind.events).map(([name, schema]) => [name, serializerOf(schema)]),
      );
      const write = (event: string, data: unknown) => {
        const writer = writers.get(event);
        if (!writer) throw new Error(`${op.id} sends an event that its contract does not name: ${event}`);
        return writer(data);
      };
      return (events: never) => ({
        // Without this header, some proxies would hold events back until they have more data.
        headers: { ...headers, 'x-accel-buffering': 'no' },
        payload: eventStream(events, { write, stopping }),
      });
    }
  }
}

type Data = Uint8Array | WholeBytes | AsyncIterable<Uint8Array>;

const prepareRedirect = ({ location }: { location: string }): PreparedReply => ({
  headers: { location: headerText(location) },
  payload: undefined,
});

const prepareBytes = ({ contentType, data }: { contentType: string; data: Data }) =>
  prepareData({ 'content-type': contentType }, data);

async function prepareData(headers: Record<string, string>, data: Data): Promise<PreparedReply> {
  // Without a copy of the bytes.
  if (data instanceof Uint8Array) {
    return { headers, payload: Buffer.from(data.buffer, data.byteOffset, data.byteLength) };
  }
  if (!('byteLength' in data)) return { headers, payload: await streamOf(data) };
  const length = String(data.byteLength);
  return { headers: { ...headers, 'content-length': length }, payload: await wholeStream(data) };
}

/** Frees a reply that will not be sent. */
export function discard(payload: unknown) {
  if (payload instanceof Readable) payload.destroy();
}

/**
 * The framework closes the connection if a stream fails. The reason is logged here. A deliberate refusal is no fault of
 * the server.
 */
export function reportCut(stream: Readable, log: Logger, request: FastifyRequest) {
  stream.once('error', (err) => {
    const operation = request.routeOptions.config.operation?.id;
    const level = err instanceof ApiError ? 'debug' : 'error';
    log[level]({ requestId: request.id, operation, err }, 'a reply was cut off');
  });
}

/** Encodes line breaks and everything else that a header cannot contain. */
const headerText = (location: string) =>
  location.replaceAll(/[^!-~]/gu, (letter) => encodeURIComponent(letter));
