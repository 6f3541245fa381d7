/** The OpenAPI document as callers get it, and the comparison of replies with it. */
import { allOperations, type Operation, openApiDocument } from '@oriel/contract';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';

type Json = Record<string, unknown>;

export interface DocumentedReply {
  description: string;
  $ref?: string;
  headers?: Record<string, { $ref?: string; required?: boolean }>;
  content?: Content;
}

/** By content type. `x-each` has the schema of one line or event of a stream. */
type Content = Record<
  string,
  { schema: Json; 'x-each'?: { line?: Json; event?: Json }; encoding?: Record<string, Json> }
>;

export interface DocumentedOperation {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  security: Json[];
  parameters: (Json & { $ref?: string; name?: string; in?: string; schema?: Json; example?: unknown })[];
  requestBody?: { description: string; required: boolean; content: Content };
  responses: Record<string, DocumentedReply>;
}

export interface PublishedDocument {
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { responses: Record<string, DocumentedReply>; schemas: Record<string, Json> } & Json;
}

export type PublishedContract = ReturnType<typeof publish>;

export function publish(operations: readonly Operation[]) {
  /** Converted to JSON and back, as callers receive it. */
  const document = JSON.parse(JSON.stringify(openApiDocument(operations))) as PublishedDocument;
  // Each process compiles hundreds of schemas, and uses most of them a few times: smaller code, sooner, is less work.
  const quick = { inlineRefs: false, code: { optimize: false } };
  const ajv = ajvFormats.default(
    new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, ...quick }),
  );
  for (const [name, schema] of Object.entries(document.components.schemas)) {
    ajv.addSchema(schema, `#/components/schemas/${name}`);
  }
  return {
    document,

    /** Returns the errors of a value by a schema of the document, or nothing if it fits. */
    mismatch(schema: AnySchema, value: unknown): string | undefined {
      const fits = ajv.compile(schema);
      return fits(value) ? undefined : ajv.errorsText(fits.errors);
    },

    documentedOperation: (method: string, path: string): DocumentedOperation | undefined =>
      document.paths[path]?.[method.toLowerCase()],

    /** Returns the documented reply of the operation, or nothing if the document does not name the status. */
    documentedReply(op: DocumentedOperation, status: number): DocumentedReply | undefined {
      const reply = op.responses[status];
      const name = reply?.$ref?.split('/').at(-1);
      return name === undefined ? reply : document.components.responses[name];
    },

    /** Every operation of the document. */
    documentedOperations: Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([key]) => key !== 'parameters')
        .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    ),
  };
}

export const published = publish(allOperations);
export const {
  document: publishedDocument,
  mismatch,
  documentedOperation,
  documentedReply,
  documentedOperations,
} = published;

/** Every schema of a document that is not part of another one, with its path. */
export function wholeSchemas({
  document,
  documentedOperations,
} = published): { where: string; schema: Json }[] {
  const { schemas, responses } = document.components;
  const all = [
    ...Object.entries(schemas),
    ...Object.entries(responses).flatMap(([name, reply]) => schemasOf(name, reply)),
    ...documentedOperations.flatMap(({ operation: { operationId, parameters, requestBody, responses } }) => [
      ...parameters.map(({ name, schema }) => [`${operationId} ${name}`, schema] as const),
      ...schemasOf(`${operationId} body`, requestBody ?? {}),
      ...Object.entries(responses).flatMap(([status, reply]) => schemasOf(`${operationId} ${status}`, reply)),
    ]),
  ];
  return all.flatMap(([where, schema]) => (schema ? [{ where, schema }] : []));
}

/** Every schema of a document, including nested ones, with its path. */
export const everySchema = (contract = published) =>
  wholeSchemas(contract).flatMap(({ where, schema }) => schemasWithin(where, schema));

const schemasOf = (where: string, { content = {} }: Pick<DocumentedReply, 'content'>) =>
  Object.values(content).flatMap(({ schema, 'x-each': { line, event } = {} }) =>
    [schema, line, event].flatMap((each) => (each ? [[where, each] as const] : [])),
  );

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
