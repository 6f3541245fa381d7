/** How the OpenAPI document describes bodies and replies that are not JSON. */
import type { TObject, TSchema } from 'typebox';
import type { BodyKind, FileRule } from './kinds.ts';
import { sizeText } from './limits.ts';

/** Fields and files as one object, as OpenAPI describes them. */
export function multipart({ schema, files }: Extract<BodyKind, { kind: 'multipart' }>) {
  const rules = Object.entries(files);
  // The title names the schema of the fields alone, without the files.
  const { title: _title, ...fields } = schema as TObject & { title?: string };
  const file = ({ maxBytes, maxCount = 1, optional, contentTypes }: FileRule) => {
    const type = contentTypes?.length === 1 ? bytesOf(contentTypes[0]!) : {};
    // Generators of clients know a part that is a file by these two words, in every version of OpenAPI.
    const one = { type: 'string', format: 'binary', ...type, description: `At most ${sizeText(maxBytes)}` };
    return maxCount === 1
      ? one
      : { type: 'array', items: one, ...(optional ? {} : { minItems: 1 }), maxItems: maxCount };
  };
  return {
    schema: {
      ...fields,
      properties: {
        ...fields.properties,
        ...Object.fromEntries(rules.map(([name, rule]) => [name, file(rule)])),
      },
      required: [
        ...(fields.required ?? []),
        ...rules.filter(([, rule]) => !rule.optional).map(([name]) => name),
      ],
    } as TSchema,
    encoding: Object.fromEntries(
      rules.map(([name, { contentTypes = ['*/*'] }]) => [name, { contentType: contentTypes.join(', ') }]),
    ),
  };
}

export const content = (types: readonly string[], media: Record<string, unknown>) =>
  Object.fromEntries(types.map((type) => [type, media]));

/** OpenAPI 3.1 describes bytes without a `type`: `string` would mean text, also to the generators of clients. */
const bytesOf = (contentMediaType: string) => ({ contentMediaType });
export const binary = (types: readonly string[]) =>
  Object.fromEntries(types.map((type) => [type, { schema: isText(type) ? TEXT : bytesOf(type) }]));
const isText = (type: string) => type === 'application/jsonl';

/** A stream is a text for a client that reads it whole. `x-each` describes its lines or events. */
export const TEXT = { type: 'string' };
