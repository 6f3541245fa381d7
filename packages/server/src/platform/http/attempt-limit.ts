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
   * that removes the attempt from the count, to be called if only failed attempts count and it did not fail. Throws a
   * 429 if there were too many.
   */
  begin(who: string): () => void;
}

export function createAttemptLimit(options: {
  max: number;
  perMs: number;
  entriesMax?: number;
  message?: string;
}): AttemptLimit {
  const { max, perMs, entriesMax = KEPT_MAX, message } = options;
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
      if (kept.size > entriesMax) kept.delete(kept.keys().next().value!);
      return () => {
        entry.count--;
        if (entry.count === 0 && kept.get(who) === entry) kept.delete(who);
      };
    },
  };
}

/** How many times more attempts an IPv6 site has than one of its networks. */
const NETWORKS_OF_SITE = 5;

export interface AddressLimit {
  /** Like `begin` of an attempt limit. Attempts at each subject are counted by themselves. */
  begin(ip: string, subject?: string): () => void;
}

/**
 * Counts by network, and by site too, because one IPv6 site has 65,536 networks. A site has more attempts than a network:
 * some providers give a part of one site to each customer, and these should not use up the attempts of each other.
 */
export function createAddressLimit(options: Parameters<typeof createAttemptLimit>[0]): AddressLimit {
  const ofNetwork = createAttemptLimit(options);
  const ofSite = createAttemptLimit({ ...options, max: options.max * NETWORKS_OF_SITE });
  return {
    begin(ip, subject = '') {
      const giveBackToNetwork = ofNetwork.begin(`${addressGroup(ip)} ${subject}`);
      try {
        const giveBackToSite = ofSite.begin(`${siteOf(ip)} ${subject}`);
        return () => {
          giveBackToNetwork();
          giveBackToSite();
        };
      } catch (refusal) {
        giveBackToNetwork();
        throw refusal;
      }
    },
  };
}

/**
 * An IPv4 address in IPv6 form, as sockets and NAT64 gateways show it (RFC 6052). Otherwise all would be one network.
 */
const IPV4_WITHIN = /^(?:::ffff|64:ff9b:):([0-9a-f]+):([0-9a-f]+)$/;

/** The prefix length of the largest IPv6 sites. */
const SITE_BITS = 48;

/**
 * Returns the largest site that the address may belong to. It is the sharer of unknown callers: one IPv6 site has
 * 65,536 networks, and otherwise each would get a share.
 */
export const siteOf = (ip: string) => addressGroup(ip, SITE_BITS);

/**
 * Returns the group whose attempts count together: an IPv4 address, or the /64 network that one IPv6 site has at least
 * for itself.
 */
export function addressGroup(ip: string, bits: typeof SITE_BITS | 64 = 64): string {
  const [address] = ip.split('%') as [string];
  if (!isIPv6(address)) return address;
  // As browsers write it: lowercase, in hexadecimal, with `::` for the longest run of zeros.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const mapped = IPV4_WITHIN.exec(canonical);
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
