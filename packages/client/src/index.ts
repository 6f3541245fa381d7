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
import { OrielError } from './error.ts';
import { routes } from './routes.gen.ts';

export { OrielError };

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
  fetch?: typeof fetch;
}

export interface CallOptions {
  signal?: AbortSignal;
}

// biome-ignore lint/complexity/noBannedTypes: an operation without a body adds no argument
type BodyArgument<O extends Operation> = BodyOf<O> extends undefined ? {} : { body: BodyOf<O> };
type Arguments<O extends Operation> = ParamsOf<O> & QueryOf<O> & BodyArgument<O>;
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
};

type AnyArguments = Record<string, unknown>;
type AnyCall = (args?: AnyArguments, options?: CallOptions) => Promise<unknown>;

export function createOrielClient(options: OrielClientOptions): OrielClient {
  const calls: Record<string, AnyCall> = {};
  const iterate: Record<string, (args?: AnyArguments, options?: CallOptions) => AsyncGenerator> = {};
  for (const [id, route] of Object.entries(routes)) {
    const call: AnyCall = (args = {}, callOptions = {}) => send(options, route, args, callOptions);
    calls[id] = call;
    iterate[id] = (args, callOptions) => allItems(call, args, callOptions);
  }
  return { ...calls, iterate } as unknown as OrielClient;
}

interface Page {
  items: unknown[];
  pageInfo?: { hasNextPage: boolean; endCursor?: string | null } | null;
}

async function* allItems(call: AnyCall, args: AnyArguments = {}, options?: CallOptions) {
  for (let after = args.after; ; ) {
    const { items, pageInfo } = (await call(after == null ? args : { ...args, after }, options)) as Page;
    yield* items;
    if (!pageInfo?.hasNextPage) return;
    after = pageInfo.endCursor;
  }
}

const RETRY_STATUSES = new Set([429, 503]);
const FIRST_PAUSE_MS = 250;
const PAUSE_MAX_MS = 10_000;

async function send(options: OrielClientOptions, route: string, args: AnyArguments, { signal }: CallOptions) {
  const [method, url] = addressOf(options.baseUrl, route, args);
  const hasBody = args.body !== undefined;
  const retries = method === 'GET' ? (options.retries ?? 3) : 0;
  for (let attempt = 0; ; attempt++) {
    const response = await (options.fetch ?? fetch)(url, {
      method,
      headers: { ...(await headersOf(options)), ...(hasBody ? { 'content-type': 'application/json' } : {}) },
      body: hasBody ? JSON.stringify(args.body) : undefined,
      signal,
    });
    if (response.ok) return response.status === 204 ? undefined : response.json();
    if (attempt >= retries || !RETRY_STATUSES.has(response.status)) throw await errorOf(response);
    await response.body?.cancel();
    await pause(attempt, response.headers.get('retry-after'), signal);
  }
}

/** Path parameters go into the path, `body` into the body, and everything else into the query. */
function addressOf(baseUrl: string, route: string, args: AnyArguments): [method: string, url: string] {
  const [method, template] = route.split(' ') as [string, string];
  const inPath = new Set(['body']);
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    inPath.add(name);
    return encodeURIComponent(String(args[name]));
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (inPath.has(name) || value == null) continue;
    for (const one of [value].flat()) query.append(name, String(one));
  }
  const search = query.size ? `?${query}` : '';
  return [method, baseUrl.replace(/\/+$/, '') + path + search];
}

async function headersOf(options: OrielClientOptions): Promise<Record<string, string>> {
  const { apiKey, token, getHeaders } = options;
  const authorization = token ? `Bearer ${token}` : apiKey ? `Api-Key ${apiKey}` : undefined;
  return { ...(authorization ? { authorization } : {}), ...(await getHeaders?.()) };
}

async function errorOf(response: Response): Promise<OrielError> {
  const text = await response.text();
  try {
    return new OrielError(response.status, JSON.parse(text));
  } catch {
    // Not ours: a proxy's page, or nothing at all.
    return new OrielError(response.status, { code: 'unknown_error', message: `HTTP ${response.status}` });
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
