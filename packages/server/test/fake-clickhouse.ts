/** A server that speaks as ClickHouse does, and does what the SQL tells it to. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedQuery {
  /** Of the address and of the body. */
  fields: Map<string, string>;
  sql: string;
  authorization: string | undefined;
  contentType: string | undefined;
  /** Resolves when the caller is gone, or the answer has ended. */
  gone: Promise<void>;
}

export type Behaviour = (response: ServerResponse, received: ReceivedQuery) => unknown;

export interface FakeClickHouse {
  port: number;
  /** The requests, in the order in which they came. */
  received: ReceivedQuery[];
  stop(): Promise<void>;
}

const PART = /name="(\w+)"\r\n\r\n([\s\S]*?)\r\n--/g;

async function receive(request: IncomingMessage, response: ServerResponse): Promise<ReceivedQuery> {
  const fields = new Map(new URL(request.url!, 'http://localhost').searchParams);
  let body = '';
  for await (const chunk of request) body += chunk;
  const contentType = request.headers['content-type'];
  if (contentType?.startsWith('multipart/')) {
    for (const [, name, text] of body.matchAll(PART)) fields.set(name!, text!);
  } else fields.set('query', body);
  const gone = new Promise<void>((resolve) => response.once('close', () => resolve()));
  const { authorization } = request.headers;
  return { fields, sql: fields.get('query')!, authorization, contentType, gone };
}

/** The first behaviour whose name is in the SQL counts. */
export async function startFakeClickHouse(
  behaviours: Readonly<Record<string, Behaviour>>,
  tls?: { key: string; cert: string },
): Promise<FakeClickHouse> {
  const received: ReceivedQuery[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const got = await receive(request, response);
    received.push(got);
    const name = Object.keys(behaviours).find((word) => got.sql.includes(word));
    if (name === undefined) response.writeHead(404).end();
    else await behaviours[name]!(response, got);
  };
  const server = tls ? createTlsServer(tls, answer) : createServer(answer);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** An answer with these columns and rows. */
export const rows =
  (columns: Readonly<Record<string, string>>, ...values: unknown[][]): Behaviour =>
  (response) =>
    response.end(linesOf(columns, ...values));

export const linesOf = (columns: Readonly<Record<string, string>>, ...values: unknown[][]) =>
  [Object.keys(columns), Object.values(columns), ...values].map((row) => `${JSON.stringify(row)}\n`).join('');

export const failure =
  (status: number, text: string): Behaviour =>
  (response) =>
    response.writeHead(status).end(text);
