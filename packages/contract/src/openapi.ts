/** The OpenAPI 3.1 document, made from the operations. */
import { createHoist, type Json } from './hoist.ts';
import { INTRODUCTION, inReadingOrder } from './openapi-descriptions.ts';
import { createErrors } from './openapi-errors.ts';
import { HEADER_PARAMETERS, REPLY_HEADERS, refToParameter } from './openapi-headers.ts';
import { operationEntry } from './openapi-operation.ts';
import { SECURITY_SCHEMES } from './openapi-security.ts';
import type { Operation } from './operation.ts';
import { tags } from './operations.gen.ts';

export function openApiDocument(operations: readonly Operation[]): Json {
  const hoist = createHoist();
  const errors = createErrors(hoist);

  const paths: Record<string, Json> = {};
  for (const op of operations) {
    paths[op.path] ??= { parameters: [refToParameter('X-Request-Id')] };
    paths[op.path]![op.method.toLowerCase()] = operationEntry(op, hoist, errors);
  }

  const responses = sorted(errors.replies);
  const references = JSON.stringify([paths, responses]);
  /** Names that nothing refers to would only be noise in generated clients. */
  const used = <T>(kind: 'headers' | 'parameters', all: Record<string, T>) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => references.includes(`"#/components/${kind}/${name}"`)),
    );

  return {
    openapi: '3.1.0',
    info: {
      title: 'Oriel',
      version: '1.0.0',
      description: INTRODUCTION,
      contact: { name: 'The Oriel project' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from' }],
    tags: inReadingOrder(Object.entries(tags))
      .filter(([name]) => operations.some((op) => op.tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(SECURITY_SCHEMES).filter(([name]) => references.includes(`"${name}":[]`)),
      ),
      parameters: used('parameters', HEADER_PARAMETERS),
      headers: used('headers', REPLY_HEADERS),
      responses,
      examples: sorted(errors.examples),
      schemas: sorted(hoist.components),
    },
  };
}

const sorted = (record: Record<string, Json>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
