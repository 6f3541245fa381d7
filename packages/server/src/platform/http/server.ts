/** The HTTP server around the routes: limits, request ids, errors, logs and metrics. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  bodyKindOf,
  type ErrorCode,
  type ErrorShape,
  errorBodies,
  errorCatalogue,
  errorShapes,
} from '@oriel/contract';
import {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import { identityOf, NOBODY } from '../auth/actor.ts';
import { isLocked, isTimedOut, isUnavailable, raisedDetail } from '../db/database.ts';
import type { MissingReference } from '../db/foreign-keys.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { acceptBodies, mediaTypeOf, wrongType } from './bodies.ts';
import { manageConnections } from './connections.ts';
import { PageError, prefersHtml, type ShowError } from './error-page.ts';
import { forwardedAddresses } from './forwarded.ts';
import { collectPaths } from './known-paths.ts';
import type { Metrics } from './metrics.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const NO_PAGE = 'There is no page at this address.';

export interface Timeouts {
  /** How long the headers of a request may take to arrive. */
  headersMs: number;
  /** How long a whole request may take to arrive. */
  requestMs: number;
  /** How long a connection may be idle, for example because its client does not read the reply. */
  idleMs: number;
  /** How long the body of an unknown caller may take to arrive; 5 seconds by default. */
  publicBodyMs?: number;
  /** How long a stop waits for requests that are still being sent; 5 seconds by default. */
  stopGraceMs?: number;
}

const DEFAULT_TIMEOUTS: Timeouts = { headersMs: 15_000, requestMs: 60_000, idleMs: 75_000 };

export interface HttpOptions {
  log: Logger;
  metrics: Metrics;
  trustProxy?: string[];
  timeouts?: Timeouts;
  maxConnections?: number;
  /** Finds out that the caller was deleted during their request. */
  missingReference?: MissingReference;
  /** For operations whose errors are pages. */
  showError?: ShowError;
}

export function createHttpServer({
  log,
  metrics,
  trustProxy,
  timeouts = DEFAULT_TIMEOUTS,
  maxConnections = 2000,
  missingReference,
  showError,
}: HttpOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    requestTimeout: timeouts.requestMs,
    connectionTimeout: timeouts.idleMs,
    keepAliveTimeout: timeouts.idleMs,
    http: {
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: Math.min(1000, timeouts.headersMs),
      // A missing Host header is refused below, with the same body and headers as every other error.
      requireHostHeader: false,
    },
    trustProxy: trustProxy?.length ? trustProxy : false,
    genReqId: requestIdOf,
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request.id, reply as unknown as FastifyReply);
      answerError(
        toApiError(error, request as FastifyRequest),
        request as FastifyRequest,
        reply as unknown as FastifyReply,
        paths.shapeOf(pathOf(request.url)),
      );
    },
  });

  acceptBodies(app, timeouts);
  manageConnections(app, maxConnections, timeouts.stopGraceMs);
  const paths = collectPaths(app);
  // Node would reply by itself, without our headers. A server may ignore the Expect header.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));

  const answerUnknown = (request: FastifyRequest, reply: FastifyReply) => {
    const path = pathOf(request.url);
    const methods = paths.methodsOf(path);
    // A parameter that is too long for its route may come to a route for everything below a path.
    if (methods.includes(request.method))
      return answerError(new ApiError('invalid_url'), request, reply, paths.shapeOf(path));
    const failure = methods.length
      ? new ApiError('method_not_allowed', {
          message: `${path} accepts ${methods.join(', ')}, but not ${request.method}.`,
        })
      : new ApiError('route_not_found', { message: `There is no operation ${request.method} ${path}.` });
    if (methods.length) reply.header('allow', methods.join(', '));
    const shape = paths.shapeOf(path);
    if (shape !== 'standard' || !showError || !prefersHtml(request.headers.accept)) {
      return answerError(failure, request, reply, shape);
    }
    const forPeople = methods.length ? failure : new ApiError(failure.code, { message: NO_PAGE });
    answerErrorPage(forPeople, { id: request.id, url: request.url }, reply, showError).catch(() =>
      answerError(failure, request, reply),
    );
  };

  app.addHook('onRequest', (request, reply, done) => {
    const forwarded = request.headers['x-forwarded-for'];
    // The framework would take any text in this header for an address.
    if (typeof forwarded === 'string' && trustProxy?.length) {
      request.raw.headers['x-forwarded-for'] = forwardedAddresses(forwarded).join();
    }
    setCommonHeaders(request.id, reply);
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      return done(new ApiError('invalid_url', { message: 'The request has no Host header.' }));
    }
    // Replied at once, because no operation reads the body of such a request.
    if (request.is404) return answerUnknown(request, reply);
    done();
  });

  app.addHook('onResponse', (request, reply, done) => {
    const { operation, isProbe } = request.routeOptions.config;
    const { userId, apiKeyId } = identityOf(request.actor ?? NOBODY);
    metrics.observeRequest(operation?.id ?? 'none', reply.statusCode, reply.elapsedTime);
    log[isProbe ? 'debug' : 'info']({
      requestId: request.id,
      operation: operation?.id,
      method: request.method,
      path: pathOf(request.url),
      deploymentId: (request.params as { deploymentId?: string } | undefined)?.deploymentId,
      userId: userId ?? undefined,
      apiKeyId: apiKeyId ?? undefined,
      ip: request.ip,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      // The client left, or a stream failed half-way.
      cut: reply.raw.writableFinished ? undefined : true,
    });
    done();
  });

  app.setNotFoundHandler(answerUnknown);

  app.setErrorHandler((error, request, reply) => {
    const failure = toApiError(error, request, missingReference?.(error));
    if (failure.statusCode >= 500) {
      // A deliberate refusal, such as of too many requests at once, is not a fault of the server, and may happen very
      // often.
      const level = error instanceof ApiError ? 'debug' : failure.code === 'busy' ? 'warn' : 'error';
      log[level]({
        requestId: request.id,
        operation: request.routeOptions.config.operation?.id,
        err: error,
      });
    }
    const { challenge, operation } = request.routeOptions.config;
    if (failure.statusCode === 401) reply.header('www-authenticate', challenge || 'Bearer');
    if (!operation) return answerError(failure, request, reply, paths.shapeOf(pathOf(request.url)));
    const { errorShape } = operation;
    if (errorShape !== 'page') return answerError(failure, request, reply, errorShape);
    return answerErrorPage(failure, { id: request.id, url: request.url, operation }, reply, showError!);
  });

  return app;
}

