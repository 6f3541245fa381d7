/** The first minute with Oriel: one command starts it, and the commands that it prints work. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ADMIN_KEY,
  cleanUp,
  freePort,
  MAIN,
  newDataDir,
  openDatabase,
  type RunningServer,
  ready,
  type ServerProcess,
  type Settings,
  spawnServer,
  startServer,
  stop,
  until,
} from './server-process.ts';

let dataDir: string;
let first: RunningServer;
let firstAnswers: Answer[];
let secretKey: string;
let second: RunningServer;

// Two starts on one data dir, which most of these tests use.
beforeAll(async () => {
  dataDir = await newDataDir();
  first = await startServer(dataDir, { ORIEL_LOG_LEVEL: 'trace' });
  firstAnswers = await runCurls(first, { ORIEL_ADMIN_API_KEY: first.apiKey! });
  await first.client(first.apiKey).createApiKey({ body: { name: 'another' } });
  await fetch(`${first.url}/api/v1/users/me?key=${first.apiKey}`);
  secretKey = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim();
  await stop(first);
  second = await startServer(dataDir);
});
afterAll(cleanUp);

interface Answer {
  status: number;
  body: unknown;
}

/** Runs the printed commands in a shell with these variables and returns their output. */
function runCurls({ stdout }: RunningServer, environment: Settings = {}): Promise<Answer[]> {
  const commands = stdout
    .replaceAll(' \\\n   ', '')
    .matchAll(
      /^ {2}curl -H "Authorization: ([^"]+)" (?:-H "Content-Type: application\/json" -d '([^']+)' )?"?([^"\s]+)"?$/gm,
    );
  const expand = (text: string) => text.replace(/\$(\w+)/g, (_, name: string) => environment[name] ?? '');
  return Promise.all(
    [...commands].map(async ([, credential, body, url]) => {
      const headers = {
        authorization: expand(credential!),
        ...(body && { 'content-type': 'application/json' }),
      };
      const response = await fetch(url!, { method: body ? 'POST' : 'GET', headers, body });
      return { status: response.status, body: await response.json() };
    }),
  );
}

async function idsOf(server: RunningServer, apiKey: string | undefined) {
  const ids: number[] = [];
  for await (const { id } of server.client(apiKey).iterate.getDeployments()) ids.push(id);
  return ids;
}

test('the first start prints the credentials and the address', async () => {
  expect(first.stdout).toContain('\nThe first admin is admin@example.com.\n');
  expect(first.apiKey).toMatch(/^sk-\S{32,}$/);
  expect(first.facts).toMatchObject({ 'API reference': `${first.url}/docs` });
  expect(first.password).toMatch(/^[\w-]{24}$/);
  expect(first.stderr).toBe('');
});

test('the commands that it prints work: they list the reports of the demo and mint a session', async () => {
  expect(firstAnswers.map(({ status }) => status)).toEqual([200, 200]);
  const [reports, session] = firstAnswers.map(({ body }) => body);
  expect(session).toEqual({ sessionId: expect.stringMatching(/^\d+\.\S{56}$/) });
  expect(reports).toMatchObject({ items: { length: 10 }, pageInfo: { hasNextPage: true } });
});

test('the command that signs in works as printed', async () => {
  const [command] = /^ {2}curl [^\n]+\\\n.+\/auth\/login$/m.exec(first.stdout)!;
  const env = { ...process.env, ORIEL_ADMIN_PASSWORD: first.password };
  const options = { encoding: 'utf8', env } as const;
  const { stdout } = spawnSync('sh', ['-c', command.replaceAll(first.url, second.url)], options);
  const { accessToken } = JSON.parse(stdout) as { accessToken: string };
  const headers = { authorization: `Bearer ${accessToken}` };
  const me = await fetch(`${second.url}/api/v1/users/me`, { headers });
  expect([me.status, await me.json()]).toMatchObject([200, { isAdmin: true }]);
});

