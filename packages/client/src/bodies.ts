/** Makes request bodies of every kind from plain values. */
import type { BodyKind, HeadersOf, Operation, TNothing } from '@oriel/contract';
import type { Static, TSchema } from 'typebox';

type Data = Blob | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> | string;

type Files<F> = {
  [Name in keyof F as F[Name] extends { optional: true } ? never : Name]: Blob | readonly Blob[];
} & { [Name in keyof F as F[Name] extends { optional: true } ? Name : never]?: Blob | readonly Blob[] };

type BodyValue<B extends TSchema> = B extends { kind: 'multipart'; schema: infer S; files: infer F }
  ? Static<S & TSchema> & Files<F>
  : B extends { kind: 'bytes'; contentTypes: readonly (infer T extends string)[] }
    ? { contentType: T; data: Data }
    : B extends { kind: 'json' | 'form' | 'formOrJson'; schema: infer S }
      ? Static<S & TSchema>
      : Static<B>;

export type SentBody<O extends Operation> = O['body'] extends TNothing
  ? // biome-ignore lint/complexity/noBannedTypes: an operation without a body adds no argument
    {}
  : [O['optionalBody']] extends [undefined]
    ? { body: BodyValue<O['body']> }
    : { body?: BodyValue<O['body']> };

export type SentHeaders<O extends Operation> = keyof O['headers'] extends never
  ? // biome-ignore lint/complexity/noBannedTypes: an operation without headers adds no argument
    {}
  : // biome-ignore lint/complexity/noBannedTypes: matches headers that are all optional
    {} extends HeadersOf<O>
    ? { headers?: HeadersOf<O> }
    : { headers: HeadersOf<O> };

interface EncodedBody {
  body: RequestInit['body'];
  /** Absent if the platform sets it, because it chooses the boundary. */
  contentType?: string;
}

type Fields = Record<string, unknown>;

export function encodeBody(kind: BodyKind['kind'], value: unknown): EncodedBody {
  if (value === undefined) return { body: undefined };
  switch (kind) {
    case 'form':
      return {
        body: new URLSearchParams(entriesOf(value as Fields) as [string, string][]).toString(),
        contentType: 'application/x-www-form-urlencoded',
      };
    case 'multipart':
      return { body: formData(value as Fields) };
    case 'bytes': {
      const { contentType, data } = value as { contentType: string; data: Data };
      return { body: data as RequestInit['body'], contentType };
    }
    default:
      return { body: JSON.stringify(value), contentType: 'application/json' };
  }
}

/** Returns each field with its value as text, and each file. */
const entriesOf = (fields: Fields): [string, string | Blob][] =>
  Object.entries(fields).flatMap(([name, given]) =>
    [given]
      .flat()
      .filter((value) => value != null)
      .map((value): [string, string | Blob] => [name, value instanceof Blob ? value : String(value)]),
  );

/** Fields come first, so that a server can refuse them before the files have arrived. */
function formData(fields: Fields): FormData {
  const data = new FormData();
  const entries = entriesOf(fields);
  for (const [name, value] of entries) if (typeof value === 'string') data.append(name, value);
  for (const [name, value] of entries) if (typeof value !== 'string') data.append(name, value);
  return data;
}
