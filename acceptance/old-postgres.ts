/** A server with just enough of PostgreSQL's protocol to report version 14. */
import { createServer, type Server } from 'node:net';

const message = (type: string, ...parts: (Buffer | string)[]) => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number) =>
  Buffer.from([value >> 24, value >> 16, value >> 8, value].map((n) => n & 255));

const TEXT_OID = 25;
const readyForQuery = message('Z', 'I');
const signedIn = Buffer.concat([message('R', int32(0)), readyForQuery]);

/** One row with one text. */
const answer = (column: string, value: string) =>
  Buffer.concat([
    message(
      'T',
      int16(1),
      `${column}\0`,
      int32(0),
      int16(0),
      int32(TEXT_OID),
      int16(-1),
      int32(-1),
      int16(0),
    ),
    message('D', int16(1), int32(value.length), value),
    message('C', 'SHOW\0'),
    readyForQuery,
  ]);

/** Accepts every connection, and returns its version for each query. */
export async function startOldPostgres(): Promise<{ port: number; stop(): void }> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(signedIn);
      socket.on('data', (data) => {
        if (data[0] === 'Q'.charCodeAt(0)) socket.write(answer('server_version_num', '140000'));
        else socket.end();
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as { port: number }).port, stop: () => void server.close() };
}
