/** Documents that are the same for everybody: the OpenAPI document, and the schema of the modelling language. */
import type { Operation } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';
import { createLateReply } from './fixed-reply.ts';

/** `read` returns JSON. */
export function registerDocument(app: FastifyInstance, operation: Operation, read: () => Promise<Buffer>) {
  const { method, path } = operation;
  app.route({
    method,
    url: path,
    config: { operation },
    handler: createLateReply('application/json', read),
  });
}
