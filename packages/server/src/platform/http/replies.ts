/** Makes what is sent from what a handler answered, as its operation says. */
import { Readable } from 'node:stream';
import { type Operation, replyKindOf, replyTypesOf } from '@oriel/contract';
import type { FastifyRequest } from 'fastify';
import type { Logger } from '../log.ts';
import { serializerOf } from './serializer.ts';
import { csvStream, eventStream, ndjsonStream, streamOf } from './streams.ts';

/** Nothing is loaded or run, unless the operation sends a header that says otherwise. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

const STREAMED = ['ndjson', 'csv', 'eventStream', 'bytes'];

/** They take no HEAD: it would make a whole stream for nothing, and one of events would have no end. */
export const isStreamed = (op: Operation) => STREAMED.includes(replyKindOf(op)?.kind ?? '');

export interface Prepared {
  headers?: Record<string, string>;
  payload: unknown;
}

type Prepare = (answer: never) => Prepared | Promise<Prepared>;

/** `stopping` ends streams of events, which have no other end. */
export function preparerOf(op: Operation, { stopping }: { stopping: Promise<unknown> }): Prepare {
  const kind = replyKindOf(op);
  if (!kind) return () => ({ payload: undefined });
  const headers = { 'content-type': `${replyTypesOf(kind)[0]}; charset=utf-8` };
  switch (kind.kind) {
    case 'json':
      return kind.contentType === 'application/json'
        ? (payload) => ({ payload })
        : (payload) => ({ headers, payload });
    case 'redirect':
      return ({ location }: { location: string }) => ({
        headers: { location: headerText(location) },
        payload: undefined,
      });
    case 'html':
      return (payload: string) => ({
        headers: { 'content-security-policy': PAGE_POLICY, ...headers },
        payload,
      });
    case 'ndjson': {
      const write = serializerOf(kind.schema);
      return async (items: never) => ({ headers, payload: await ndjsonStream(items, write) });
    }
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
        // Else proxies would wait for more.
        headers: { ...headers, 'x-accel-buffering': 'no' },
        payload: eventStream(events, { write, ended: stopping }),
      });
    }
  }
}

interface BytesAnswer {
  contentType: string;
  data: Uint8Array | AsyncIterable<Uint8Array>;
}

const prepareBytes = async ({ contentType, data }: BytesAnswer) => ({
  headers: { 'content-type': contentType },
  payload: data instanceof Uint8Array ? Buffer.from(data) : await streamOf(data),
});

/** What nobody will read. */
export function discard(payload: unknown) {
  if (payload instanceof Readable) payload.destroy();
}

/** The framework breaks the connection under a stream that fails; why it failed is told here. */
export function reportCut(stream: Readable, log: Logger, request: FastifyRequest) {
  stream.once('error', (err) => {
    const operation = request.routeOptions.config.operation?.id;
    log.error({ requestId: request.id, operation, err }, 'a reply was cut off');
  });
}

/** No line breaks, and nothing else that a header can not hold. */
const headerText = (location: string) =>
  location.replaceAll(/[^!-~]/gu, (letter) => encodeURIComponent(letter));
