/** The OpenAPI document: the same for everybody until the next start, so it is written and compressed once. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { operations } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';
import { isKnown } from './etag.ts';

const encoders = { br: promisify(brotliCompress), gzip: promisify(gzip) };
type Encoding = keyof typeof encoders;

export function registerSpecRoute(app: FastifyInstance, document: object) {
  const text = Buffer.from(JSON.stringify(document));
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const compressed: Partial<Record<Encoding, Promise<Buffer>>> = {};
  const { method, path } = operations.getSpec;

  app.route({
    method,
    url: path,
    config: { operation: operations.getSpec },
    async handler(request, reply) {
      reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
      if (isKnown(request, reply)) return reply.code(304).send();
      reply.type('application/json; charset=utf-8');
      const encoding = encodingFor(request.headers['accept-encoding']);
      if (!encoding) return text;
      compressed[encoding] ??= encoders[encoding](text);
      reply.header('content-encoding', encoding);
      return compressed[encoding];
    },
  });
}

function encodingFor(accepted = ''): Encoding | undefined {
  const names = accepted
    .toLowerCase()
    .split(',')
    .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map((part) => part.split(';', 1)[0]!.trim());
  return (['br', 'gzip'] as const).find((name) => names.includes(name));
}
