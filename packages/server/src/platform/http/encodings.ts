/** The encodings that replies may have, best first. */
const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

const PART = /^([\w!#$%&'*+.^`|~-]+)(?:\s*;\s*q=([01](?:\.\d{0,3})?))?$/;

/** The encoding that a client prefers, by its header `Accept-Encoding`; nothing if it wants the text as it is. */
export function encodingFor(accepted: string | undefined): Encoding | undefined {
  if (!accepted) return undefined;
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [, name, weight = '1'] = PART.exec(part.trim()) ?? [];
    if (name) weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight));
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const best = ENCODINGS.reduce((one, other) => (weightOf(other) > weightOf(one) ? other : one));
  // A client that does not name the plain text accepts it, but prefers what it names.
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** A strong tag belongs to one encoding of the resource, so that of another encoding has a suffix. */
const SUFFIXED = new RegExp(`^("[\\w-]{22})-(?:${ENCODINGS.join('|')})"$`);

export const tagFor = (tag: string, encoding: Encoding) =>
  tag.startsWith('W/') ? tag : tag.replace(/"$/, `-${encoding}"`);

/** The tag of the resource, whatever the encoding was in which it was read. */
export const tagWithoutEncoding = (tag: string) => tag.replace(SUFFIXED, '$1"');
