/** PostgreSQL's `copy` over our driver, which knows its messages but has no streams for them. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import pg from 'pg';

/** What the driver's connection has, and its types leave out. */
interface Connection {
  stream: Socket;
  sendCopyFromChunk(data: Buffer): void;
  endCopyFrom(): void;
}

type QueryCallback = (error: Error | null) => void;

const queryOf = (text: string, done: QueryCallback, handlers: object) =>
  Object.assign(new pg.Query(text, undefined, done as never), handlers) as pg.Query;

/** The rows that `copy … to stdout` returns, one by one. The database waits while they are not read. */
export function copyOut(client: pg.Client, text: string): AsyncIterable<Buffer> {
  let socket: Socket | undefined;
  const rows = new Readable({
    objectMode: true,
    // The socket is paused after the rows that have arrived together, which are few.
    highWaterMark: 1,
    read: () => void socket?.resume(),
  });
  const done: QueryCallback = (error) => {
    // The end may come together with rows, for which the socket was paused.
    socket?.resume();
    if (error) rows.destroy(error);
    else rows.push(null);
  };
  client.query(
    queryOf(text, done, {
      handleCopyData({ chunk }: { chunk: Buffer }, { stream }: Connection) {
        socket = stream;
        // The driver uses the memory of the chunk again.
        if (!rows.push(Buffer.from(chunk))) stream.pause();
      },
    }),
  );
  return rows;
}

export interface CopyIn {
  /** Waits while the database does not take more. */
  write(data: Buffer): Promise<void>;
  end(): Promise<void>;
}

/** Sends data to `copy … from stdin`. */
export async function copyIn(client: pg.Client, text: string): Promise<CopyIn> {
  let connection: Connection | undefined;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const finished = new Promise<void>((resolve, reject) => {
    const done: QueryCallback = (error) => (error ? reject(error) : resolve());
    client.query(
      queryOf(text, done, {
        handleCopyInResponse(on: Connection) {
          connection = on;
          begin();
        },
      }),
    );
  });
  finished.catch(() => {});
  await Promise.race([begun, finished]);
  return {
    async write(data) {
      connection!.sendCopyFromChunk(data);
      const { stream } = connection!;
      if (stream.writableNeedDrain) await Promise.race([once(stream, 'drain'), finished]);
    },
    async end() {
      connection!.endCopyFrom();
      await finished;
    },
  };
}
