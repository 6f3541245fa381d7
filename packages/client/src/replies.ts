/** Reads replies of every kind, as plain values or as streams. */
import type { EventOf, Operation, ReplyKind, TNothing } from '@oriel/contract';
import type { Static, TProperties, TSchema } from 'typebox';
import { foreignAnswer, parsed } from './error.ts';
import type { Download, ReplyWithHeaders } from './types.ts';

type ReplyValue<R extends TSchema> = R extends { kind: 'ndjson'; schema: infer S }
  ? AsyncGenerator<Static<S & TSchema>, void, undefined>
  : R extends { kind: 'eventStream'; events: infer E extends TProperties }
    ? AsyncGenerator<EventOf<E>, void, undefined>
    : R extends { kind: 'csv' | 'bytes' }
      ? Download
      : R extends { kind: 'html' }
        ? string
        : R extends { kind: 'redirect' }
          ? { location: string }
          : R extends { kind: 'json' | 'jsonText'; schema: infer S }
            ? Static<S & TSchema> | (R extends { orNothing: true } ? undefined : never)
            : Static<R>;

export type ReceivedReply<O extends Operation> = O['reply'] extends TNothing
  ? undefined
  : ReplyValue<O['reply']>;

/** Returns nothing if the answer is not a success. */
export async function readReply(
  operation: string,
  kind: ReplyKind['kind'],
  response: Response,
): Promise<ReplyWithHeaders<unknown> | undefined> {
  const { status, headers } = response;
  const withBody = (body: unknown) => ({ status, body, etag: headers.get('etag') ?? undefined, headers });
  switch (kind) {
    case 'ndjson':
      return withBody(jsonLines(operation, response));
    case 'eventStream':
      return withBody(events(operation, response));
    case 'csv':
    case 'bytes':
      return withBody(download(response));
    case 'html':
      return withBody(await response.text());
    case 'redirect': {
      const location = headers.get('location');
      if (location !== null) return withBody({ location });
      // Browsers follow a redirect or hide its target. In a browser, navigate to the address instead.
      if (response.ok || response.type === 'opaqueredirect') throw foreignAnswer(operation, status);
      return undefined;
    }
    default: {
      const body = status === 204 ? undefined : parsed(await response.text());
      if (body === undefined && status !== 204) throw foreignAnswer(operation, status);
      return withBody(body);
    }
  }
}

const download = (response: Response): Download => ({
  contentType: response.headers.get('content-type') ?? '',
  stream: response.body!,
  text: () => response.text(),
  bytes: async () => new Uint8Array(await response.arrayBuffer()),
});

async function* jsonLines(operation: string, response: Response) {
  for await (const line of splitBy('\n', operation, response)) if (line) yield JSON.parse(line);
}

/** Parses events as browsers do. Comments, which keep the connection open, are skipped. */
async function* events(operation: string, response: Response) {
  for await (const block of splitBy('\n\n', operation, response)) {
    const fields: Record<string, string> = {};
    for (const line of block.split('\n')) {
      const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
      if (name) fields[name] = value!;
    }
    const { event, data, id } = fields;
    if (data !== undefined) yield { event, data: JSON.parse(data), ...(id === undefined ? {} : { id }) };
  }
}

/** If the caller stops reading, the request ends. A reply that breaks off is an error, never just a shorter reply. */
async function* splitBy(separator: string, operation: string, { body }: Response): AsyncGenerator<string> {
  const reader = body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw new TypeError(`${operation}: the reply broke off`, { cause });
      });
      text += decoder.decode(value, { stream: !done });
      const parts = text.split(separator);
      text = done ? '' : parts.pop()!;
      yield* parts;
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
