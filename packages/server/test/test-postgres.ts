import { existsSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../src/platform/db/embedded/embedded-postgres.ts';
import { administer } from './databases.ts';

/** A PostgreSQL server for tests, which is fast because nothing in it must survive a power cut. */
export async function startTestPostgres(dataDir: string) {
  const start = () => startEmbeddedPostgres(dataDir, pino({ level: 'silent' }));
  const isNew = !existsSync(join(dataDir, 'postgres'));
  let postgres = await start();
  const url = `postgres://oriel@${encodeURIComponent(String(postgres.connection.host))}/postgres`;
  if (isNew) {
    for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit']) {
      await administer(url, `alter system set ${setting} = off`);
    }
    // Every test process has servers with pools of their own.
    await administer(url, 'alter system set max_connections = 300');
    // The number of connections is read at a start.
    await postgres.stop();
    postgres = await start();
  }
  // For data sources, which connect as other users.
  await appendFile(join(dataDir, 'postgres/pg_hba.conf'), 'local all all scram-sha-256\n');
  await administer(url, 'select pg_reload_conf()');
  return { url, stop: () => postgres.stop() };
}
