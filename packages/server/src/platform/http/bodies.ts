/** Reads bodies, each as its operation says. What was not asked for is not read. */
import { type BodyKind, bodyKindOf, bodyLimitOf, bodyTypesOf, type Operation } from '@oriel/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { NOBODY, sharerOf } from '../auth/actor.ts';
import { ApiError } from '../errors.ts';
import { type BodyLimits, chunksOf, createBodyReader, createBudget, tooLarge } from './body-reader.ts';
import { parseForm } from './form-body.ts';
import { createJsonParser } from './json-body.ts';
import { readMultipart } from './multipart-body.ts';
import { type StoredUpload, store } from './uploads.ts';

const GB = 1024 ** 3;
/** Of the disk, for everything that is being uploaded. */
const DISK_MAX_BYTES = 8 * GB;

declare module 'fastify' {
  interface FastifyRequest {
    /** What the body left on disk or in memory, until the handler has ended. */
    uploads: StoredUpload[];
  }
}

export function acceptBodies(app: FastifyInstance, options: { publicBodyMs?: number }) {
  const parseJson = createJsonParser(app);
  const readWhole = createBodyReader();
  const disk = createBudget(DISK_MAX_BYTES);
  app.decorateRequest('uploads', null as unknown as StoredUpload[]);
  app.removeAllContentTypeParsers();

  type Done = (error: Error | null, body?: unknown) => void;

  const read = (request: FastifyRequest, payload: FastifyRequest['raw'], done: Done) => {
    const { operation } = request.routeOptions.config;
    const body = operation && bodyKindOf(operation);
    if (!body) return done(null, undefined);
    const type = mediaType(request);
    if (!bodyTypesOf(body).includes(type)) return done(wrongType(body));
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
      // A client that always sends the content type, to an operation whose body is optional.
      if (failure || bytes!.length === 0) return done(failure, undefined);
      try {
        done(null, parse(bytes!, request));
      } catch (error) {
        done(error as Error);
      }
    });
  };

  /** What was stored before a failure is freed with the rest, when the answer has been sent. */
  async function readUploads(
    request: FastifyRequest,
    payload: FastifyRequest['raw'],
    body: Extract<BodyKind, { kind: 'multipart' | 'bytes' }>,
    limits: BodyLimits,
  ) {
    request.uploads = [];
    const keep = async (data: AsyncIterable<Buffer>, about: Omit<Parameters<typeof store>[1], 'share'>) => {
      const upload = await store(data, { ...about, share: disk.shareOf(limits.sharer) });
      request.uploads.push(upload);
      return upload;
    };
    const chunks = chunksOf(payload, limits);
    const contentType = request.headers['content-type']!;
    if (body.kind === 'multipart') return readMultipart(chunks, contentType, body, keep);
    const { maxBytes } = limits;
    return keep(chunks, {
      fileName: undefined,
      contentType: mediaType(request),
      maxBytes,
      tooLarge: () => tooLarge(maxBytes),
    });
  }

  app.addContentTypeParser('application/json', read);
  app.addContentTypeParser('*', read);
}

/** After the handler and the answer, or after an answer that came without a handler. */
export async function freeUploads(request: FastifyRequest) {
  const uploads = request.uploads?.splice(0) ?? [];
  await Promise.all(uploads.map((upload) => upload.close()));
}

const mediaType = ({ headers }: FastifyRequest) =>
  (headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();

export function wrongType(body: BodyKind | undefined): ApiError {
  if (!body || body.kind === 'json') return new ApiError('unsupported_media_type');
  const types = bodyTypesOf(body).map((type) => `\`${type}\``);
  const message = `The body must be sent with the header \`Content-Type\` and one of: ${types.join(', ')}.`;
  return new ApiError('unsupported_media_type', { message });
}

/** The time limit is for callers whom we do not know; the others have that of the whole request. */
const limitsFor = ({ actor, headers }: FastifyRequest, op: Operation, publicBodyMs = 5000): BodyLimits => ({
  maxBytes: bodyLimitOf(op),
  announcedBytes: Number(headers['content-length'] ?? Number.NaN),
  sharer: sharerOf(actor ?? NOBODY),
  withinMs: op.auth === 'public' ? publicBodyMs : undefined,
});
