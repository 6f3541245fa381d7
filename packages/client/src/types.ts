/** The types that callers name, apart from those of the contract. The published package has this file as it is. */

export interface OrielClientOptions {
  /** Scheme and host of the server, such as `https://analytics.example.com`. */
  baseUrl: string;
  apiKey?: string | undefined;
  /** Used instead of an API key: a token, such as the one that an embed session was exchanged for. */
  token?: string | undefined;
  /** Returns headers for each request, for callers with a credential other than an API key. */
  getHeaders?: (() => Record<string, string> | Promise<Record<string, string>>) | undefined;
  /** How often a safe request is tried again after a 429 or 503; 3 by default. */
  retries?: number | undefined;
  /** How long a call may take, with its retries; no limit by default. A longer call fails with `OrielTimeoutError`. */
  timeoutMs?: number | undefined;
  fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** Overrides the client's limit. */
  timeoutMs?: number | undefined;
  /** Make the change only if the resource still has this `etag`. Otherwise the answer is a 412 and nothing changes. */
  ifMatch?: string | undefined;
  /** With `*`, an upsert only creates. With an `etag`, reading an unchanged resource fails with `not_modified`. */
  ifNoneMatch?: string | undefined;
}

/** A reply with its headers. */
export interface ReplyWithHeaders<Body> {
  status: number;
  body: Body;
  /** The version of the resource in the reply, for `ifMatch`. */
  etag: string | undefined;
  headers: Headers;
}

/** A reply that may be large. Read it as a stream, or completely. */
export interface Download {
  contentType: string;
  stream: ReadableStream<Uint8Array>;
  text(): Promise<string>;
  bytes(): Promise<Uint8Array>;
}
