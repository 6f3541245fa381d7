/**
 * The types of the published client, written out from the contract, so that they need neither the contract nor its
 * library of schemas, and editors show them quickly and with their words.
 */
import {
  allOperations,
  type BodyKind,
  bodyKindOf,
  ErrorReply,
  errorCatalogue,
  isCursorList,
  neverSucceeds,
  type Operation,
  type ReplyKind,
  replyKindOf,
} from '@oriel/contract';
import { type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { TREE } from '../../packages/client/src/route.ts';
import { createHoist } from '../../packages/contract/src/hoist.ts';
import { createInputs } from './input-schemas.ts';
import {
  comment,
  declaration,
  FREE_OBJECT,
  indent,
  key,
  objectType,
  type Schema,
  typeOf,
} from './schema-types.ts';

/** Returns the texts of `operations.d.ts` and `index.d.ts`. */
export function clientTypes(): { operations: string; index: string } {
  const hoist = createHoist() as unknown as {
    (schema: TSchema): Schema;
    components: Record<string, Schema>;
  };
  const type = (schema: TSchema) => typeOf(hoist(schema));
  // Errors hold it.
  hoist(ErrorReply.properties.conflicts);
  const inputs = createInputs(hoist.components);
  const calls = allOperations.map((op) => callOf(op, (schema) => inputs.given(hoist(schema)), type));
  const lists = allOperations.filter((op) => isCursorList(op) && op.id !== TREE).map(({ id }) => `'${id}'`);
  const named = Object.entries(inputs.components()).sort(([a], [b]) => (a < b ? -1 : 1));
  const operations = [
    "import type { CallOptions, Download } from './types.js';",
    `/** For programs; a code never changes. */\nexport type ErrorCode = ${eitherText(Object.keys(errorCatalogue).sort())};`,
    `/** An object with keys of your own. */\nexport type ${FREE_OBJECT} = Record<string, unknown>;`,
    ...named.map(([name, schema]) => declaration(name, schema)),
    '/** Every operation by its id. Parameters of the path and the query are fields of `args`, and the body is its field `body`. */',
    `export interface Operations {\n${indent(calls.join('\n'))}\n}`,
    '/** The lists that can be read page by page. */',
    `export type ListId = ${lists.join(' | ')};\n`,
  ];
  return { operations: operations.join('\n'), index: INDEX };
}

const INDEX = `import type { ListId, Operations } from './operations.js';
import type { OrielClientOptions, ReplyWithHeaders } from './types.js';

export { OrielError, OrielTimeoutError } from './error.js';
export type * from './operations.js';
export type * from './types.js';

type ReplyOf<Id extends keyof Operations> = Awaited<ReturnType<Operations[Id]>>;
type ItemOf<Reply> = Reply extends { items: (infer Item)[] } ? Item : never;

export interface OrielClient extends Operations {
  /** Iterates over the items of all pages of a list: \`for await (const key of client.iterate.listApiKeys())\`. */
  iterate: {
    [Id in ListId]: (...given: Parameters<Operations[Id]>) => AsyncGenerator<ItemOf<ReplyOf<Id>>, void, undefined>;
  };
  /** The operations, with headers in the result: \`const { body, etag } = await client.withHeaders.getReport(…)\`. */
  withHeaders: {
    [Id in keyof Operations]: (
      ...given: Parameters<Operations[Id]>
    ) => Promise<ReplyWithHeaders<ReplyOf<Id>>>;
  };
}

export declare function createOrielClient(options: OrielClientOptions): OrielClient;
`;

const OR_UNDEFINED = ' | undefined';

type TypeOf = (schema: TSchema) => string;

function callOf(op: Operation, given: (schema: TSchema) => Schema, type: TypeOf): string {
  const properties = { ...op.params, ...op.query } as TProperties;
  const { properties: fields = {}, required = [] } = given(Type.Object(properties));
  const args = objectType({ properties: fields, required });
  const parts = Object.keys(fields).length ? [args] : [];
  const headers = given(Type.Object(op.headers));
  if (Object.keys(op.headers).length) {
    const isRequired = Boolean(headers.required?.length);
    parts.push(
      `{ headers${isRequired ? '' : '?'}: ${objectType(headers)}${isRequired ? '' : OR_UNDEFINED} }`,
    );
  }
  const body = bodyKindOf(op);
  const isBodyOptional = op.optionalBody ?? false;
  if (body) {
    const sent = bodyType(body, (schema) => typeOf(given(schema)));
    parts.push(isBodyOptional ? `{ body?: ${sent}${OR_UNDEFINED} }` : `{ body: ${sent} }`);
  }
  const isOptional = !required.length && !headers.required?.length && (!body || isBodyOptional);
  const first = `args${isOptional ? '?' : ''}: ${parts.join(' & ') || 'Record<string, never>'}`;
  const description = [op.summary, op.description].filter(Boolean).join('\n\n');
  return `${comment({ description })}${key(op.id)}: (${first}, options?: CallOptions) => Promise<${replyType(op, type)}>;`;
}

function bodyType(body: BodyKind, type: TypeOf): string {
  switch (body.kind) {
    case 'multipart': {
      const files = Object.entries(body.files).map(
        ([name, { optional }]) =>
          `${key(name)}${optional ? '?' : ''}: Blob | readonly Blob[]${optional ? OR_UNDEFINED : ''}`,
      );
      const ofFiles = `{ ${files.join('; ')} }`;
      // The type of an object without fields lets no other fields in.
      const hasFields = Object.keys((body.schema as TObject).properties).length > 0;
      return hasFields ? `${type(body.schema)} & ${ofFiles}` : ofFiles;
    }
    case 'bytes':
      return `{ contentType: ${eitherText(body.contentTypes)}; data: Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string }`;
    default:
      return type(body.schema);
  }
}

function replyType(op: Operation, type: TypeOf): string {
  if (neverSucceeds(op)) return 'never';
  const reply = replyKindOf(op);
  return reply ? typeOfKind(reply, type) : 'undefined';
}

function typeOfKind(reply: ReplyKind, type: TypeOf): string {
  switch (reply.kind) {
    case 'json':
      return type(reply.schema) + (reply.orNothing ? ' | undefined' : '');
    case 'jsonText':
      return type(reply.schema);
    case 'ndjson':
      return `AsyncGenerator<${type(reply.schema)}, void, undefined>`;
    case 'eventStream': {
      const events = Object.entries(reply.events).map(
        ([name, data]) => `{ event: '${name}'; data: ${type(data)}; id?: string }`,
      );
      return `AsyncGenerator<${events.join(' | ')}, void, undefined>`;
    }
    case 'csv':
    case 'bytes':
      return 'Download';
    case 'html':
      return 'string';
    case 'redirect':
      return '{ location: string }';
  }
}

/** One of these texts. */
const eitherText = (values: readonly string[]) => values.map((value) => `'${value}'`).join(' | ');
