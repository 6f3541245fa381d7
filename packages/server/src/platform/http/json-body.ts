/** JSON bodies: strict about encoding, depth, numbers and keys. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { checkJson } from './json-walk.ts';

/** For JSON text outside of a body, such as in the address. Throws a 400. */
export function parseJson(text: string, name = 'The text'): unknown {
  checkJson(text);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ApiError('malformed_json', { message: `${name} is not valid JSON.`, cause });
  }
}

export function createJsonParser(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error');
  return (bytes: Buffer, request: FastifyRequest): unknown => {
    if (!isUtf8(bytes)) throw new ApiError('invalid_text');
    const text = bytes.toString('utf8');
    checkJson(text);
    let failure: Error | null = null;
    let value: unknown;
    // The parser calls back before it returns.
    void parse(request, text, (error, parsed) => {
      failure = error;
      value = parsed;
    });
    if (failure) throw new ApiError('malformed_json', { cause: failure });
    return value;
  };
}
