/** Multipart bodies, as their operation describes them: fields as texts, and files that have arrived completely. */
import { isUtf8 } from 'node:buffer';
import { type BodyKind, type FileRule, sizeText, type Upload } from '@oriel/contract';
import { ApiError, invalid } from '../errors.ts';
import type { MemoryMeter } from './body-reader.ts';
import { onceEach } from './form-body.ts';
import { boundaryOf, collect, type Part, partsOf } from './multipart.ts';
import type { StoredUpload, UploadOptions } from './uploads.ts';

const FIELD_MAX_BYTES = 64 * 1024;
const FIELDS_MAX = 1000;

type Multipart = Extract<BodyKind, { kind: 'multipart' }>;
export type FieldCollector = (
  data: AsyncIterable<Buffer>,
  about: Omit<UploadOptions, 'share' | 'memory'>,
) => Promise<StoredUpload>;

export class MultipartValue {
  readonly fields: Record<string, string>;
  readonly files: Record<string, Upload[]>;
  constructor(fields: Record<string, string>, files: Record<string, Upload[]>) {
    this.fields = fields;
    this.files = files;
  }
}

export async function readMultipart(
  chunks: AsyncGenerator<Buffer>,
  contentType: string,
  { files: rules }: Multipart,
  keep: FieldCollector,
  memory: MemoryMeter,
): Promise<MultipartValue> {
  const fields: [string, string][] = [];
  const files: Record<string, Upload[]> = Object.fromEntries(Object.keys(rules).map((name) => [name, []]));
  try {
    for await (const part of partsOf(chunks, boundaryOf(contentType))) {
      const rule = Object.hasOwn(rules, part.name) ? rules[part.name] : undefined;
      if (!rule) {
        if (part.fileName !== undefined) throw invalid(part.name, 'is not a known file');
        if (fields.length === FIELDS_MAX) throw invalid(part.name, 'is one field too many');
        fields.push([part.name, await fieldText(part, memory)]);
        continue;
      }
      requireFile(part, rule, files[part.name]!.length);
      files[part.name]!.push(await keepFile(part, rule, keep));
    }
    // Data after the last boundary counts towards the size. It is read so that the client can read the reply.
    for await (const _rest of chunks);
  } finally {
    await chunks.return(undefined);
  }
  for (const [name, rule] of Object.entries(rules)) {
    if (!rule.optional && files[name]!.length === 0) throw invalid(name, 'is required, as a file');
  }
  return new MultipartValue(onceEach(fields), files);
}

function requireFile({ name, contentType = '' }: Part, rule: FileRule, count: number) {
  const { maxCount = 1, contentTypes } = rule;
  if (count === maxCount) {
    throw invalid(name, maxCount === 1 ? 'is given more than once' : `has more than ${maxCount} files`);
  }
  if (contentTypes && !contentTypes.includes(mediaType(contentType))) {
    const message = `${name}: the file must be of the type ${contentTypes.join(' or ')}`;
    throw new ApiError('unsupported_media_type', { message });
  }
}

const mediaType = (contentType: string) => contentType.split(';', 1)[0]!.trim().toLowerCase();

const keepFile = (
  { name, fileName, contentType, data }: Part,
  { maxBytes }: FileRule,
  keep: FieldCollector,
) =>
  keep(data, {
    fileName,
    contentType: mediaType(contentType ?? 'application/octet-stream'),
    maxBytes,
    tooLarge: () =>
      new ApiError('body_too_large', { message: `${name}: the file is larger than ${sizeText(maxBytes)}.` }),
  });

async function fieldText({ name, data }: Part, memory: MemoryMeter): Promise<string> {
  const bytes = await collect(counted(data, memory), FIELD_MAX_BYTES, () =>
    invalid(name, `is longer than ${sizeText(FIELD_MAX_BYTES)}`),
  );
  if (!isUtf8(bytes)) throw new ApiError('invalid_text');
  return bytes.toString('utf8');
}

async function* counted(data: AsyncIterable<Buffer>, memory: MemoryMeter) {
  for await (const chunk of data) {
    memory.hold(chunk.length);
    yield chunk;
  }
}
