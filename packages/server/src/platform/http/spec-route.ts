/** The OpenAPI document. */
import { operations } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';
import { createFixedReply } from './fixed-reply.ts';

export function registerSpecRoute(app: FastifyInstance, document: object) {
  const { method, path } = operations.getSpec;
  app.route({
    method,
    url: path,
    config: { operation: operations.getSpec },
    handler: createFixedReply('application/json', Buffer.from(JSON.stringify(document))),
  });
}
