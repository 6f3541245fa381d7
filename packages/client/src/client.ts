/**
 * The typed client. Its types come from the contract; at run time it only knows the method and path of each
 * operation, needs nothing but `fetch`, and so runs in browsers and servers alike.
 */
import type { Operation, Operations, ParamsOf, QueryOf } from '@oriel/contract';
import { encodeBody, type SentBody, type SentHeaders } from './bodies.ts';
import { errorFrom, OrielError, OrielTimeoutError } from './error.ts';
import { type ReceivedReply, readReply } from './replies.ts';
import { type ClientRoute, parseRoute, TREE } from './route.ts';
import { routes } from './routes.gen.ts';
import type { CallOptions, OrielClientOptions, ReplyWithHeaders } from './types.ts';

type GivenArguments<O extends Operation> = ParamsOf<O> & QueryOf<O> & SentHeaders<O> & SentBody<O>;
/** Used because the empty type would allow any field. */
type Arguments<O extends Operation> = keyof GivenArguments<O> extends never
  ? Record<string, never>
  : GivenArguments<O>;
type Call<O extends Operation, Result> =
  // biome-ignore lint/complexity/noBannedTypes: matches arguments that are all optional
  {} extends Arguments<O>
    ? (args?: Arguments<O>, options?: CallOptions) => Result
    : (args: Arguments<O>, options?: CallOptions) => Result;

type Contract = Record<string, Operation>;
type ItemOf<O extends Operation> = ReceivedReply<O> extends { items: (infer Item)[] } ? Item : never;
type ListId<Ops extends Contract> = {
  [Id in keyof Ops]: Id extends typeof TREE
    ? never
    : Ops[Id]['query'] extends { after: unknown }
      ? Id
      : never;
}[keyof Ops];

export type ClientOf<Ops extends Contract> = {
  [Id in keyof Ops]: Call<Ops[Id], Promise<ReceivedReply<Ops[Id]>>>;
} & {
  /** Iterates over the items of all pages of a cursor list: `for await (const key of client.iterate.listApiKeys())`. */
  iterate: {
    [Id in ListId<Ops>]: Call<Ops[Id], AsyncGenerator<ItemOf<Ops[Id]>, void, undefined>>;
  };
  /** The operations, with headers in the result: `const { body, etag } = await client.withHeaders.getReport(…)`. */
  withHeaders: {
    [Id in keyof Ops]: Call<Ops[Id], Promise<ReplyWithHeaders<ReceivedReply<Ops[Id]>>>>;
  };
};

export type OrielClient = ClientOf<Operations>;

type AnyArguments = Record<string, unknown>;
type AnyCall<Result> = (args?: AnyArguments, options?: CallOptions) => Result;

export const createOrielClient = (options: OrielClientOptions): OrielClient =>
  createClientFor<Operations>(routes, options);

/** A client for a given set of operations, described by their routes; see `routes.gen.ts`. */
export function createClientFor<Ops extends Contract>(
  routes: Record<string, string>,
  options: OrielClientOptions,
): ClientOf<Ops> {
  const calls: Record<string, AnyCall<Promise<unknown>>> = {};
  const withHeaders: Record<string, AnyCall<Promise<ReplyWithHeaders<unknown>>>> = {};
  const iterate: Record<string, AnyCall<AsyncGenerator>> = {};
  for (const [id, text] of Object.entries(routes)) {
    // Parsed by each call, because most clients call only a few of the operations.
    const callWithHeaders = async (args: AnyArguments = {}, callOptions: CallOptions = {}) =>
      send(options, requestOf(options.baseUrl, id, parseRoute(text), args), callOptions);
    const call = async (args?: AnyArguments, callOptions?: CallOptions) =>
      (await callWithHeaders(args, callOptions)).body;
    withHeaders[id] = callWithHeaders;
    calls[id] = call;
    if (id !== TREE) iterate[id] = (args, callOptions) => allItems(call, args, callOptions);
  }
  return { ...calls, iterate, withHeaders } as unknown as ClientOf<Ops>;
}

interface Page {
  items: unknown[];
  pageInfo?: { hasNextPage: boolean; endCursor?: string | null } | null;
}

async function* allItems(call: AnyCall<Promise<unknown>>, args: AnyArguments = {}, options?: CallOptions) {
  for (let after = args.after; ; ) {
    const { items, pageInfo } = (await call(after == null ? args : { ...args, after }, options)) as Page;
    if (!pageInfo)
      throw new TypeError('This list has no cursor: leave out `limit`, `page` and a sort by `lastViewedAt`.');
    yield* items;
    if (!pageInfo.hasNextPage) return;
    after = pageInfo.endCursor;
  }
}

const RETRY_STATUSES = new Set([429, 503]);
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 10_000;

