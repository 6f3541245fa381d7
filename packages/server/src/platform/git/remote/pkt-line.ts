/** Git's pkt-line framing: four hex digits of length, then that many bytes, and three packets without content. */
import { RemoteError } from './remote-error.ts';

export type Packet = Buffer | 'flush' | 'delimiter' | 'response-end';

export const FLUSH = Buffer.from('0000');
export const DELIMITER = Buffer.from('0001');

const HEADER_BYTES = 4;
const WITHOUT_CONTENT = ['flush', 'delimiter', 'response-end'] as const;

export function pktLine(text: string): Buffer {
  const content = Buffer.from(text);
  const length = (content.length + HEADER_BYTES).toString(16).padStart(HEADER_BYTES, '0');
  return Buffer.concat([Buffer.from(length), content]);
}

/** A pack of 128 MB has 2,000 packets, and a list of branches one for each. */
const PACKETS_MAX = 100_000;

export function* readPackets(bytes: Buffer): Generator<Packet> {
  let count = 0;
  for (let at = 0; at < bytes.length; ) {
    if (++count > PACKETS_MAX)
      throw new RemoteError('too_large', 'The answer of the git server is too large.');
    const header = bytes.toString('latin1', at, at + HEADER_BYTES);
    const length = /^[0-9a-f]{4}$/i.test(header) ? Number.parseInt(header, 16) : Number.NaN;
    const packet = WITHOUT_CONTENT[length];
    if (packet) {
      yield packet;
      at += HEADER_BYTES;
      continue;
    }
    if (!(length >= HEADER_BYTES) || at + length > bytes.length) throw notGit();
    yield bytes.subarray(at + HEADER_BYTES, at + length);
    at += length;
  }
}

/** The text of a packet, without the line feed that may end it. */
export const textOfPacket = (packet: Packet): string =>
  typeof packet === 'string' ? '' : packet.toString('utf8').replace(/\n$/, '');

/** The bands of git's side-band multiplexing. */
const DATA = 1;
const FATAL = 3;

/** The data of the side band up to the next flush. The remote reports an error in a band of its own. */
export function readSideBand(packets: Iterable<Packet>): Buffer {
  const parts: Buffer[] = [];
  for (const packet of packets) {
    if (packet === 'flush' || packet === 'response-end') break;
    if (typeof packet === 'string' || !packet.length) throw notGit();
    if (packet[0] === FATAL) throw new RemoteError('failed', printable(packet.subarray(1)));
    if (packet[0] === DATA) parts.push(packet.subarray(1));
  }
  return Buffer.concat(parts);
}

const MESSAGE_MAX = 500;

/** What a remote says may hold anything: only the beginning is shown, and without control characters. */
export const printable = (bytes: Buffer | string): string =>
  bytes
    .toString()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, MESSAGE_MAX);

export const notGit = () => new RemoteError('not_git', 'The answer is not one of a git server.');
