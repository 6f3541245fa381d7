/** Schemas that several operations share. A schema with a `title` becomes a component of the OpenAPI document. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';

/** A closed object: requests with other fields are refused, and replies never hold other fields. */
export const Shape = <P extends TProperties>(
  title: string,
  properties: P,
  options: { description?: string; examples?: unknown[] } = {},
): TObject<P> => Type.Object(properties, { title, additionalProperties: false, ...options });

/** An object with any names. `Type.Record` would be a pattern, which few generators of clients know. */
export const RecordOf = <T extends TSchema>(
  value: T,
  options: { description?: string; maxProperties?: number } = {},
) => Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, ...options });

/** `T | null`, written as a type list so that the compiled serialiser stays on its fast path. */
export const Nullable = <T extends TSchema>(schema: T) => {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] };
  if (values) return Type.Unsafe<Static<T> | null>({ ...schema, enum: [...values, null] });
  if (typeof type !== 'string') throw new Error('Nullable takes a schema of a single type');
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'] });
};

/** A field that may be absent or null. */
export const Maybe = <T extends TSchema>(schema: T) => Type.Optional(Nullable(schema));

/** For each pattern, the rule in words. Error messages show these words, never a regular expression. */
export const patternMessages: Record<string, string> = {};

/** A pattern, and its rule in words, which begins with `must`. */
export const matching = (pattern: string, message: string) => {
  patternMessages[pattern] = message;
  return { pattern };
};

export const Id = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1] });

export const DateTime = Type.String({
  // Requests may also use an offset. The server accepts the dates that PostgreSQL accepts; see its date-time.ts.
  format: 'date-time',
  description: 'ISO 8601 in UTC, with milliseconds',
  examples: ['2026-01-31T09:30:00.000Z'],
});

export const Email = Type.String({ format: 'email', maxLength: 254, examples: ['ada@example.com'] });

/** An absolute address with a host. The server accepts what browsers accept, including letters of any script. */
export const Url = Type.String({
  format: 'uri',
  ...matching(
    '^[Hh][Tt][Tt][Pp][Ss]?://(?![/?#:@])[^\\s"<>\\\\^`{|}\\u0000-\\u001f\\u007f]+$',
    'must be an address that begins with http:// or https:// and names a host',
  ),
  maxLength: 2048,
  examples: ['https://example.com/ada.png'],
});

export const EmbedTenantName = Type.String({
  ...matching(
    '^[a-z][a-z0-9-]{3,34}[a-z0-9]$',
    'must have 5 to 36 of a-z, 0-9 and -, begin with a letter and end with a letter or digit',
  ),
  description: '5 to 36 of a-z, 0-9 and -, beginning with a letter and ending with a letter or digit',
  examples: ['acme-corp'],
});

/** A name that people read: anything printable, but not blank and without control characters. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 255,
  ...matching(
    '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]*$',
    'must have something other than spaces, and no line breaks or control characters',
  ),
  examples: ['Revenue by month'],
});

export const FreeObject = Type.Object({}, { additionalProperties: true, description: 'Free-form keys' });

export const PublicId = Type.String({
  minLength: 12,
  maxLength: 12,
  ...matching('^[0-9A-Za-z]+$', 'must have letters a-z, A-Z and digits only'),
  examples: ['jvUNySoASW9P'],
});

export const PageInfo = Shape('PageInfo', {
  hasNextPage: Type.Boolean(),
  hasPreviousPage: Type.Boolean(),
  startCursor: Maybe(Type.String()),
  endCursor: Maybe(Type.String()),
});

/** The query parameters of every cursor list. */
export const cursorQuery = {
  first: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Page size; 50 by default; a larger value than 1000 counts as 1000',
    }),
  ),
  after: Type.Optional(
    Type.String({ minLength: 1, description: '`pageInfo.endCursor` of the previous page' }),
  ),
};

/** The query parameters of lists whose clients send null for what they leave out. */
export const nullableCursorQuery = { first: Maybe(cursorQuery.first), after: Maybe(cursorQuery.after) };

/** The reply of a cursor list. */
export const CursorPage = <T extends TSchema>(title: string, item: T) =>
  Shape(title, { items: Type.Array(item), pageInfo: PageInfo });

/** Why one of several items failed. */
export const BulkActionError = Shape('BulkActionError', { status: Type.Integer(), message: Type.String() });

export const Issue = Shape('Issue', {
  path: Type.String({ description: 'The place in the request, such as `userAttributes[1].name`' }),
  message: Type.String(),
});

const MergeConflict = Shape('MergeConflict', {
  path: Type.String(),
  kind: Type.Enum(['content', 'added_by_both', 'deleted_by_ours', 'deleted_by_theirs', 'file_and_directory']),
  hunks: Type.Array(
    Shape('ConflictHunk', {
      line: Type.Integer({ description: 'Where it begins on the branch that is merged into, from 1' }),
      base: Type.String({ description: 'Before both changes' }),
      ours: Type.String({ description: 'On the branch that is merged into' }),
      theirs: Type.String({ description: 'On the branch that is merged' }),
    }),
  ),
});
export type MergeConflict = Static<typeof MergeConflict>;

export const ErrorReply = Shape('Error', {
  statusCode: Type.Integer(),
  error: Type.String({ description: 'The name of the status' }),
  code: Type.String({ description: 'For programs; it never changes' }),
  message: Type.String({ description: 'For people' }),
  requestId: Type.String(),
  issues: Type.Optional(Type.Array(Issue)),
  conflicts: Type.Optional(Type.Array(MergeConflict, { description: 'Of a `merge_conflict`' })),
});
