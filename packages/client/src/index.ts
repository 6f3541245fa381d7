/**
 * The typed client. Its types come from the contract; at run time it only knows the method and path of each
 * operation, needs nothing but `fetch`, and so runs in browsers and servers alike.
 */
import type {
  BodyOf,
  ErrorCode,
  Operation,
  OperationId,
  Operations,
  ParamsOf,
  QueryOf,
  ReplyOf,
} from '@oriel/contract';
import { OrielError, OrielTimeoutError } from './error.ts';
import { routes } from './routes.gen.ts';

export { OrielError, OrielTimeoutError };

export interface OrielClientOptions {
  /** Scheme and host of the server, such as `https://analytics.example.com`. */
  baseUrl: string;
  apiKey?: string;
  /** A token, such as the one that an embed session was exchanged for; instead of an API key. */
  token?: string;
  /** Headers for each request, for callers who hold another credential than an API key. */
  getHeaders?: () => Record<string, string> | Promise<Record<string, string>>;
  /** How often a safe request is tried again after a 429 or 503; 3 by default. */
  retries?: number;
  /** How long a call may take, with its retries; without limit by default. Beyond it: `OrielTimeoutError`. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Instead of the client's own. */
  timeoutMs?: number;
  /** Change it only while it is the version with this `etag`; else the answer is a 412 and nothing changes. */
  ifMatch?: string;
  /** `*` makes an upsert create only. With an `etag`, reading what is still the same fails with `not_modified`. */
  ifNoneMatch?: string;
}

/** A reply with what came beside it. */
export interface ReplyWithHeaders<Body> {
  status: number;
  body: Body;
  /** The version of what was answered, for `ifMatch`. */
  etag: string | undefined;
  headers: Headers;
}

// biome-ignore lint/complexity/noBannedTypes: an operation without a body adds no argument
type BodyArgument<O extends Operation> = BodyOf<O> extends undefined ? {} : { body: BodyOf<O> };
type GivenArguments<O extends Operation> = ParamsOf<O> & QueryOf<O> & BodyArgument<O>;
/** The empty type would take any field. */
type Arguments<O extends Operation> = keyof GivenArguments<O> extends never
  ? Record<string, never>
  : GivenArguments<O>;
type Call<O extends Operation, Result> =
  // biome-ignore lint/complexity/noBannedTypes: matches arguments that are all optional
  {} extends Arguments<O>
    ? (args?: Arguments<O>, options?: CallOptions) => Result
    : (args: Arguments<O>, options?: CallOptions) => Result;

type AsOperation<Id extends OperationId> = Operations[Id] extends Operation ? Operations[Id] : never;
type ItemOf<O extends Operation> = ReplyOf<O> extends { items: (infer Item)[] } ? Item : never;
type ListId = {
  [Id in OperationId]: AsOperation<Id>['query'] extends { after: unknown } ? Id : never;
}[OperationId];

export type OrielClient = {
  [Id in OperationId]: Call<AsOperation<Id>, Promise<ReplyOf<AsOperation<Id>>>>;
} & {
  /** For each cursor list, its items across all pages: `for await (const key of client.iterate.listApiKeys())`. */
  iterate: {
    [Id in ListId]: Call<AsOperation<Id>, AsyncGenerator<ItemOf<AsOperation<Id>>, void, undefined>>;
  };
  /** Each operation again, answering with headers: `const { body, etag } = await client.withHeaders.getReport(…)`. */
  withHeaders: {
    [Id in OperationId]: Call<AsOperation<Id>, Promise<ReplyWithHeaders<ReplyOf<AsOperation<Id>>>>>;
  };
};

type AnyArguments = Record<string, unknown>;
type AnyCall<Result> = (args?: AnyArguments, options?: CallOptions) => Result;

export function createOrielClient(options: OrielClientOptions): OrielClient {
  const calls: Record<string, AnyCall<Promise<unknown>>> = {};
  const withHeaders: Record<string, AnyCall<Promise<ReplyWithHeaders<unknown>>>> = {};
  const iterate: Record<string, AnyCall<AsyncGenerator>> = {};
  for (const [id, route] of Object.entries(routes)) {
    const callWithHeaders = async (args: AnyArguments = {}, callOptions: CallOptions = {}) =>
      send(options, requestOf(options.baseUrl, id, route, args), callOptions);
    const call = async (args?: AnyArguments, callOptions?: CallOptions) =>
      (await callWithHeaders(args, callOptions)).body;
    withHeaders[id] = callWithHeaders;
    calls[id] = call;
    iterate[id] = (args, callOptions) => allItems(call, args, callOptions);
  }
  return { ...calls, iterate, withHeaders } as unknown as OrielClient;
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
  method: string;
  url: string;
  body: string | undefined;
}

