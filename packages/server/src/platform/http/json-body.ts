/** Reads JSON bodies: strict about encoding, depth, numbers and keys. What was not asked for is not read. */
import { isUtf8 } from 'node:buffer';
import { bodyLimitOf, type Operation } from '@oriel/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NOBODY, sharerOf } from '../auth/actor.ts';
import { ApiError } from '../errors.ts';
import { type BodyReader, createBodyReader } from './body-reader.ts';
import { checkJson } from './json-walk.ts';

type Done = (error: Error | null, body?: unknown) => void;

export function acceptJsonOnly(app: FastifyInstance, options: { publicBodyMs?: number }) {
  const parse = app.getDefaultJsonParser('error', 'error');
  const read = createBodyReader();
  app.removeAllContentTypeParsers();

  app.addContentTypeParser('application/json', (request, payload, done) => {
    const { operation } = request.routeOptions.config;
    if (!takesBody(operation)) return done(null, undefined);
    if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) {
      return done(new ApiError('unsupported_media_type', { message: 'The body must not be compressed.' }));
    }
    const limits = limitsFor(request, operation, options.publicBodyMs);
    read(payload, limits, (failure, bytes) => {
      // A client that always sends the content type, to an operation whose body is optional.
      if (failure || bytes!.length === 0) return done(failure, undefined);
      parseBody(request, bytes!, done);
    });
  });

  app.addContentTypeParser('*', (request, _payload, done) => {
    done(takesBody(request.routeOptions.config.operation) ? new ApiError('unsupported_media_type') : null);
  });

  function parseBody(request: FastifyRequest, bytes: Buffer, done: Done) {
    if (!isUtf8(bytes)) return done(new ApiError('invalid_text'));
    const text = bytes.toString('utf8');
    try {
      checkJson(text);
    } catch (failure) {
      return done(failure as Error);
    }
    void parse(request, text, (error, value) => {
      done(error ? new ApiError('malformed_json', { cause: error }) : null, value);
    });
  }
}

const takesBody = (op: Operation | undefined): op is Operation => op !== undefined && bodyLimitOf(op) > 0;

/** The time limit is for callers whom we do not know; the others have that of the whole request. */
function limitsFor(
  { actor, headers }: FastifyRequest,
  op: Operation,
  publicBodyMs = 5000,
): Parameters<BodyReader>[1] {
  return {
    maxBytes: bodyLimitOf(op),
    announcedBytes: Number(headers['content-length'] ?? Number.NaN),
    sharer: sharerOf(actor ?? NOBODY),
    withinMs: op.auth === 'public' ? publicBodyMs : undefined,
  };
}