test('the password of the first admin is hashed at the cost that OWASP advises', async () => {
  const database = await openDatabase(dataDir);
  const { rows } = await database
    .query('select password_hash from users where password_hash is not null')
    .finally(() => database.end());
  expect(rows).toEqual([{ password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/) }]);
});

test('a later start shows no secrets, and the first ones still work', async () => {
  expect(second.stdout).not.toMatch(/sk-|API key|password|curl/);
  await expect(second.client(first.apiKey).getMe()).resolves.toMatchObject({ isAdmin: true });
  await expect(second.client().getMe()).rejects.toMatchObject({ status: 401 });
});

test('the first line of the log shows version and address', () => {
  const line = first.stdout.split('\n').find((text) => text.startsWith('{'));
  const { version } = JSON.parse(readFileSync(join(MAIN, '../../package.json'), 'utf8'));
  expect(JSON.parse(line!)).toMatchObject({ version, schemaVersion: expect.any(Number), address: first.url });
});

test('no log line contains a secret, even if a caller put one into the address', () => {
  const lines = first.stdout.split('\n').filter((line) => line.startsWith('{'));
  expect(lines.length).toBeGreaterThan(3);
  const secrets = [first.apiKey!, first.password!, secretKey];
  expect(lines.filter((line) => secrets.some((secret) => line.includes(secret)))).toEqual([]);
});

test('the secret key is created once, and only its owner can read it', () => {
  const file = join(dataDir, 'secret.key');
  expect(readFileSync(file, 'utf8').trim()).toBe(secretKey);
  expect(secretKey.length).toBeGreaterThan(32);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('a deleted demo deployment does not come back', async () => {
  const { apiKey } = first;
  expect(await idsOf(second, apiKey)).toEqual([1]);
  await second.client(apiKey).deleteDeployment({ deploymentId: 1 });
  await stop(second);
  const third = await startServer(dataDir);
  expect(await idsOf(third, apiKey)).toEqual([]);
});

test('a first start uses its settings, does not print secrets among them, and needs no certain umask', async () => {
  const port = await freePort();
  const settings = {
    ORIEL_PORT: String(port),
    ORIEL_DEMO: 'false',
    ORIEL_ADMIN_EMAIL: 'ada@example.com',
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
    ORIEL_ADMIN_PASSWORD: 'correct-horse-battery',
    ORIEL_LOG_LEVEL: 'trace',
  };
  const underUmask = ['/bin/sh', '-c', 'umask 077; exec "$0" "$1"', process.execPath, MAIN] as const;
  const starting = spawnServer(await newDataDir(), settings, [...underUmask]);
  await expectAnswersWhileMaking(starting, port);
  const server = await ready(starting);
  expect(server.url).toBe(`http://127.0.0.1:${port}`);
  expect(server.stdout).toContain('The first admin is ada@example.com.');
  await expect(server.client(ADMIN_KEY).getMe()).resolves.toMatchObject({ email: 'ada@example.com' });
  expect(await idsOf(server, ADMIN_KEY)).toEqual([]);
  // The printed commands take the key from the environment.
  expect((await runCurls(server, settings)).map(({ status }) => status)).toEqual([200, 200]);
  await stop(server);
  expect(server.stdout).not.toContain(ADMIN_KEY);
  expect(server.stdout).not.toContain('correct-horse-battery');
});

/** While the database is being created, the server reports that it is alive but not ready. */
async function expectAnswersWhileMaking(server: ServerProcess, port: number) {
  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.status;
  const isMaking = () =>
    existsSync(server.dataDir) &&
    readdirSync(server.dataDir).some((name) => name.startsWith('postgres.new-'));
  let seen: unknown[] = [];
  await until('it answers while the database is being created', async () => {
    if (!isMaking()) return false;
    seen = [await statusOf('/healthz'), await statusOf('/readyz'), await statusOf('/api/v1/users/me')];
    return isMaking();
  });
  expect(seen).toEqual([200, 503, 503]);
}
