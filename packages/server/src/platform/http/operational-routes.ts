/**
 * Routes for operators and their tools: is the server alive, is it ready, and its metrics. Not part of the contract.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../db/database.ts';
import { createWriteProbe } from '../db/write-probe.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Metrics } from './metrics.ts';

const READY_WITHIN_MS = 2000;
const NOT_READY = 'The database does not answer, or does not accept writes.';

export interface OperationalOptions {
  db: Database;
  log: Logger;
  metrics: Metrics;
  metricsToken: string | undefined;
}

export function registerOperationalRoutes(app: FastifyInstance, options: OperationalOptions) {
  const { db, log, metrics, metricsToken } = options;
  const probeWrites = createWriteProbe(db);
  let wasReady = true;

  const config = { isProbe: true } as const;

  app.get('/healthz', { config }, () => ({ status: 'ok' }));

  app.get('/readyz', { config }, async () => {
    const late = new Promise((_, reject) => setTimeout(reject, READY_WITHIN_MS, new Error('late')).unref());
    const state = await Promise.race([Promise.all([db.ping(), probeWrites()]), late]).then(
      () => ({ ready: true, err: undefined }),
      (err: unknown) => ({ ready: false, err }),
    );
    // Logged once and not with each probe, because the problem may last for a long time.
    if (wasReady && !state.ready) log.warn({ err: state.err }, NOT_READY);
    wasReady = state.ready;
    if (!state.ready) throw new ApiError('unavailable', { message: NOT_READY });
    return { status: 'ready' };
  });

  app.get('/metrics', { config }, async (request, reply) => {
    if (!mayReadMetrics(request, metricsToken)) throw new ApiError('route_not_found');
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

/** Hashed so that texts of any length can be compared in constant time. */
const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Headers that proxies add, and that direct requests do not have. */
const PROXY_HEADER = /forwarded|-ip$|^via$|^(x-envoy|x-amz|cf|fastly)-/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i;

/**
 * Allows a caller who holds the token. Also allows direct requests from loopback, but not requests that a proxy there
 * passes on.
 */
function mayReadMetrics(request: FastifyRequest, token: string | undefined): boolean {
  const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token && given) return timingSafeEqual(sha256(given), sha256(token));
  return (
    /^(::ffff:)?127\.|^::1$/.test(request.socket.remoteAddress ?? '') &&
    LOOPBACK_HOST.test(request.headers.host ?? '') &&
    !Object.keys(request.headers).some((name) => PROXY_HEADER.test(name))
  );
}