interface Request {
  operation: string;
  route: ClientRoute;
  url: string;
  headers: Record<string, string>;
  body: RequestInit['body'];
}

/**
 * The time limit, if there is one, includes all tries, the pauses between them, and reading the answer. Once a stream
 * has begun, it has no time limit.
 */
async function send(options: OrielClientOptions, request: Request, callOptions: CallOptions) {
  const timeoutMs = callOptions.timeoutMs ?? options.timeoutMs;
  const late = new AbortController();
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => late.abort(), timeoutMs);
  const signal = callOptions.signal
    ? timer === undefined
      ? callOptions.signal
      : AbortSignal.any([callOptions.signal, late.signal])
    : late.signal;
  try {
    return await tryAndRetry(options, request, { ...callOptions, signal });
  } catch (error) {
    if (late.signal.aborted && signal.reason === late.signal.reason) {
      throw new OrielTimeoutError(request.operation, timeoutMs!);
    }
    if (error instanceof OrielError || signal.aborted) throw error;
    // The platform's own error, "fetch failed", does not name the operation.
    const { message, cause = error } = error as Error;
    throw new TypeError(`${request.operation}: ${message}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

async function tryAndRetry(options: OrielClientOptions, request: Request, callOptions: CallOptions) {
  const { operation, route, url, body } = request;
  const { method } = route;
  const { signal } = callOptions;
  const retries = method === 'GET' ? (options.retries ?? 3) : 0;
  const init: RequestInit = {
    method,
    body,
    signal,
    redirect: route.reply === 'redirect' ? 'manual' : 'follow',
  };
  // `fetch` sends a stream only if it is told that the answer comes after the whole body.
  if (body instanceof ReadableStream) Object.assign(init, { duplex: 'half' });
  for (let attempt = 0; ; attempt++) {
    const headers = { ...request.headers, ...(await headersOf(options, callOptions)) };
    const response = await (options.fetch ?? fetch)(url, { ...init, headers });
    if (response.ok || route.reply === 'redirect') {
      const reply = await readReply(operation, route.reply, response);
      if (reply) return reply;
    }
    if (attempt >= retries || !RETRY_STATUSES.has(response.status))
      throw await errorFrom(operation, response);
    await response.body?.cancel();
    await pause(attempt, response.headers.get('retry-after'), signal);
  }
}

/**
 * Path parameters go into the path, query parameters into the query and `body` into the body. Any other argument is
 * refused: if a secret that belongs in the body were sent as a query, every proxy on the way would log it.
 */
function requestOf(baseUrl: string, operation: string, route: ClientRoute, args: AnyArguments): Request {
  const refuse = (problem: string) => {
    throw new TypeError(`${operation}: ${problem}`);
  };
  const known = new Set(['body', 'headers', ...route.query]);
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    known.add(name);
    const value = String(args[name] ?? '');
    // Dots would lead to the address of another operation.
    if (/^\.{0,2}$/.test(value)) refuse(`${name} must be given, and must not be empty or dots`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (!known.has(name)) {
      refuse(`${name} is not a parameter of this operation; give fields of the body as { body: { … } }`);
    }
    if (!route.query.includes(name) || value == null) continue;
    for (const one of [value].flat()) query.append(name, String(one));
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries((args.headers ?? {}) as AnyArguments)) {
    if (!route.headers.includes(name)) refuse(`${name} is not a header of this operation`);
    if (value != null) headers[name] = String(value);
  }
  const search = query.size ? `?${query}` : '';
  const { body, contentType } = encodeBody(route.body, args.body);
  if (contentType) headers['content-type'] = contentType;
  return { operation, route, url: baseUrl.replace(/\/+$/, '') + path + search, headers, body };
}

async function headersOf(options: OrielClientOptions, callOptions: CallOptions) {
  const { apiKey, token, getHeaders } = options;
  const own = {
    authorization: token ? `Bearer ${token}` : apiKey ? `Api-Key ${apiKey}` : undefined,
    'if-match': callOptions.ifMatch,
    'if-none-match': callOptions.ifNoneMatch,
  };
  const given = Object.entries(own).filter((header): header is [string, string] => header[1] !== undefined);
  return { ...Object.fromEntries(given), ...(await getHeaders?.()) };
}

/**
 * Waits as long as the server asks for. By default the pause starts at a quarter of a second, doubles, and varies a
 * little.
 */
async function pause(attempt: number, retryAfter: string | null, signal: AbortSignal | undefined) {
  const asked = Number(retryAfter ?? Number.NaN) * 1000;
  const own = FIRST_PAUSE_MS * 2 ** attempt * (0.75 + Math.random() / 2);
  const ms = Math.min(Number.isFinite(asked) ? asked : own, PAUSE_MAX_MS);
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
