/** Sends one request to an address that was checked, and reads the answer within its limits. */
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline, Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutboundError, type OutboundFailure } from './errors.ts';
import { guardAgent, type Rules } from './guard.ts';

export interface OutgoingRequest {
  method: string;
  headers: Headers;
  body: Buffer | undefined;
}

export interface Limits {
  maxBytes: number;
  signal: AbortSignal;
}

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};
/** Statuses whose answers have no body. `Response` refuses one. */
const WITHOUT_BODY = [204, 205, 304];

export async function exchange(
  url: URL,
  sent: OutgoingRequest,
  rules: Rules,
  limits: Limits,
): Promise<Response> {
  requireAllowed(url, rules);
  try {
    const message = await send(url, sent, rules, limits.signal);
    // Without a listener, an error after the end of the reading would end the process.
    message.on('error', () => {});
    try {
      const body = await read(url, message, limits);
      const hasBody = !WITHOUT_BODY.includes(message.statusCode!) && sent.method !== 'HEAD';
      return new Response(hasBody ? body : null, {
        status: message.statusCode!,
        headers: headersOf(message),
      });
    } finally {
      message.destroy();
    }
  } catch (error) {
    throw explain(url, error, limits.signal);
  }
}

function requireAllowed(url: URL, { protocols }: Rules) {
  if (url.username || url.password) {
    throw new OutboundError('address_refused', url, 'an address must not contain a user name or password');
  }
  if (!protocols.includes(url.protocol)) {
    throw new OutboundError('address_refused', url, 'the address must begin with https://');
  }
}

const notPublic = (url: URL) =>
  new OutboundError('address_refused', url, 'this is not a public address (see ORIEL_ALLOW_PRIVATE_REMOTES)');

function send(
  url: URL,
  { method, headers, body }: OutgoingRequest,
  rules: Rules,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const isHttps = url.protocol === 'https:';
  const request = isHttps ? requestHttps : requestHttp;
  // Its own agent: a connection that was kept open could lead to an address that was allowed for another request.
  const agent = guardAgent(new (isHttps ? HttpsAgent : HttpAgent)(), rules, () => notPublic(url));
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      headers: { ...Object.fromEntries(headers), ...(body ? { 'content-length': body.length } : {}) },
      signal,
      agent,
    });
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Counts the bytes as they arrive and again after they are decompressed: a small answer may hold a very large one. */
async function read(url: URL, message: IncomingMessage, { maxBytes, signal }: Limits): Promise<Buffer> {
  const tooLarge = () => new OutboundError('too_large', url, `the answer has more than ${maxBytes} bytes`);
  if (Number(message.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  let arrived = 0;
  async function* counted() {
    for await (const chunk of message) {
      arrived += chunk.length;
      if (arrived > maxBytes) throw tooLarge();
      yield chunk;
    }
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of decoded(url, message, Readable.from(counted()))) {
    signal.throwIfAborted();
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function decoded(url: URL, { headers }: IncomingMessage, arriving: Readable): Readable {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (coding === 'identity') return arriving;
  const decoder = DECODERS[coding];
  if (!decoder) throw new OutboundError('not_readable', url, 'the answer is compressed in an unknown way');
  // The reader of the last stream sees the errors of all.
  return pipeline(arriving, decoder(), () => {});
}

/** Returns the headers without those that describe the answer before it was decompressed. */
function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) {
    if (['content-encoding', 'content-length', 'transfer-encoding'].includes(name)) continue;
    for (const value of values) headers.append(name, value);
  }
  return headers;
}

function explain(url: URL, error: unknown, signal: AbortSignal): unknown {
  if (error instanceof OutboundError) return error;
  const fail = (failure: OutboundFailure, why: string) => new OutboundError(failure, url, why);
  if (signal.aborted) {
    return signal.reason?.name === 'TimeoutError'
      ? fail('timed_out', 'the answer took too long')
      : signal.reason;
  }
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown reason';
  return code.startsWith('Z_') || code.startsWith('ERR_BROTLI') || code.startsWith('ERR__ERROR')
    ? fail('not_readable', 'the answer cannot be decompressed')
    : fail('unreachable', `the server cannot be reached (${code})`);
}
