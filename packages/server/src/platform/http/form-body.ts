/** Forms, `application/x-www-form-urlencoded`: each field is given once. */
import { isUtf8 } from 'node:buffer';
import { ApiError, invalid } from '../errors.ts';

export class FormFields {
  readonly texts: Record<string, string>;
  constructor(texts: Record<string, string>) {
    this.texts = texts;
  }
}

export function parseForm(bytes: Buffer): FormFields {
  const text = bytes.toString('latin1');
  if (!isUtf8(bytes) || !isWellEncoded(text)) throw new ApiError('invalid_text');
  return new FormFields(onceEach(new URLSearchParams(bytes.toString('utf8'))));
}

/** A broken encoding is refused, because it would be decoded to a text that the client did not send. */
function isWellEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function onceEach(fields: Iterable<[name: string, text: string]>): Record<string, string> {
  const once = new Map<string, string>();
  for (const [name, text] of fields) {
    if (once.has(name)) throw invalid(name, 'is given more than once');
    once.set(name, text);
  }
  return Object.fromEntries(once);
}
