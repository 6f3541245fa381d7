/**
 * Refuses a caller for a while after too many attempts: of any kind for a rate limit, or only failed ones for secrets.
 * Each server counts for itself.
 */
import { isIPv6 } from 'node:net';
import { ApiError } from '../errors.ts';

const KEPT_MAX = 100_000;

export interface AttemptLimit {
  /**
   * Counts an attempt before its outcome is known, so that many attempts at once are counted too. Returns a function
   * that removes the attempt from the count, to be called if only failed attempts count and it did not fail. Throws a 429 if there were too many.
   */
  begin(who: string): () => void;
}

export function createAttemptLimit(options: {
  max: number;
  perMs: number;
  keptMax?: number;
  message?: string;
}): AttemptLimit {
  const { max, perMs, keptMax = KEPT_MAX, message } = options;
  /** Ordered by the last attempt. */
  const kept = new Map<string, { count: number; until: number }>();
  return {
    begin(who) {
      const now = Date.now();
      const known = kept.get(who);
      const entry = known && known.until > now ? known : { count: 0, until: now + perMs };
      if (entry.count >= max) {
        throw new ApiError('rate_limited', {
          message,
          retryAfterSeconds: Math.ceil((entry.until - now) / 1000),
        });
      }
      entry.count++;
      kept.delete(who);
      kept.set(who, entry);
      if (kept.size > keptMax) kept.delete(kept.keys().next().value!);
      return () => {
        entry.count--;
        if (entry.count === 0 && kept.get(who) === entry) kept.delete(who);
      };
    },
  };
}

/**
 * Returns the group whose attempts count together: an IPv4 address, or the /64 network that one IPv6 site has at least
 * for itself.
 */
export function addressGroup(ip: string, bits: 48 | 64 = 64): string {
  const [address] = ip.split('%') as [string];
  if (!isIPv6(address)) return address;
  // As browsers write it: lowercase, in hexadecimal, with `::` for the longest run of zeros.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(canonical);
  if (mapped) {
    const bytes = mapped.slice(1).flatMap((part) => {
      const number = Number.parseInt(part, 16);
      return [number >> 8, number & 255];
    });
    return bytes.join('.');
  }
  const [head, tail] = canonical.split('::').map((part) => part.split(':').filter(Boolean)) as [
    string[],
    string[] | undefined,
  ];
  const zeros = Array<string>(8 - head.length - (tail?.length ?? 0)).fill('0');
  return `${[...head, ...zeros, ...(tail ?? [])].slice(0, bits / 16).join(':')}::/${bits}`;
}
