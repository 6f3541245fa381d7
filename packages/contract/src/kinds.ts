/** The kinds of bodies and replies other than plain JSON. A schema alone, as `body` or `reply`, means JSON. */
import type { Static, TObject, TProperties, TSchema } from 'typebox';

/** JSON with another content type than `application/json`, such as SCIM's. A body may use either content type. */
export const JsonAs = <S extends TSchema>(contentType: string, schema: S) =>
  ({ kind: 'json', schema, contentType }) as const;

/** As a body: the names of the schema are accepted in any letter case, as SCIM wants it. */
export const InAnyCase = <B extends JsonAs>(body: B) => ({ ...body, inAnyCase: true }) as const;

/** The handler may also return nothing. Then the reply is a 204. */
export const OrNothing = <R extends JsonAs>(reply: R) => ({ ...reply, orNothing: true }) as const;

/** `application/x-www-form-urlencoded`. Texts are converted to the types of the schema, as in a query. */
export const Form = <S extends TObject>(schema: S) => ({ kind: 'form', schema }) as const;

/** A form or JSON. The content type decides. The form may have fields of its own, as OAuth's do. */
export const FormOrJson = <S extends TObject, F extends TObject = S>(schema: S, form?: F) =>
  ({ kind: 'formOrJson', schema, form: form ?? (schema as unknown as F) }) as const;

export interface FileRule {
  maxBytes: number;
  /** 1 by default. */
  maxCount?: number;
  /** May be left out. */
  optional?: true;
  /** Any by default. */
  contentTypes?: readonly string[];
}

/** `multipart/form-data`: a schema describes the fields, and `files` describes the files by the names of their parts. */
export const Multipart = <S extends TObject, const F extends Record<string, FileRule>>(schema: S, files: F) =>
  ({ kind: 'multipart', schema, files }) as const;

/** As a body: any bytes with one of these content types. */
export const BytesBody = <const T extends string>(contentTypes: readonly T[], maxBytes: number) =>
  ({ kind: 'bytes', contentTypes, maxBytes }) as const;

/** One JSON value per line. */
export const Ndjson = <S extends TSchema>(schema: S) => ({ kind: 'ndjson', schema }) as const;

/** JSON that the handler returns as text, so that large parts of it need not become values first. */
export const JsonText = <S extends TSchema>(schema: S) => ({ kind: 'jsonText', schema }) as const;

/** A line of column names, then one line per row. */
export const Csv = { kind: 'csv' } as const;

export const Html = { kind: 'html' } as const;

/** The handler may also return another address. Then the reply is a 303. */
export const HtmlOrRedirect = { kind: 'html', orRedirect: true } as const;

/** Server-sent events. Each has a name, and its data matches the schema with that name. */
export const EventStream = <E extends TProperties>(events: E) => ({ kind: 'eventStream', events }) as const;

/** Redirects. With 302 some browsers keep the method; with 303 all use GET; with 307 all keep the method. */
export const Redirect = (status: 302 | 303 | 307 = 302) => ({ kind: 'redirect', status }) as const;

/** As a reply: bytes with one of these content types. */
export const Bytes = <const T extends string>(...contentTypes: readonly T[]) =>
  ({ kind: 'bytes', contentTypes }) as const;

type JsonAs = { kind: 'json'; schema: TSchema; contentType: string; orNothing?: true; inAnyCase?: true };
type Form = { kind: 'form'; schema: TObject };
type FormOrJson = { kind: 'formOrJson'; schema: TObject; form: TObject };
type Multipart = { kind: 'multipart'; schema: TObject; files: Record<string, FileRule> };
type BytesBody = { kind: 'bytes'; contentTypes: readonly string[]; maxBytes: number };
type Ndjson = { kind: 'ndjson'; schema: TSchema };
type JsonText = { kind: 'jsonText'; schema: TSchema };
type Csv = typeof Csv;
type Html = { kind: 'html'; orRedirect?: true };
type EventStream = { kind: 'eventStream'; events: TProperties };
type Redirect = ReturnType<typeof Redirect>;
type Bytes = { kind: 'bytes'; contentTypes: readonly string[] };

export type BodyKind = JsonAs | Form | FormOrJson | Multipart | BytesBody;
export type ReplyKind = JsonAs | JsonText | Ndjson | Csv | Html | EventStream | Redirect | Bytes;

/** A file, or a body of bytes. It has arrived completely (on disk if it is not small) and can be read several times. */
export interface Upload<T extends string = string> {
  /** The name that the client gave; never a path. */
  fileName: string | undefined;
  contentType: T;
  size: number;
  bytes(): Promise<Uint8Array>;
  stream(): AsyncIterable<Uint8Array>;
}

export type CsvValue = string | number | bigint | boolean | null;
type Items<T> = Iterable<T> | AsyncIterable<T>;

export interface CsvTable {
  columns: readonly string[];
  rows: Items<readonly CsvValue[]>;
}

export type EventOf<E extends TProperties> = {
  [Name in keyof E]: { event: Name; data: Static<E[Name]>; id?: string };
}[keyof E];

/** The type of the body that the handler receives. */
export type ReceivedBody<B extends TSchema> = B extends { kind: 'multipart'; schema: infer S; files: infer F }
  ? { fields: Static<S & TSchema>; files: { [Name in keyof F]: Upload[] } }
  : B extends { kind: 'bytes'; contentTypes: readonly (infer T extends string)[] }
    ? Upload<T>
    : B extends { kind: 'formOrJson'; schema: infer S; form: infer F }
      ? Static<S & TSchema> | Static<F & TSchema>
      : B extends { kind: 'json' | 'form'; schema: infer S }
        ? Static<S & TSchema>
        : Static<B>;

/** The type of the reply that the handler returns. */
export type AnsweredReply<R extends TSchema> = R extends { kind: 'ndjson'; schema: infer S }
  ? Items<Static<S & TSchema>>
  : R extends JsonText
    ? Uint8Array | AsyncIterable<Uint8Array>
    : R extends Csv
      ? CsvTable
      : R extends { kind: 'html' }
        ? string | (R extends { orRedirect: true } ? { location: string } : never)
        : R extends { kind: 'eventStream'; events: infer E extends TProperties }
          ? AsyncIterable<EventOf<E>>
          : R extends { kind: 'redirect' }
            ? { location: string }
            : R extends { kind: 'bytes'; contentTypes: readonly (infer T extends string)[] }
              ? { contentType: T; data: Uint8Array | AsyncIterable<Uint8Array> }
              : R extends { kind: 'json'; schema: infer S }
                ? Static<S & TSchema> | (R extends { orNothing: true } ? undefined : never)
                : Static<R>;
