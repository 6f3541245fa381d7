import { ApiError } from '../errors.ts';

export const HALF_A_CHARACTER = 'half of a character (an unpaired surrogate)';

/** The error for a text that PostgreSQL cannot store. `path` is empty if it is the whole body, or a key at its top. */
export function unstorable(path: string, what: string): ApiError {
  const message = `must not have ${what}, because it cannot be stored`;
  return new ApiError('invalid_text', {
    message: `${path ? `${path}: ` : 'The body '}${message}.`,
    issues: [{ path, message }],
  });
}
