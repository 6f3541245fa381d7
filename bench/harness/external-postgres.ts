/** Runs the PostgreSQL that is installed on this machine as an external server on loopback, in a temporary folder. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { databaseUser } from '../../packages/server/src/platform/db/embedded/process-user.ts';
import { freePort } from './http-process.ts';
import type { Connection } from './oriel.ts';
import { requirePgbench } from './pgbench.ts';
import { undoAtEnd } from './undo.ts';

const DEBIAN_DIR = '/usr/lib/postgresql';
const USER = 'oriel';

export interface ExternalPostgres {
  url: string;
  connection: Connection;
  version: string;
}

export async function startExternalPostgres(): Promise<ExternalPostgres> {
  requirePgbench();
  const bin = await findPrograms();
  const dir = await mkdtemp(join(tmpdir(), 'oriel-bench-postgres-'));
  undoAtEnd(() => rm(dir, { recursive: true, force: true }));
  const { ids } = databaseUser();
  if (ids) await chown(dir, ids.uid, ids.gid);
  await chmod(dir, 0o700);
  const data = join(dir, 'data');
  const asUser = { ...ids, cwd: '/', encoding: 'utf8' as const };
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', USER, '-A', 'trust', '-E', 'UTF8'], asUser);
  if (made.status !== 0) throw new Error(`initdb failed:\n${made.stderr}`);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${dir}`];
  // As much memory as the embedded server has. Everything else is PostgreSQL's default.
  const args = [...settings, 'shared_buffers=256MB'].flatMap((setting) => ['-c', setting]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...args], { ...ids, cwd: '/', stdio: 'ignore' });
  undoAtEnd(async () => {
    if (server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
  });
  const connection = { host: '127.0.0.1', port, user: USER, database: USER };
  const version = await createDatabase({ ...connection, database: 'postgres' });
  return { url: `postgres://${USER}@127.0.0.1:${port}/${USER}`, connection, version };
}

async function createDatabase(connection: Connection): Promise<string> {
  for (let tries = 0; ; tries++) {
    const client = new pg.Client(connection);
    try {
      await client.connect();
      await client.query(`create database ${USER}`);
      return (await client.query('show server_version')).rows[0].server_version;
    } catch (error) {
      if (tries > 100) throw error;
      await sleep(100);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

/** Debian does not put the server programs into the path. */
async function findPrograms(): Promise<string> {
  const versions = (await readdir(DEBIAN_DIR).catch(() => [])).sort((a, b) => Number(b) - Number(a));
  if (versions[0]) return join(DEBIAN_DIR, versions[0], 'bin');
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  if (!stdout?.trim()) throw new Error('No PostgreSQL server is installed here to compare with.');
  return stdout.trim();
}
