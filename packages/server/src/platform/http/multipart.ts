/** Splits `multipart/form-data` (RFC 7578) into parts while it arrives. Holds no more than a chunk in memory. */
import { isUtf8 } from 'node:buffer';
import { ApiError } from '../errors.ts';

const HEADERS_MAX_BYTES = 8 * 1024;

export interface Part {
  name: string;
  /** Undefined if the part is a field. */
  fileName: string | undefined;
  contentType: string | undefined;
  /** Must be read to its end before the next part is requested. */
  data: AsyncIterable<Buffer>;
}

export const malformed = (message: string) => new ApiError('malformed_multipart', { message });

export function boundaryOf(contentType: string): string {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? [];
  const boundary = quoted ?? bare;
  if (!boundary) throw malformed('The Content-Type header has no boundary.');
  if (boundary.length > 70) throw malformed('The boundary has more than 70 characters.');
  return boundary;
}

export async function* partsOf(source: AsyncIterator<Buffer>, boundary: string): AsyncGenerator<Part> {
  // Each boundary follows a line break, but the first one may be at the very start of the body.
  let held: Buffer = Buffer.from('\r\n');
  const delimiter = Buffer.from(`\r\n--${boundary}`);

  async function fill() {
    const { done, value } = await source.next();
    if (done) throw malformed('The body ends before its last boundary.');
    held = held.length ? Buffer.concat([held, value]) : value;
  }

  async function* until(end: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = held.indexOf(end);
      if (at >= 0) {
        const last = held.subarray(0, at);
        held = held.subarray(at + end.length);
        if (last.length) yield last;
        return;
      }
      const safe = held.length - end.length + 1;
      if (safe > 0) {
        const piece = held.subarray(0, safe);
        held = held.subarray(safe);
        yield piece;
      }
      await fill();
    }
  }

  async function take(bytes: number): Promise<string> {
    while (held.length < bytes) await fill();
    const taken = held.subarray(0, bytes).toString('latin1');
    held = held.subarray(bytes);
    return taken;
  }

  async function textUntil(end: string, maxBytes: number): Promise<string> {
    const bytes = await collect(until(Buffer.from(end)), maxBytes, () =>
      malformed('The headers of a part are too long.'),
    );
    if (!isUtf8(bytes)) throw new ApiError('invalid_text');
    return bytes.toString('utf8');
  }

  for await (const _preamble of until(delimiter));
  for (;;) {
    const next = await take(2);
    if (next === '--') return;
    if (next !== '\r\n') throw malformed('A boundary is not followed by a line break.');
    const headers = await textUntil('\r\n\r\n', HEADERS_MAX_BYTES);
    let isRead = false;
    const data = until(delimiter);
    yield { ...describe(headers), data: whole(data, () => (isRead = true)) };
    if (!isRead) for await (const _unread of data);
  }
}

async function* whole(data: AsyncGenerator<Buffer>, onEnd: () => void) {
  yield* data;
  onEnd();
}

export async function collect(
  data: AsyncIterable<Buffer>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of data) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function describe(text: string): Omit<Part, 'data'> {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (!name) throw malformed('A part has a malformed header.');
    if (headers.has(name.toLowerCase())) throw malformed(`A part has two headers ${name.toLowerCase()}.`);
    headers.set(name.toLowerCase(), value!);
  }
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameterOf(disposition, 'name');
  if (!/^form-data\s*;/i.test(disposition) || name === undefined) {
    throw malformed('A part has no header `Content-Disposition: form-data` with a name.');
  }
  if (!/^(7bit|8bit|binary)?$/i.test(headers.get('content-transfer-encoding') ?? '')) {
    throw malformed('A part has a transfer encoding that is not supported.');
  }
  return { name, fileName: fileNameOf(disposition), contentType: headers.get('content-type') };
}

/** Clients write quotes as `\"` or as `%22`, and do not escape backslashes. */
function parameterOf(disposition: string, name: string): string | undefined {
  const [, quoted, bare] =
    new RegExp(`;\\s*${name}=(?:"((?:\\\\"|[^"])*)"|([^\\s;"]+))`, 'i').exec(disposition) ?? [];
  return (quoted ?? bare)?.replaceAll('\\"', '"').replaceAll('%22', '"');
}

/** Returns only the name, because a client may send a path. */
function fileNameOf(disposition: string): string | undefined {
  const encoded = /;\s*filename\*=utf-8''([^\s;]+)/i.exec(disposition)?.[1];
  const given = encoded === undefined ? parameterOf(disposition, 'filename') : decoded(encoded);
  return given?.split(/[/\\]/).at(-1);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ApiError('invalid_text');
  }
}
