/**
 * The only way in which the server sends HTTP requests to other servers. Addresses come from settings, and later from
 * people, so each one is checked: a request must not reach what only this machine or its network can reach.
 */
import { createAdmission } from '../admission/admission.ts';
import { OutboundError } from './errors.ts';
import { exchange, type OutgoingRequest } from './exchange.ts';
import type { Rules } from './guard.ts';

export { OutboundError, type OutboundFailure } from './errors.ts';
export { type Rules, rulesOf } from './guard.ts';

export interface OutboundRequest {
  method?: string;
  headers?: Headers | Record<string, string>;
  body?: string | URLSearchParams | Uint8Array | null;
  /** Aborts the request. */
  signal?: AbortSignal | null;
  /** The time limit of the whole request, with its redirects and the reading of the answer. */
  timeoutMs?: number;
  /** The size limit of the answer, as it arrives and after it is decompressed. */
  maxBytes?: number;
  /** How many redirects are followed. With 0, a redirect is returned like any other answer. */
  redirects?: number;
}

export interface Outbound {
  /** The answer has arrived completely. Throws an `OutboundError`. */
  fetch(url: string | URL, request?: OutboundRequest): Promise<Response>;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
/** More requests are refused, so that a slow server cannot make this one hold ever more of them. */
const AT_ONCE_MAX = 100;
const REDIRECTS = [301, 302, 303, 307, 308];
const USER_AGENT = 'Oriel';
/** Headers that only the first server may see. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization'];

export function createOutbound(rules: Rules, { atOnceMax = AT_ONCE_MAX } = {}): Outbound {
  const requests = createAdmission({ places: atOnceMax, waitingMax: 0 });

  async function follow(first: URL, request: OutboundRequest, signal: AbortSignal): Promise<Response> {
    const { redirects = 0, maxBytes = MAX_BYTES } = request;
    let url = first;
    let sent = toSent(request);
    for (let followed = 0; ; followed++) {
      const answer = await exchange(url, sent, rules, { maxBytes, signal });
      const location = REDIRECTS.includes(answer.status) ? answer.headers.get('location') : null;
      if (redirects === 0 || location === null) return answer;
      if (followed === redirects) {
        throw new OutboundError('too_many_redirects', url, `there are more than ${redirects} redirects`);
      }
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
      if (!next)
        throw new OutboundError('address_refused', url, 'it redirects to something that is not an address');
      const isSameOrigin = next.origin === url.origin;
      sent = redirected(sent, answer.status, isSameOrigin);
      // The body may hold a secret that is for the first server only.
      if (sent.body && !isSameOrigin)
        throw new OutboundError('address_refused', url, 'it redirects to another server');
      url = next;
    }
  }

  return {
    async fetch(address, request = {}) {
      const url = new URL(address);
      if (requests.enter()) {
        throw new OutboundError('too_many_at_once', url, 'this server sends too many requests at once');
      }
      const { signal, end } = limitTime(request);
      try {
        return await follow(url, request, signal);
      } finally {
        requests.leave();
        end();
      }
    },
  };
}

function limitTime({ timeoutMs = TIMEOUT_MS, signal: given }: OutboundRequest) {
  const controller = new AbortController();
  const leave = () => controller.abort(given!.reason);
  if (given?.aborted) leave();
  given?.addEventListener('abort', leave, { once: true });
  const timer = setTimeout(() => controller.abort(new DOMException('too slow', 'TimeoutError')), timeoutMs);
  const end = () => {
    clearTimeout(timer);
    given?.removeEventListener('abort', leave);
  };
  return { signal: controller.signal, end };
}

function toSent({ method = 'GET', headers, body }: OutboundRequest): OutgoingRequest {
  const sent = new Headers(headers);
  sent.set('user-agent', USER_AGENT);
  // Without it, the answer could be compressed in a way that we do not know.
  sent.set('accept-encoding', 'gzip, deflate, br');
  if (body instanceof URLSearchParams && !sent.has('content-type')) {
    sent.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
  }
  const bytes = body == null ? undefined : Buffer.from(body instanceof Uint8Array ? body : String(body));
  return { method: method.toUpperCase(), headers: sent, body: bytes };
}

/** As browsers do it: only 307 and 308 keep the method and the body of a POST. */
function redirected(
  { method, headers, body }: OutgoingRequest,
  status: number,
  isSameOrigin: boolean,
): OutgoingRequest {
  const kept = new Headers(headers);
  if (!isSameOrigin) for (const name of CREDENTIALS) kept.delete(name);
  if (status >= 307 || method === 'GET' || method === 'HEAD') return { method, headers: kept, body };
  for (const name of ['content-type', 'content-length']) kept.delete(name);
  return { method: 'GET', headers: kept, body: undefined };
}
