/** Content that is the same for everybody until the next start, so it is compressed once, and sent once to each reader. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Encoding, encodingFor } from './encodings.ts';
import { isKnown } from './etag.ts';

const brotli = promisify(brotliCompress);
/** The best quality would let the first reader wait for seconds. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const encoders: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => brotli(content, BROTLI),
  gzip: promisify(gzip),
};

export function createFixedReply(type: string, content: Buffer) {
  const etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`;
  const compressed: Partial<Record<Encoding, Promise<Buffer>>> = {};
  return async (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (isKnown(request, reply)) return reply.code(304).send();
    reply.type(`${type}; charset=utf-8`);
    const encoding = encodingFor(request.headers['accept-encoding']);
    if (!encoding) return reply.send(content);
    // After a failure, such as a lack of memory, the next reader tries again.
    compressed[encoding] ??= encoders[encoding](content).catch((error) => {
      delete compressed[encoding];
      throw error;
    });
    return reply.header('content-encoding', encoding).send(await compressed[encoding]);
  };
}

/**
 * Makes a reply whose content is read for its first reader, so that a start does not wait for it. If that fails, the
 * next reader tries again.
 */
export function createLateReply(type: string, read: () => Promise<Buffer>) {
  let sending: Promise<ReturnType<typeof createFixedReply>> | undefined;
  return async (request: FastifyRequest, reply: FastifyReply) => {
    sending ??= read().then(
      (content) => createFixedReply(type, content),
      (error) => {
        sending = undefined;
        throw error;
      },
    );
    return (await sending)(request, reply);
  };
}