/** Within the time limit, if there is one: all tries, the pauses between them, and reading the answer. */
async function send(options: OrielClientOptions, request: Request, callOptions: CallOptions) {
  const timeoutMs = callOptions.timeoutMs ?? options.timeoutMs;
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const signals = [callOptions.signal, timeout].filter((signal) => signal !== undefined);
  const signal = signals.length > 1 ? AbortSignal.any(signals) : signals[0];
  try {
    return await tryAndRetry(options, request, { ...callOptions, signal });
  } catch (error) {
    if (timeout?.aborted && signal?.reason === timeout.reason) {
      throw new OrielTimeoutError(request.operation, timeoutMs!);
    }
    if (error instanceof OrielError || signal?.aborted) throw error;
    // The platform's own "fetch failed" does not say what for.
    const { message, cause = error } = error as Error;
    throw new TypeError(`${request.operation}: ${message}`, { cause });
  }
}

async function tryAndRetry(options: OrielClientOptions, request: Request, callOptions: CallOptions) {
  const { operation, method, url, body } = request;
  const { signal } = callOptions;
  const retries = method === 'GET' ? (options.retries ?? 3) : 0;
  for (let attempt = 0; ; attempt++) {
    const headers = await headersOf(options, callOptions, body !== undefined);
    const response = await (options.fetch ?? fetch)(url, { method, headers, body, signal });
    if (response.ok) return readReply(operation, response);
    if (attempt >= retries || !RETRY_STATUSES.has(response.status)) throw await errorOf(operation, response);
    await response.body?.cancel();
    await pause(attempt, response.headers.get('retry-after'), signal);
  }
}

async function readReply(operation: string, response: Response): Promise<ReplyWithHeaders<unknown>> {
  const { status, headers } = response;
  const body = status === 204 ? undefined : parsed(await response.text());
  if (body === undefined && status !== 204) throw foreignAnswer(operation, status);
  return { status, body, etag: headers.get('etag') ?? undefined, headers };
}

/**
 * Path parameters go into the path, query parameters into the query and `body` into the body. Anything else is a
 * mistake: sent as a query, a secret that belongs into the body would end up in the logs of every proxy on the way.
 */
function requestOf(baseUrl: string, operation: string, route: string, args: AnyArguments): Request {
  const [, method, template, names = ''] = /^(\S+) ([^?]+)(?:\?(.*))?$/.exec(route)!;
  const refuse = (problem: string) => {
    throw new TypeError(`${operation}: ${problem}`);
  };
  const known = new Set(['body', ...names.split('&')]);
  const path = template!.replace(/\{(\w+)\}/g, (_, name: string) => {
    known.add(name);
    const value = String(args[name] ?? '');
    // Dots would lead to another address than the one of this operation.
    if (/^\.{0,2}$/.test(value)) refuse(`${name} must be given, and not be empty or dots`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (!known.has(name)) {
      refuse(`${name} is no parameter of this operation; fields of the body are given as { body: { … } }`);
    }
    if (name === 'body' || template!.includes(`{${name}}`) || value == null) continue;
    for (const one of [value].flat()) query.append(name, String(one));
  }
  const search = query.size ? `?${query}` : '';
  return {
    operation,
    method: method!,
    url: baseUrl.replace(/\/+$/, '') + path + search,
    body: args.body === undefined ? undefined : JSON.stringify(args.body),
  };
}

async function headersOf(options: OrielClientOptions, callOptions: CallOptions, hasBody: boolean) {
  const { apiKey, token, getHeaders } = options;
  const own = {
    authorization: token ? `Bearer ${token}` : apiKey ? `Api-Key ${apiKey}` : undefined,
    'content-type': hasBody ? 'application/json' : undefined,
    'if-match': callOptions.ifMatch,
    'if-none-match': callOptions.ifNoneMatch,
  };
  const given = Object.entries(own).filter((header): header is [string, string] => header[1] !== undefined);
  return { ...Object.fromEntries(given), ...(await getHeaders?.()) };
}

async function errorOf(operation: string, response: Response): Promise<OrielError> {
  const { status } = response;
  if (status === 304) {
    return new OrielError(operation, status, { code: 'not_modified', message: 'It is still the same.' });
  }
  const body = parsed(await response.text());
  return body ? new OrielError(operation, status, body) : foreignAnswer(operation, status);
}

/** Not the server's: a proxy's page, or nothing at all. */
const foreignAnswer = (operation: string, status: number) =>
  new OrielError(operation, status, { code: 'unknown_error', message: `HTTP ${status}` });

function parsed(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As long as the server asks for, else doubling from a quarter of a second, spread a little. */
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

export type { ErrorCode };
