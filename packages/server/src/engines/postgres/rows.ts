/** Reads rows as they arrive. */
import pg from 'pg';
import { EngineError } from '../engine.ts';
import { ROW_BYTES_MAX, rowTooLarge } from '../process/row-text.ts';
import { socketOf } from './connections.ts';

export type Row = (string | null)[];

export interface Portion {
  fields: pg.FieldDef[];
  rows: Row[];
}

/** The driver hands over texts as PostgreSQL wrote them. */
const AS_TEXT = { getTypeParser: () => (text: string) => text };

const answerTooLarge = () =>
  new EngineError('result_too_large', 'The answer is too large: ask for fewer or shorter values.');

/**
 * Yields at least one portion; the last one has no rows. The socket is paused while the caller works. A cursor would
 * read portions too, but PostgreSQL does not use several processes for a query that is read by a cursor.
 */
export async function* readRows(
  client: pg.ClientBase,
  text: string,
  values: readonly (string | null)[],
  bytesMax: number,
): AsyncGenerator<Portion, void> {
  const socket = socketOf(client);
  const arrived: Row[] = [];
  let fields: pg.FieldDef[] = [];
  let isOver = false;
  let failure: Error | undefined;
  let bytes = 0;
  /** The bytes since the last row that has arrived completely. */
  let rowBytes = 0;
  let wake = () => {};
  const note = () => {
    socket.pause();
    wake();
  };
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    rowBytes += chunk.length;
    if (bytes <= bytesMax && rowBytes <= ROW_BYTES_MAX) return;
    // The driver keeps a row until it has arrived completely, and a row can have a gigabyte.
    failure = bytes > bytesMax ? answerTooLarge() : rowTooLarge();
    note();
  };
  const query = new pg.Query<Row>({
    text,
    values: [...values],
    types: AS_TEXT,
    rowMode: 'array',
    // Takes one statement only, also without parameters.
    queryMode: 'extended',
  } as pg.QueryConfig);
  query.on('row', (row, result) => {
    rowBytes = 0;
    arrived.push(row);
    fields = result!.fields;
    note();
  });
  query.on('end', (result) => {
    fields = result.fields;
    isOver = true;
    note();
  });
  query.on('error', (error) => {
    failure = error;
    note();
  });
  socket.on('data', count);
  try {
    client.query(query);
    for (;;) {
      if (failure) throw failure;
      if (arrived.length || isOver) {
        yield { fields, rows: arrived.splice(0) };
        if (isOver) return;
      } else {
        socket.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    socket.off('data', count);
    socket.resume();
  }
}
