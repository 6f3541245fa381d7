/** Documents that are the same for everybody: the OpenAPI document, and the schema of the modelling language. */
import type { Operation } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';
import { createFixedReply } from './fixed-reply.ts';

export function registerDocument(app: FastifyInstance, operation: Operation, document: object) {
  const { method, path } = operation;
  app.route({
    method,
    url: path,
    config: { operation },
    handler: createFixedReply('application/json', Buffer.from(JSON.stringify(document))),
  });
}
