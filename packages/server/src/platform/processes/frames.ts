/** Messages between a process and its child: four bytes for the length, then JSON. */

/** Enough for any result that should be held in memory at once. */
export const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
const HEADER_BYTES = 4;

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

/**
 * Returns a function that takes the arriving data, in pieces of any size. It throws if the data is not a message. It
 * also throws if a message is too large, before it stores any of it. After an error, later data can not be read.
 */
export function frameReader(maxBytes: number, onMessage: (message: object) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = HEADER_BYTES;
  let isHeader = true;

  const takeMessage = (bytes: Buffer) => {
    const message: unknown = JSON.parse(bytes.toString());
    if (typeof message !== 'object' || message === null) throw new SyntaxError('a message must be an object');
    onMessage(message);
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
        needed = part.readUInt32BE();
        if (needed > maxBytes) throw new RangeError(`a message of ${needed} bytes, with ${maxBytes} allowed`);
      } else {
        needed = HEADER_BYTES;
        takeMessage(part);
      }
      isHeader = !isHeader;
    }
    pieces = rest.length ? [rest] : [];
    held = rest.length;
  };
}
