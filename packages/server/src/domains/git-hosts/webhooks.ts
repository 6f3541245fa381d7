/** Signatures of webhooks. A webhook only says "go and look": nothing in its body is believed. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The headers that hosts send, by their names in lower case. */
export interface WebhookHeaders {
  'x-hub-signature-256'?: string | undefined;
  'x-gitea-signature'?: string | undefined;
  'x-forgejo-signature'?: string | undefined;
  'x-gitlab-token'?: string | undefined;
  'webhook-id'?: string | undefined;
  'webhook-timestamp'?: string | undefined;
  'webhook-signature'?: string | undefined;
  'x-github-delivery'?: string | undefined;
  'x-gitea-delivery'?: string | undefined;
  'x-gitlab-event-uuid'?: string | undefined;
}

/** A webhook of Standard Webhooks that is older or newer is refused, because it may be a replay. */
const TOLERANCE_SECONDS = 300;

export function isSigned(
  headers: WebhookHeaders,
  body: Uint8Array,
  secret: string,
  now = Date.now(),
): boolean {
  const digest = (encoding: 'hex' | 'base64', ...parts: (string | Uint8Array)[]) => {
    // The key of Standard Webhooks is what the text stands for. Others take the text itself.
    const key = encoding === 'base64' ? Buffer.from(secret.replace(/^whsec_/, ''), 'base64') : secret;
    const hmac = createHmac('sha256', key);
    for (const part of parts) hmac.update(part);
    return hmac.digest(encoding);
  };
  const standard = headers['webhook-signature'];
  if (standard !== undefined) {
    const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
    const age = Math.abs(now / 1000 - Number(timestamp));
    if (!(age <= TOLERANCE_SECONDS)) return false;
    const wanted = `v1,${digest('base64', `${id}.${timestamp}.`, body)}`;
    return standard.split(' ').some((given) => isSame(given, wanted));
  }
  const hex = headers['x-gitea-signature'] ?? headers['x-forgejo-signature'];
  const github = headers['x-hub-signature-256'];
  if (github !== undefined) return isSame(github, `sha256=${digest('hex', body)}`);
  if (hex !== undefined) return isSame(hex, digest('hex', body));
  const token = headers['x-gitlab-token'];
  return token !== undefined && isSame(token, secret);
}

/** Compares digests of both, so that neither the length nor the place of a difference is told by the time it takes. */
const isSame = (a: string, b: string) => {
  const hash = (text: string) => createHmac('sha256', 'compare').update(text).digest();
  return timingSafeEqual(hash(a), hash(b));
};

/** The id that the host repeats when it sends a delivery again. */
export const deliveryOf = (headers: WebhookHeaders): string | undefined =>
  (
    headers['webhook-id'] ??
    headers['x-github-delivery'] ??
    headers['x-gitea-delivery'] ??
    headers['x-gitlab-event-uuid']
  )?.slice(0, 200);
