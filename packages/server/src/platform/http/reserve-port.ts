/** Reserves the port before anything else is done, and answers requests there during the start. */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError } from '../errors.ts';
import { StartupError } from '../startup-error.ts';

const ARRIVES_WITHIN_MS = 5000;
const CONNECTIONS_MAX = 200;

/** Holds a port until it is released. Port 0 picks a free one. */
export async function reservePort(host: string, port: number) {
  const server = createServer(
    {
      headersTimeout: ARRIVES_WITHIN_MS,
      requestTimeout: ARRIVES_WITHIN_MS,
      connectionsCheckingInterval: 1000,
    },
    answerWhileStarting,
  );
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, host, port)));
    server.listen({ host, port }, resolve);
  });
  const release = () =>
    new Promise<void>((resolve) => {
      if (!server.listening) return resolve();
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, release };
}

/** Says that the process is alive, but not ready. */
function answerWhileStarting(request: IncomingMessage, response: ServerResponse) {
  const requestId = `starting-${randomBytes(6).toString('hex')}`;
  const isAlive = /^\/healthz(\?|$)/.test(request.url ?? '');
  const failure = new ApiError('unavailable', { message: 'The server is starting.' });
  const text = JSON.stringify(isAlive ? { status: 'ok' } : failure.body(requestId));
  response.writeHead(isAlive ? 200 : failure.statusCode, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'retry-after': '1',
    // This server closes soon, so the client must not reuse the connection.
    connection: 'close',
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

function explain(error: NodeJS.ErrnoException, host: string, port: number) {
  switch (error.code) {
    case 'EADDRINUSE':
      return new StartupError(
        `Port ${port} on ${host} is taken by another program: stop that one, or set ORIEL_PORT to another port.`,
      );
    case 'EACCES':
      return new StartupError(
        `Port ${port} on ${host} may not be used by this user: set ORIEL_PORT to a port above 1023.`,
      );
    default:
      return new StartupError(
        `Cannot listen on ${host}, port ${port} (${error.code}): check ORIEL_HOST and ORIEL_PORT.`,
      );
  }
}
