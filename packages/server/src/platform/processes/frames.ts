/**
 * Messages between a process and its child: four bytes for the length, then JSON. If the highest bit of the length is
 * set, bytes that belong to a request follow instead: four bytes for its id, then the bytes as they are.
 */

/** Enough for any result that should be held in memory at once. */
export const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
const HEADER_BYTES = 4;
const ID_BYTES = 4;
const IS_BYTES = 0x8000_0000;

/** Throws a RangeError if the message has more than `maxBytes`. */
export function encodeFrame(message: object, maxBytes: number): Buffer {
  const json = JSON.stringify(message);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes)
    throw new RangeError(`the message has ${bytes} bytes, but only ${maxBytes} are allowed`);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  frame.writeUInt32BE(bytes);
  frame.write(json, HEADER_BYTES);
  return frame;
}

/** Throws a RangeError if there are more than `maxBytes`. */
export function encodeBytes(id: number, bytes: Buffer, maxBytes: number): Buffer {
  const length = ID_BYTES + bytes.length;
  if (length > maxBytes) throw new RangeError(`${length} bytes at once, but only ${maxBytes} are allowed`);
  const header = Buffer.allocUnsafe(HEADER_BYTES + ID_BYTES);
  header.writeUInt32BE((IS_BYTES | length) >>> 0);
  header.writeUInt32BE(id, HEADER_BYTES);
  return Buffer.concat([header, bytes]);
}

/**
 * Returns a function that takes the arriving data, in pieces of any size. It throws if the data is not a message. It
 * also throws if a message is too large, before it stores any of it. After an error, later data cannot be read.
 */
export function frameReader(
  maxBytes: number,
  onMessage: (message: object) => void,
  onBytes?: (id: number, bytes: Buffer) => void,
): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = HEADER_BYTES;
  let isHeader = true;
  let isBytes = false;

  const takeMessage = (bytes: Buffer) => {
    const message: unknown = JSON.parse(bytes.toString());
    if (typeof message !== 'object' || message === null) throw new SyntaxError('a message must be an object');
    onMessage(message);
  };
  const takeBytes = (part: Buffer) => {
    if (!onBytes || part.length < ID_BYTES) throw new SyntaxError('bytes where none are expected');
    onBytes(part.readUInt32BE(), part.subarray(ID_BYTES));
  };

  return (chunk) => {
    pieces.push(chunk);
    held += chunk.length;
    if (held < needed) return;
    let rest = pieces.length === 1 ? chunk : Buffer.concat(pieces);
    while (rest.length >= needed) {
      const part = rest.subarray(0, needed);
      rest = rest.subarray(needed);
      if (isHeader) {
        const header = part.readUInt32BE();
        isBytes = header >= IS_BYTES;
        needed = isBytes ? header - IS_BYTES : header;
        if (needed > maxBytes) throw new RangeError(`a message of ${needed} bytes, with ${maxBytes} allowed`);
      } else {
        needed = HEADER_BYTES;
        if (isBytes) takeBytes(part);
        else takeMessage(part);
      }
      isHeader = !isHeader;
    }
    pieces = rest.length ? [rest] : [];
    held = rest.length;
  };
}
