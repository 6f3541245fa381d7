/**
 * Lets pages of other origins call the operations whose contract says `crossOrigin`. Such a page identifies its viewer by
 * a token in the Authorization header. What a browser would send by itself, a cookie, is no credential there, and neither
 * is an API key, which no page may hold.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Csrf } from '../auth/csrf.ts';
import { ApiError } from '../errors.ts';

/** Returns the origins whose pages may call. An empty list allows all origins. */
export type AllowedOrigins = () => readonly string[] | Promise<readonly string[]>;

export interface CrossOriginOptions {
  authenticator: Authenticator;
  csrf: Csrf;
  allowedOrigins: AllowedOrigins;
}

export interface CrossOrigin {
  /**
   * Prepares the reply to a request, before its credential is checked, so that the page can read a refusal too. Throws or
   * rejects if the request carries an API key.
   */
  greet(request: FastifyRequest, reply: FastifyReply): undefined | Promise<undefined>;
  /** Answers what browsers ask before they send such a request. It needs no credential. */
  answerPreflights(app: FastifyInstance, paths: ReadonlyMap<string, readonly string[]>): void;
}

/** Areas in which a page can also read that there is no such operation, or not with this method. */
export const AREAS = ['/query/api/v1/', '/api/v1/embed/session/', '/api/v1/embed/dashboard/'];

const EXPOSED = 'X-Request-Id, X-Error-Code, Retry-After, ETag';
/** The star does not include Authorization, and older browsers do not know it. */
const ALLOWED_HEADERS = 'Authorization, Content-Type, X-Request-Id, If-None-Match, *';
const PREFLIGHT_SECONDS = 600;

export function createCrossOrigin({ authenticator, csrf, allowedOrigins }: CrossOriginOptions): CrossOrigin {
  let reading: Promise<readonly string[]> | undefined;

  /** Reads the setting. If it is not in memory, requests at once share one query, because their callers are unknown. */
  const origins = () => {
    if (reading) return reading;
    const known = allowedOrigins();
    if (!(known instanceof Promise)) return known;
    reading = known.finally(() => {
      reading = undefined;
    });
    return reading;
  };

  const allow = (allowed: readonly string[], origin: string, reply: FastifyReply): boolean => {
    if (allowed.length > 0 && !allowed.includes(origin)) return false;
    reply.header('access-control-allow-origin', allowed.length > 0 ? origin : '*');
    return true;
  };

  return {
    greet(request, reply) {
      reply.header('vary', 'Origin');
      const { origin } = request.headers;
      if (origin === undefined || csrf.isOurs(request.headers)) return undefined;
      request.isCrossOrigin = true;
      const answer = (allowed: readonly string[]): undefined => {
        if (allow(allowed, origin, reply)) reply.header('access-control-expose-headers', EXPOSED);
        // Only now, so that the page can read why.
        if (!authenticator.isForServers(request)) return;
        throw new ApiError('forbidden', {
          message:
            'The request carries an API key and comes from a page of another origin. An API key belongs to a server: give the page an embed token. If a server sent this, it must not send the header Origin.',
        });
      };
      const allowed = origins();
      return allowed instanceof Promise ? allowed.then(answer) : answer(allowed);
    },

    answerPreflights(app, paths) {
      for (const [url, methods] of paths) {
        app.route({
          method: 'OPTIONS',
          url,
          config: { isPreflight: true },
          onRequest: async (request, reply) => {
            const { origin, 'access-control-request-method': wanted } = request.headers;
            if (origin === undefined || wanted === undefined) return reply.callNotFound();
            reply.header('vary', 'Origin');
            if (!allow(await origins(), origin, reply)) {
              throw new ApiError('forbidden', {
                message: 'Pages of this origin may not call: it is not in the setting `embedAllowedOrigins`.',
              });
            }
            return reply
              .header('access-control-allow-methods', methods.join(', '))
              .header('access-control-allow-headers', ALLOWED_HEADERS)
              .header('access-control-max-age', String(PREFLIGHT_SECONDS))
              .code(204)
              .send();
          },
          handler: (_request, reply) => reply.callNotFound(),
        });
      }
    },
  };
}
