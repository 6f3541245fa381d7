/** Reads each body as its operation describes. A body that the operation does not have is not read. */
import { type BodyKind, bodyKindOf, bodyLimitOf, bodyTypesOf, type Operation } from '@oriel/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NOBODY, sharerOf } from '../auth/actor.ts';
import { createByteBudget } from '../byte-budget.ts';
import { ApiError } from '../errors.ts';
import {
  type BodyLimits,
  chunksOf,
  createBodyReader,
  createMemoryBudget,
  type MemoryMeter,
  meterOf,
  tooLarge,
} from './body-reader.ts';
import { parseForm } from './form-body.ts';
import { createJsonParser } from './json-body.ts';
import { type FieldCollector, readMultipart } from './multipart-body.ts';
import { type StoredUpload, store } from './uploads.ts';

const GB = 1024 ** 3;
/** The disk space for all uploads together. */
const DISK_MAX_BYTES = 8 * GB;

declare module 'fastify' {
  interface FastifyRequest {
    /** The uploaded files and the memory of the body, until the handler has ended. */
    uploads: Pick<StoredUpload, 'close'>[];
  }
}

export function acceptBodies(app: FastifyInstance, options: { publicBodyMs?: number }) {
  const parseJson = createJsonParser(app);
  const memory = createMemoryBudget();
  const readWhole = createBodyReader(memory);
  const disk = createByteBudget(DISK_MAX_BYTES);
  app.decorateRequest('uploads', null as unknown as FastifyRequest['uploads']);
  app.removeAllContentTypeParsers();

  type Done = (error: Error | null, body?: unknown) => void;

  const read = (request: FastifyRequest, payload: FastifyRequest['raw'], done: Done) => {
    const { operation } = request.routeOptions.config;
    const body = operation && bodyKindOf(operation);
    if (!body) return done(null, undefined);
    const type = mediaTypeOf(request);
    if (!bodyTypesOf(body).includes(type)) {
      // Some clients always send a content type: `curl -d ''` sends that of a form.
      const isNothing = operation.optionalBody && request.headers['content-length'] === '0';
      return isNothing ? done(null, undefined) : done(wrongType(body));
    }
    if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? '')) {
      return done(new ApiError('unsupported_media_type', { message: 'The body must not be compressed.' }));
    }
    const limits = limitsFor(request, operation, options.publicBodyMs);
    if (body.kind === 'multipart' || body.kind === 'bytes') {
      readUploads(request, payload, body, limits).then((value) => done(null, value), done);
      return;
    }
    const parse = type === 'application/x-www-form-urlencoded' ? parseForm : parseJson;
    readWhole(payload, limits, (failure, bytes) => {
      // Some clients always send the content type, even without a body.
      if (failure || bytes!.length === 0) return done(failure, undefined);
      try {
        done(null, parse(bytes!, request));
      } catch (error) {
        done(error as Error);
      }
    });
  };

  type UploadsBody = Extract<BodyKind, { kind: 'multipart' | 'bytes' }>;

  async function readUploads(
    request: FastifyRequest,
    payload: FastifyRequest['raw'],
    body: UploadsBody,
    limits: BodyLimits,
  ) {
    request.uploads = [];
    const share = memory.reservationOf(limits.sharer);
    try {
      const value = await readParts(request, payload, body, limits, meterOf(share));
      await holdUntilEnd(request, payload, { close: async () => share.giveBack() });
      return value;
    } catch (error) {
      share.giveBack();
      throw error;
    }
  }

  async function holdUntilEnd(
    request: FastifyRequest,
    payload: FastifyRequest['raw'],
    upload: FastifyRequest['uploads'][number],
  ) {
    request.uploads.push(upload);
    if (!payload.socket.destroyed) return;
    // The caller left while this was stored, and what they had sent before is freed already.
    await freeUploads(request);
    throw new ApiError('invalid_request', { message: 'The caller has left.' });
  }

  /** Files that were stored before a failure are freed with the rest, after the reply is sent. */
  async function readParts(
    request: FastifyRequest,
    payload: FastifyRequest['raw'],
    body: UploadsBody,
    limits: BodyLimits,
    meter: MemoryMeter,
  ) {
    const keep: FieldCollector = async (data, about) => {
      const upload = await store(data, { ...about, memory: meter, share: disk.reservationOf(limits.sharer) });
      await holdUntilEnd(request, payload, upload);
      return upload;
    };
    const chunks = chunksOf(payload, limits);
    const contentType = request.headers['content-type']!;
    if (body.kind === 'multipart') return readMultipart(chunks, contentType, body, keep, meter);
    const { maxBytes } = limits;
    return keep(chunks, {
      fileName: undefined,
      contentType: mediaTypeOf(request),
      maxBytes,
      tooLarge: () => tooLarge(maxBytes),
    });
  }

  app.addContentTypeParser('application/json', read);
  app.addContentTypeParser('*', read);
}

/** Called after the handler has ended and the reply is sent, or after a reply that was sent without the handler. */
export async function freeUploads(request: FastifyRequest) {
  const uploads = request.uploads?.splice(0) ?? [];
  await Promise.all(uploads.map((upload) => upload.close()));
}

export const mediaTypeOf = ({ headers }: FastifyRequest) =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

export function wrongType(body: BodyKind | undefined): ApiError {
  if (!body || body.kind === 'json') return new ApiError('unsupported_media_type');
  const types = bodyTypesOf(body).map((type) => `\`${type}\``);
  const message = `The body must be sent with the header \`Content-Type\` and one of: ${types.join(', ')}.`;
  return new ApiError('unsupported_media_type', { message });
}

/** The time limit is for unknown callers. For other callers, the limit of the whole request applies. */
const limitsFor = ({ actor, headers }: FastifyRequest, op: Operation, publicBodyMs = 5000): BodyLimits => ({
  maxBytes: bodyLimitOf(op),
  announcedBytes: Number(headers['content-length'] ?? Number.NaN),
  sharer: sharerOf(actor ?? NOBODY),
  withinMs: op.auth === 'public' ? publicBodyMs : undefined,
});
