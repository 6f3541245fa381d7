/** What the reference shows of bodies: requests that work, and errors as they are sent. */
import { STATUS_CODES } from 'node:http';
import type { TSchema } from 'typebox';
import { type ErrorShape, errorBodies } from './error-shapes.ts';
import { commonErrors, type ErrorCode, errorCatalogue } from './errors.ts';
import { bodyExamples, parameterExamples } from './examples.ts';
import type { BodyKind } from './kinds.ts';
import type { Operation } from './operation.ts';

/** A body that works, if the operation has one. */
export function bodyExampleOf({ id }: Operation, body: BodyKind): unknown {
  const { examples } = 'schema' in body ? (body.schema as { examples?: unknown[] }) : {};
  return bodyExamples[id] ?? examples?.[0];
}

/** A value that works in the demo. */
export function parameterExampleOf(op: Operation, name: string, schema: TSchema): unknown {
  const { examples, enum: values } = schema as { examples?: unknown[]; enum?: unknown[] };
  const [example] = examples ?? values ?? [];
  if (isDeleted(op, name) && Number.isInteger(Number(example)))
    return typeof example === 'string' ? '404' : 404;
  return parameterExamples[op.id]?.[name] ?? example;
}

/** A click on the prefilled request must not delete the reader's own key, or the demo. */
const isDeleted = ({ method, path }: Operation, name: string) =>
  method === 'DELETE' && path.endsWith(`{${name}}`);

/** The same body as a form, whose fields OAuth writes with underscores. */
export const asForm = (example: unknown) =>
  Object.fromEntries(
    Object.entries(example as object).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

/** The bodies of errors whose message in the catalogue is never sent as it is. */
const SENT: Partial<Record<ErrorCode, object>> = {
  invalid_request: {
    message: 'sessionId: must have at least 1 character',
    issues: [{ path: 'sessionId', message: 'must have at least 1 character' }],
  },
  unauthenticated: {
    message:
      'The request has no Authorization header. Send `Authorization: Api-Key sk-…` (or `Bearer sk-…`).',
  },
};

/** The body of an error, or nothing if it is a page. */
export function errorExample(code: ErrorCode, shape: ErrorShape): unknown {
  const { status: statusCode, ...definition } = errorCatalogue[code];
  const failure = { ...definition, statusCode, ...SENT[code] };
  if (shape === 'page') return undefined;
  // The reference sends JSON.
  if (shape !== 'standard') return errorBodies[shape]({ ...failure, isJson: true });
  const { message, issues } = failure as { message: string; issues?: object[] };
  const error = STATUS_CODES[statusCode];
  return { statusCode, error, code, message, requestId: '8d5c2f0a1b3e4d67', ...(issues && { issues }) };
}

/** Returns the codes that say something about the operation: its own, and that the request is wrong. */
export function codesToShow(codes: ErrorCode[]): ErrorCode[] {
  const telling = codes.filter((code) => code === 'invalid_request' || !(code in commonErrors));
  return telling.length ? telling : codes.slice(0, 1);
}
