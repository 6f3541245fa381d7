/** Pieces of bytes in one block of memory that threads share, so that nobody copies them. */

/** Each piece stands after its length. */
const LENGTH_BYTES = 4;

export function joinShared(pieces: readonly Uint8Array[]): SharedArrayBuffer {
  const size = pieces.reduce((sum, piece) => sum + LENGTH_BYTES + piece.byteLength, 0);
  const shared = new SharedArrayBuffer(size);
  const bytes = new Uint8Array(shared);
  const lengths = new DataView(shared);
  let at = 0;
  for (const piece of pieces) {
    lengths.setUint32(at, piece.byteLength);
    bytes.set(piece, at + LENGTH_BYTES);
    at += LENGTH_BYTES + piece.byteLength;
  }
  return shared;
}

export function* splitShared(shared: SharedArrayBuffer): Generator<Uint8Array> {
  const lengths = new DataView(shared);
  for (let at = 0; at < shared.byteLength; ) {
    const length = lengths.getUint32(at);
    yield new Uint8Array(shared, at + LENGTH_BYTES, length);
    at += LENGTH_BYTES + length;
  }
}
