/** Oriel behind PgBouncer, with the settings that docs/operating.md gives. Run by `npm run test:pgbouncer`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOrielClient } from '@oriel/client';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { databaseUser } from '../packages/server/src/platform/db/embedded/process-user.ts';
import { startMutableProxy } from '../packages/server/test/postgres-proxy.ts';
import {
  ADMIN_KEY,
  cleanUp,
  freePort,
  newDataDir,
  newFolder,
  openDatabase,
  SECRET_KEY,
  spawnServer,
  startServer,
  until,
} from './server-process.ts';

const PASSWORD = 'a-password-for-pgbouncer';
let hostDir: string;
let database: pg.Client;
/** The embedded database accepts only some operating-system users, and PgBouncer runs as another user if we are root. */
let passage: Awaited<ReturnType<typeof startMutableProxy>>;
let bouncer: ChildProcess | undefined;

// The embedded database of another Oriel plays the external server. Its sessions use Tokyo's time.
beforeAll(async () => {
  const host = await startServer(await newDataDir(), { ORIEL_DEMO: 'false' });
  hostDir = host.dataDir;
  database = await openDatabase(hostDir);
  await database.query('create database bounced');
  passage = await startMutableProxy(`postgres://oriel@${encodeURIComponent(join(hostDir, 'run'))}/bounced`);
  await database.query(`alter role oriel set timezone = 'Asia/Tokyo'`);
});
afterEach(async () => {
  if (!bouncer || bouncer.exitCode !== null) return;
  const ended = once(bouncer, 'exit');
  bouncer.kill('SIGINT');
  bouncer.kill('SIGTERM');
  await ended;
});
afterAll(async () => {
  await database?.end();
  await passage?.close();
  await cleanUp();
});

/** Returns the settings of an Oriel that connects through PgBouncer. */
async function startPgbouncer(changes: Record<string, string>) {
  const folder = await newFolder();
  const port = await freePort();
  const guide = await readFile(join(import.meta.dirname, '..', 'docs', 'operating.md'), 'utf8');
  const given = /```ini\n(\[databases\][\s\S]*?)```/.exec(guide)![1]!;
  const settings = {
    oriel: `host=127.0.0.1 port=${new URL(passage.url).port} dbname=bounced`,
    listen_port: String(port),
    auth_file: join(folder, 'userlist.txt'),
    unix_socket_dir: '',
    logfile: '',
    pidfile: '',
    ...changes,
  };
  const kept = given.split('\n').filter((line) => !Object.keys(settings).includes(line.split(' ')[0]!));
  const { oriel, ...rest } = settings;
  const ini = kept
    .join('\n')
    .replace('[databases]', `[databases]\noriel = ${oriel}`)
    .replace(
      '[pgbouncer]',
      ['[pgbouncer]', ...Object.entries(rest).map(([name, value]) => `${name} = ${value}`)].join('\n'),
    );
  await writeFile(join(folder, 'pgbouncer.ini'), ini);
  await writeFile(join(folder, 'userlist.txt'), `"oriel" "${PASSWORD}"\n`);
  const { ids } = databaseUser();
  for (const name of ['pgbouncer.ini', 'userlist.txt']) {
    await chmod(join(folder, name), 0o600);
    if (ids) await chown(join(folder, name), ids.uid, ids.gid);
  }
  let log = '';
  bouncer = spawn('pgbouncer', [join(folder, 'pgbouncer.ini')], { ...ids, cwd: '/', stdio: 'pipe' });
  bouncer.stderr!.on('data', (text) => {
    log += text;
  });
  await until('PgBouncer listens', () => {
    if (bouncer!.exitCode !== null) throw new Error(log);
    return log.includes('process up');
  });
  return {
    ORIEL_DATABASE_URL: `postgres://oriel:${PASSWORD}@127.0.0.1:${port}/oriel`,
    ORIEL_SECRET_KEY: SECRET_KEY,
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
    ORIEL_DEMO: 'true',
  };
}

test.each<Record<string, string>>([{}, { ignore_startup_parameters: 'options, extra_float_digits' }])(
  'in session mode Oriel works, and times are right (%o)',
  async (changes) => {
    const server = await startServer(await newDataDir(), await startPgbouncer(changes));
    const admin = server.client(ADMIN_KEY);
    const before = Date.now();
    const { sessionId } = await admin.generateSession({
      body: { deploymentId: 1, externalId: 'somebody' },
    });
    const { token } = await server.client().postTokenBySessionId({ body: { sessionId } });
    const viewer = createOrielClient({ baseUrl: server.url, token, retries: 0 });
    const lasts = Date.parse((await viewer.getEmbedSession()).expiresAt) - before;
    expect(Math.abs(lasts - 24 * 3_600_000)).toBeLessThan(600_000);

    // Notifications arrive through PgBouncer.
    const { id, key } = await admin.createApiKey({ body: { name: 'short-lived' } });
    await server.client(key).getMe();
    await withDatabase((client) => client.query('delete from api_keys where id = $1', [id]));
    await until('the key no longer works', () =>
      server
        .client(key)
        .getMe()
        .then(
          () => false,
          (error) => error.status === 401,
        ),
    );
    server.child.kill('SIGTERM');
    await server.ended;
  },
);

async function withDatabase(work: (client: pg.Client) => Promise<unknown>) {
  const client = await openDatabase(hostDir, 'bounced');
  await work(client);
  await client.end();
}

test.each<Record<string, string>>([
  { pool_mode: 'transaction' },
  { pool_mode: 'transaction', default_pool_size: '1' },
  { pool_mode: 'transaction', min_pool_size: '8', server_round_robin: '1' },
  { pool_mode: 'statement' },
])('if sessions are shared between connections, the start is refused with one line (%o)', async (changes) => {
  const server = spawnServer(await newDataDir(), await startPgbouncer(changes));
  expect(await server.ended).toMatchObject({ code: 1 });
  expect(server.stderr).toMatch(/^The pooler in ORIEL_DATABASE_URL .*\n$/);
});
