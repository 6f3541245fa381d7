/** Copies of more rows than memory should hold. */
import type { Socket } from 'node:net';
import { expect, inject, test } from 'vitest';
import { openClient } from '../connection.ts';
import { copyIn } from './copy.ts';

const MEGABYTE = 1024 * 1024;

test('rows are sent no faster than the database takes them', async () => {
  const client = await openClient({ connectionString: inject('postgresUrl') });
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  try {
    await client.query('create temporary table copied (line text)');
    const copy = await copyIn(client, 'copy copied from stdin');
    const line = Buffer.alloc(MEGABYTE, 'x');
    line[MEGABYTE - 1] = 0x0a;
    let waitingMax = 0;
    for (let i = 0; i < 32; i++) {
      await copy.write(line);
      waitingMax = Math.max(waitingMax, stream.writableLength);
    }
    await copy.end();
    expect(waitingMax).toBeLessThan(4 * MEGABYTE);
    const { rows } = await client.query('select count(*)::int as count from copied');
    expect(rows).toEqual([{ count: 32 }]);
  } finally {
    await client.end();
  }
});