/** The headers of every reply, including replies to data that is not a valid request. */
const COMMON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

const setCommonHeaders = (requestId: string, reply: FastifyReply) =>
  reply
    .header('x-request-id', requestId)
    .header('cache-control', COMMON_HEADERS['cache-control'])
    .header('x-content-type-options', COMMON_HEADERS['x-content-type-options']);

async function answerErrorPage(
  failure: ApiError,
  request: Parameters<ShowError>[1],
  reply: FastifyReply,
  showError: ShowError,
) {
  const page = failure instanceof PageError ? failure.page : await showError(failure, request);
  setErrorHeaders(failure, reply);
  return reply
    .headers({ 'x-error-code': failure.code, ...page.headers })
    .type('text/html; charset=utf-8')
    .send(page.html);
}

function answerError(
  failure: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
  shape: Exclude<ErrorShape, 'page'> = 'standard',
) {
  setErrorHeaders(failure, reply);
  if (shape === 'standard') return void reply.type(JSON_TYPE).send(JSON.stringify(failure.body(request.id)));
  const body = errorBodies[shape]({
    ...errorCatalogue[failure.code],
    ...failure,
    message: inFull(failure),
    isJson: mediaTypeOf(request) === 'application/json',
  });
  reply
    .header('x-error-code', failure.code)
    .type(`${errorShapes[shape].contentType}; charset=utf-8`)
    .send(JSON.stringify(body));
}

const TOLD_MAX = 5;

/** Returns all issues as one text, for bodies that have no list of issues. */
function inFull({ message, issues = [] }: ApiError): string {
  const [first, ...others] = issues;
  // Other errors have a message of their own, which says everything.
  if (!first || !others.length || !/ \(and \d+ more\)$/.test(message)) return message;
  const told = issues.slice(0, TOLD_MAX).map((issue) => `${issue.path || 'The body'}: ${issue.message}`);
  return told.join('; ') + (issues.length > TOLD_MAX ? ` (and ${issues.length - TOLD_MAX} more)` : '');
}

function setErrorHeaders(failure: ApiError, reply: FastifyReply) {
  // The framework would close the connection while the client still sends the body; see connections.ts.
  reply.removeHeader('connection');
  if (failure.statusCode === 408) reply.header('connection', 'close');
  const retryAfter = failure.retryAfterSeconds ?? (failure.statusCode === 503 ? 1 : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
  // Removes headers that the handler set for a reply that is not sent.
  for (const name of ['content-type', 'content-length', 'content-encoding', 'location', 'etag'])
    reply.removeHeader(name);
  reply.code(failure.statusCode);
}

/** The query of an address can contain secrets, which must not be logged. */
function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Our SQL functions raise this code, with a code of the error catalogue as its detail. */
const RAISED_CODE = 'OR404';

function toApiError(
  error: unknown,
  request: FastifyRequest,
  missing: ReturnType<MissingReference> = undefined,
): ApiError {
  if (error instanceof ApiError) return error;
  const { code, statusCode } = error as FastifyError;
  const { operation } = request.routeOptions?.config ?? {};
  const { userId } = identityOf(request.actor ?? NOBODY);
  switch (code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return wrongType(operation && bodyKindOf(operation));
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new ApiError('invalid_url');
  }
  // Other problems that the framework finds in a request.
  if (code?.startsWith('FST_') && statusCode && statusCode < 500) return new ApiError('invalid_url');
  // The row or the caller existed when the request came, and was deleted in the meantime.
  const raised = raisedDetail(error, RAISED_CODE);
  if (raised !== undefined) return new ApiError(raised as ErrorCode, { cause: error });
  if (missing?.table === 'users' && missing.id === userId) return new ApiError('unauthenticated');
  if (isLocked(error)) return new ApiError('busy', { cause: error });
  if (isTimedOut(error)) return new ApiError('timed_out', { cause: error });
  if (isUnavailable(error)) return new ApiError('unavailable', { cause: error });
  return new ApiError('internal_error', { cause: error });
}

const GIVEN_REQUEST_ID = /^[\w.-]{8,64}$/;
const processId = randomBytes(6).toString('hex');
let requestCount = 0;

/**
 * Returns the id that the caller sent if it is safe in logs and headers, and otherwise a new id that no other process
 * makes.
 */
function requestIdOf(request: { headers: IncomingMessage['headers'] }): string {
  const given = request.headers['x-request-id'];
  if (typeof given === 'string' && GIVEN_REQUEST_ID.test(given)) return given;
  return `${processId}-${(++requestCount).toString(36)}`;
}

const brokenHeaders = Object.entries(COMMON_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

/** Data that is not a valid request gets the same kind of reply, and its connection is closed. */
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
    `HTTP/1.1 ${body.statusCode} ${body.error}\r\nX-Request-Id: ${id}\r\nContent-Type: ${JSON_TYPE}\r\n${brokenHeaders}` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
  );
}
