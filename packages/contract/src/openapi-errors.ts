/** How the OpenAPI document describes errors. */
import { errorCodesOf } from './error-codes.ts';
import { type ErrorShape, errorShapes } from './error-shapes.ts';
import { type ErrorCode, type ErrorDefinition, errorCatalogue } from './errors.ts';
import type { Hoist, Json } from './hoist.ts';
import { STATUS_TEXT } from './openapi-descriptions.ts';
import { codesToShow, errorExample } from './openapi-examples.ts';
import { replyHeaders } from './openapi-headers.ts';
import { content } from './openapi-media.ts';
import type { Operation } from './operation.ts';
import { ErrorReply } from './schemas.ts';

/** Headers are found too large before the address is known, so that error always has the standard form. */
const shapeOf = (op: Operation, status: number): ErrorShape =>
  status === 431 ? 'standard' : (op.errorShape ?? 'standard');

/**
 * The most codes that the name of a reply lists. Operations rarely share a longer list, and it would make an unreadable
 * name.
 */
const CODES_IN_NAME_MAX = 4;
/** What every operation with a JSON body answers, if the body or the address is wrong. */
const JSON_BODY_CODES = [
  'duplicate_key',
  'integer_too_large',
  'invalid_request',
  'invalid_text',
  'invalid_url',
  'json_too_deep',
  'json_too_many_values',
  'malformed_json',
  'number_too_precise',
].join();

const nameOf = (codes: ErrorCode[]) => {
  if (codes.join() === JSON_BODY_CODES) return 'invalid_json_request';
  return codes.length > CODES_IN_NAME_MAX ? undefined : codes.join('_or_');
};

const codeText = (code: ErrorCode) => {
  const { deprecated }: ErrorDefinition = errorCatalogue[code];
  return deprecated ? `\`${code}\` (deprecated: \`${deprecated}\` is sent instead)` : `\`${code}\``;
};

/** `replies` and `examples` are components of the document. They fill while operations are described. */
export function createErrors(hoist: Hoist) {
  const replies: Record<string, Json> = {};
  const examples: Record<string, Json> = {};

  const repliesOf = (op: Operation) => {
    const codes = errorCodesOf(op);
    const statuses = new Set(codes.map((code) => errorCatalogue[code].status));
    const having = (status: number) => codes.filter((code) => errorCatalogue[code].status === status);
    return Object.fromEntries(
      [...statuses].map((status) => [status, errorReply(status, having(status), shapeOf(op, status))]),
    );
  };

  /** Many operations answer with the same few codes, so the document defines such a reply once. */
  const errorReply = (status: number, codes: ErrorCode[], shape: ErrorShape) => {
    const codesName = nameOf(codes);
    if (!codesName) return describeError(status, codes, shape);
    const name = shape === 'standard' ? codesName : `${shape}_${codesName}`;
    replies[name] ??= describeError(status, codes, shape);
    return { $ref: `#/components/responses/${name}` };
  };

  const describeError = (status: number, codes: ErrorCode[], shape: ErrorShape) => ({
    description: `${STATUS_TEXT[status]}: ${codes.map(codeText).join(', ')}`,
    headers: replyHeaders(
      'X-Request-Id',
      ...(shape === 'standard' ? [] : ['X-Error-Code' as const]),
      ...(status === 401 ? ['WWW-Authenticate' as const] : []),
      ...([429, 503, 504].includes(status) ? ['Retry-After' as const] : []),
    ),
    content: content([errorShapes[shape].contentType], {
      schema: errorSchema(codes, shape),
      ...(shape === 'page' ? {} : { examples: examplesOf(codes, shape) }),
    }),
  });

  /** An error looks the same in every operation, so the document has it once. */
  const examplesOf = (codes: ErrorCode[], shape: ErrorShape) =>
    Object.fromEntries(
      codesToShow(codes).map((code) => {
        const name = shape === 'standard' ? code : `${shape}_${code}`;
        examples[name] ??= { summary: errorCatalogue[code].message, value: errorExample(code, shape) };
        return [code, { $ref: `#/components/examples/${name}` }];
      }),
    );

  const errorSchema = (codes: ErrorCode[], shape: ErrorShape) =>
    shape === 'standard'
      ? { allOf: [hoist(ErrorReply), { type: 'object', properties: { code: { enum: codes } } }] }
      : hoist(errorShapes[shape].schema);

  return { replies, examples, repliesOf };
}

export type Errors = ReturnType<typeof createErrors>;
