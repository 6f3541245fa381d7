/** Where webhooks may go, how requests are signed, and when they are sent again. */
import { createHmac, randomBytes } from 'node:crypto';
import { invalid } from '../../platform/errors.ts';
import { addressProblem } from '../../platform/outbound/addresses.ts';

/** Throws a 400. `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES. */
export function requireUrl(text: string, options: { allowPrivate: boolean }) {
  const problem = addressProblem(text, options);
  if (problem) throw invalid('url', problem);
}

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

export const newSecret = () => SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export interface Message {
  id: string;
  /** In seconds since 1970. */
  timestamp: number;
  body: string;
}

/** The headers of Standard Webhooks: https://www.standardwebhooks.com. */
export const headersOf = ({ id, timestamp, body }: Message, secrets: readonly string[]) => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' '),
});

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
/** Pauses after the first attempt, the second one and so on: a day in total. */
const PAUSES_MS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 7 * HOUR, 9.5 * HOUR];

/** Undefined if there is no further attempt. Varies at random, so that what failed together is not sent together. */
export function pauseAfter(attempts: number, random = Math.random): number | undefined {
  const pause = PAUSES_MS[attempts - 1];
  return pause === undefined ? undefined : Math.round(pause * (0.9 + random() / 5));
}
