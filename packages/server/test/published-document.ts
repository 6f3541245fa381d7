/** The OpenAPI document as callers get it, and whether what the server answers is what it says. */
import { allOperations, openApiDocument } from '@oriel/contract';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

type Json = Record<string, unknown>;

export interface DocumentedReply {
  description: string;
  $ref?: string;
  headers?: Record<string, { $ref: string }>;
  content?: { 'application/json': { schema: Json } };
}

export interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Json[];
  parameters: (Json & { $ref?: string; name?: string; in?: string; schema?: Json })[];
  requestBody?: { required: boolean; content: { 'application/json': { schema: Json } } };
  responses: Record<string, DocumentedReply>;
}

export interface PublishedDocument {
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { responses: Record<string, DocumentedReply>; schemas: Record<string, Json> };
}

/** Through JSON, as it goes over the wire. */
export const publishedDocument = JSON.parse(
  JSON.stringify(openApiDocument(allOperations)),
) as PublishedDocument;

const ajv = ajvFormats.default(new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true }));
for (const [name, schema] of Object.entries(publishedDocument.components.schemas)) {
  ajv.addSchema(schema, `#/components/schemas/${name}`);
}

/** What a schema of the document finds wrong with a value; nothing where it fits. */
export function mismatch(schema: AnySchema, value: unknown): string | undefined {
  const fits = ajv.compile(schema);
  return fits(value) ? undefined : ajv.errorsText(fits.errors);
}

export const documentedOperation = (method: string, path: string): DocumentedOperation | undefined =>
  publishedDocument.paths[path]?.[method.toLowerCase()];

/** What the document says of a reply of the operation; nothing where it names no such status. */
export function documentedReply(op: DocumentedOperation, status: number): DocumentedReply | undefined {
  const reply = op.responses[status];
  const name = reply?.$ref?.split('/').at(-1);
  return name === undefined ? reply : publishedDocument.components.responses[name];
}

/** Every operation of the document. */
export const documentedOperations = Object.entries(publishedDocument.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([key]) => key !== 'parameters')
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

/** Every schema of the document with those inside of it, and where each stands. */
export function everySchema(): { where: string; schema: Json }[] {
  const { schemas, responses } = publishedDocument.components;
  const roots = [
    ...Object.entries(schemas),
    ...Object.entries(responses).map(([name, reply]) => [name, schemaOf(reply)] as const),
    ...documentedOperations.flatMap(({ operation: { operationId, parameters, requestBody, responses } }) => [
      ...parameters.map(({ name, schema }) => [`${operationId} ${name}`, schema] as const),
      [`${operationId} body`, requestBody && schemaOf(requestBody)] as const,
      ...Object.entries(responses).map(
        ([status, reply]) => [`${operationId} ${status}`, schemaOf(reply)] as const,
      ),
    ]),
  ];
  return roots.flatMap(([where, schema]) => (schema ? schemasWithin(where, schema) : []));
}

const schemaOf = ({ content }: Pick<DocumentedReply, 'content'>) => content?.['application/json'].schema;

function schemasWithin(where: string, schema: Json): { where: string; schema: Json }[] {
  const { properties, patternProperties, items, additionalProperties, anyOf, allOf } = schema;
  const below = Object.entries({ ...(properties ?? {}), ...(patternProperties ?? {}) });
  const parts = [items, additionalProperties, anyOf, allOf].flat().filter((part) => typeof part === 'object');
  return [
    { where, schema },
    ...below.flatMap(([name, part]) => schemasWithin(`${where}.${name}`, part as Json)),
    ...parts.flatMap((part) => schemasWithin(where, part as Json)),
  ];
}
