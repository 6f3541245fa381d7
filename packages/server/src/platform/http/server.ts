/** The HTTP server around the routes: limits, request ids, errors, logs and metrics. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type FastifyError, type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { isLocked, isTimedOut, isUnavailable, misses, violatedConstraint } from '../db/database.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { acceptJsonOnly } from './json-body.ts';
import type { Metrics } from './metrics.ts';

const BODY_MAX_BYTES = 10 * 1024 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

export interface Timeouts {
  /** For the headers of a request to arrive. */
  headersMs: number;
  /** For a whole request to arrive. */
  requestMs: number;
  /** For a connection on which nothing moves, such as one whose client does not read its answer. */
  idleMs: number;
}

const DEFAULT_TIMEOUTS: Timeouts = { headersMs: 15_000, requestMs: 60_000, idleMs: 75_000 };

export interface HttpOptions {
  log: Logger;
  metrics: Metrics;
  trustProxy?: string[];
  timeouts?: Timeouts;
}

export function createHttpServer({
  log,
  metrics,
  trustProxy,
  timeouts = DEFAULT_TIMEOUTS,
}: HttpOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.idleMs,
    keepAliveTimeout: timeouts.idleMs,
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
    },
    trustProxy: trustProxy?.length ? trustProxy : false,
    genReqId: requestIdOf,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id);
      answerError(toApiError(error), request.id, reply as unknown as FastifyReply);
    },
  });

  acceptJsonOnly(app);
  endConnectionsOnClose(app);

  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    reply.header('cache-control', 'no-store');
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    const { operation } = request.routeOptions.config;
    metrics.observeRequest(operation?.id ?? 'none', reply.statusCode, reply.elapsedTime);
    log.info({
      requestId: request.id,
      operation: operation?.id,
      method: request.method,
      path: pathOf(request.url),
      deploymentId: (request.params as { deploymentId?: string } | undefined)?.deploymentId,
      userId: request.actor?.userId || undefined,
      apiKeyId: request.actor?.apiKeyId ?? undefined,
      ip: request.ip,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
    });
    done();
  });

  app.setNotFoundHandler((request, reply) => {
    const message = `There is no operation ${request.method} ${pathOf(request.url)}.`;
    answerError(new ApiError('route_not_found', { message }), request.id, reply);
  });

  app.setErrorHandler((error, request, reply) => {
    const failure = toApiError(error, request.actor?.userId);
    if (failure.statusCode >= 500) {
      // Too much at once is no fault of ours.
      log[failure.code === 'busy' ? 'warn' : 'error']({
        requestId: request.id,
        operation: request.routeOptions.config.operation?.id,
        err: error,
      });
    }
    answerError(failure, request.id, reply);
  });

  return app;
}

/**
 * Node waits for every connection, also for those on which nothing was ever asked and for those that stay open
 * behind a last answer. When we close, the former end at once and the latter with that answer.
 */
function endConnectionsOnClose(app: FastifyInstance) {
  const quiet = new Set<Socket>();
  let closing = false;
  app.server.on('connection', (socket: Socket) => {
    quiet.add(socket);
    socket.once('close', () => quiet.delete(socket));
  });
  app.server.on('request', ({ socket }, response) => {
    quiet.delete(socket);
    response.once('close', () => {
      if (closing) socket.end();
      else if (!socket.destroyed) quiet.add(socket);
    });
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
  app.addHook('preClose', (done) => {
    closing = true;
    for (const socket of quiet) socket.destroy();
    done();
  });
}

function answerError(failure: ApiError, requestId: string, reply: FastifyReply) {
  // The rest of a body that was not read whole must not be taken for the next request.
  if (failure.code === 'body_too_large') reply.header('connection', 'close');
  if (failure.statusCode === 401) reply.header('www-authenticate', 'Bearer, Api-Key');
  const retryAfter = failure.retryAfterSeconds ?? (failure.statusCode === 503 ? 1 : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  reply
    .code(failure.statusCode)
    .type(JSON_TYPE)
    .send(JSON.stringify(failure.body(requestId)));
}

/** Addresses can hold secrets in their query, and those do not belong into logs. */
const pathOf = (url: string) => url.split('?', 1)[0];

function toApiError(error: unknown, userId?: number): ApiError {
  if (error instanceof ApiError) return error;
  switch ((error as FastifyError).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ApiError('body_too_large');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ApiError('unsupported_media_type');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ApiError('invalid_request', { message: 'The body is not as long as its Content-Length.' });
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('invalid_url');
  }
  // They were there when the request came, and were deleted meanwhile.
  if (violatedConstraint(error)?.endsWith('_deployment_id_fkey')) return new ApiError('deployment_not_found');
  if (userId && misses(error, userId)) return new ApiError('unauthenticated');
  if (isLocked(error)) return new ApiError('busy', { cause: error });
  if (isTimedOut(error)) return new ApiError('timed_out', { cause: error });
  if (isUnavailable(error)) return new ApiError('unavailable', { cause: error });
  return new ApiError('internal_error', { cause: error });
}

const GIVEN_REQUEST_ID = /^[\w.-]{8,64}$/;
const processId = randomBytes(6).toString('hex');
let requestCount = 0;

/** The caller's own id where it is harmless in logs and headers, else one that no other process makes. */
function requestIdOf(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && GIVEN_REQUEST_ID.test(given)) return given;
  return `${processId}-${(++requestCount).toString(36)}`;
}

/** What could not even be read as a request gets the same kind of answer, and its connection is closed. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket) {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const code =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'request_timeout'
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? 'headers_too_large'
        : 'invalid_request';
  const id = requestIdOf({ headers: {} });
  const failure = new ApiError(
    code,
    code === 'invalid_request' ? { message: 'This is not a valid HTTP request.' } : {},
  );
  const body = failure.body(id);
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${body.statusCode} ${body.error}\r\nX-Request-Id: ${id}\r\nContent-Type: ${JSON_TYPE}\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}
