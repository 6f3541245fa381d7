/** Git's deltas: a result made of parts of a base and of new bytes. */
import { RemoteError } from './remote-error.ts';

const broken = () => new RemoteError('not_git', 'The pack of the remote is damaged.');

/** Seven bits in each byte, the lowest first. */
function readSize(delta: Buffer, start: number): { size: number; next: number } {
  let size = 0;
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    const byte = delta[at];
    if (byte === undefined || factor > 2 ** 42) throw broken();
    size += (byte & 0x7f) * factor;
    if (!(byte & 0x80)) return { size, next: at + 1 };
  }
}

function readHeader(delta: Buffer) {
  const base = readSize(delta, 0);
  const result = readSize(delta, base.next);
  return { baseBytes: base.size, resultBytes: result.size, next: result.next };
}

/** Read these before `applyDelta`, which allocates the result. */
export function deltaSizes(delta: Buffer): { baseBytes: number; resultBytes: number } {
  const { baseBytes, resultBytes } = readHeader(delta);
  return { baseBytes, resultBytes };
}

/** The size of a copy that names none. */
const COPY_BYTES = 0x10000;

export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  const { resultBytes, next } = readHeader(delta);
  const result = Buffer.allocUnsafe(resultBytes);
  let filled = 0;
  for (let at = next; at < delta.length; ) {
    const instruction = delta[at++]!;
    // A copy names the bytes of its offset and size that follow; an insert has its own length, which is never 0.
    const source = instruction & 0x80 ? base : delta;
    let offset = 0;
    let size = 0;
    if (instruction & 0x80) {
      for (let i = 0; i < 4; i++) if (instruction & (1 << i)) offset += (delta[at++] ?? 0) * 256 ** i;
      for (let i = 0; i < 3; i++) if (instruction & (0x10 << i)) size += (delta[at++] ?? 0) * 256 ** i;
      size ||= COPY_BYTES;
    } else {
      size = instruction;
      offset = at;
      at += size;
    }
    if (size === 0 || offset + size > source.length || filled + size > resultBytes) throw broken();
    source.copy(result, filled, offset, offset + size);
    filled += size;
  }
  if (filled !== resultBytes) throw broken();
  return result;
}
