/** Reads JSON bodies: strict about encoding, depth, numbers and keys that would reach into prototypes. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import { requireText } from './validation.ts';

const DEPTH_MAX = 100;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** No other number can be too large. Texts that look like this are harmless. */
const MAYBE_TOO_LARGE = /e\+?\d{3}|\d{309}/i;

export function acceptJsonOnly(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer;
    // A client that always sends the content type, to an operation without a body.
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes)) return done(new ApiError('invalid_text'));
    if (isTooDeep(bytes)) return done(new ApiError('json_too_deep'));
    const text = bytes.toString('utf8');
    void parse(request, text, (error, value) => {
      if (error) return done(new ApiError('malformed_json', { cause: error }));
      // Only an escape can bring in what valid UTF-8 can not hold.
      if (bytes.includes('\\u') || MAYBE_TOO_LARGE.test(text)) {
        try {
          requireValues(value);
        } catch (failure) {
          return done(failure as Error);
        }
      }
      done(null, value);
    });
  });
}

/** Counts brackets outside of strings; malformed JSON is for the parser to find. */
function isTooDeep(bytes: Buffer): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (inString) {
      if (byte === BACKSLASH) i++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > DEPTH_MAX) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}

/** The parser would take a number that is too large for infinity, which JSON can not hold: it would come back as null. */
function requireValues(value: unknown): void {
  if (typeof value === 'string') requireText(value);
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    throw new ApiError('invalid_request', { message: 'The body holds a number that is too large.' });
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    requireText(key);
    requireValues(member);
  }
}
