/** No kill, at any time, loses a change that was confirmed, and the next start needs no help. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type OrielClient, OrielError } from '@oriel/client';
import { afterEach, expect, test } from 'vitest';
import { databaseProcesses, kill, killDatabase, postmasterOf } from './database-processes.ts';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  killServer,
  MAIN,
  newDataDir,
  openDatabase,
  type RunningServer,
  ready,
  type ServerProcess,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';

afterEach(cleanUp);

const settings = { ORIEL_ADMIN_API_KEY: ADMIN_KEY, ORIEL_LOG_LEVEL: 'warn' };
/** A request that takes longer counts as hanging, even on a busy machine. */
const ANSWER_WITHIN_MS = 120_000;
/** Servers start many times. */
const TIMEOUT_MS = 600_000;

/** The changes that the server confirmed, which must never be lost. */
interface ConfirmedChanges {
  deployments: string[];
  usernames: string[];
  apiKeys: string[];
}

const nothing = (): ConfirmedChanges => ({ deployments: [], usernames: [], apiKeys: [] });

let counter = 0;
const nextName = () => `crash-${++counter}`;
const inTime = () => ({ signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });

async function write(client: OrielClient, answered: ConfirmedChanges) {
  const name = nextName();
  switch (counter % 3) {
    case 0:
      await client.createDeployment({ body: deploymentNamed(name) }, inTime());
      return answered.deployments.push(name);
    case 1:
      await client.createUser({ body: { username: name, email: `${name}@example.com` } }, inTime());
      return answered.usernames.push(name);
    default:
      return answered.apiKeys.push((await client.createApiKey({ body: { name } }, inTime())).key);
  }
}

/** Writes until it is stopped. While the database is gone the answer is a 503; a server that is gone gives no answer. */
async function writeUntil(server: RunningServer, isOver: () => boolean, answered: ConfirmedChanges) {
  const client = server.client(ADMIN_KEY);
  while (!isOver()) {
    try {
      await write(client, answered);
    } catch (error) {
      const isRefused = error instanceof OrielError && error.code === 'unavailable';
      const isCutOff = error instanceof TypeError && server.wasKilled;
      if (!isRefused && !isCutOff) {
        throw new Error(`unexpected answer; the last output of the server: ${lastWords(server)}`, {
          cause: error,
        });
      }
    }
    // Many more requests would only take time: each confirmed change is checked after the kill.
    await sleep(20);
  }
}

const lastWords = ({ stderr, stdout }: ServerProcess) => stderr + stdout.slice(-2000);

async function expectKept(server: RunningServer, { deployments, usernames, apiKeys }: ConfirmedChanges) {
  const client = server.client(ADMIN_KEY);
  const names = new Set<string>();
  for await (const { name } of client.iterate.getDeployments({ first: 100 })) names.add(name);
  expect(deployments.filter((name) => !names.has(name))).toEqual([]);
  for (const key of apiKeys) await expect(server.client(key).getMe()).resolves.toBeDefined();
  for (const username of usernames) {
    const again = client.createUser({ body: { username, email: `${nextName()}@example.com` } });
    await expect(again).rejects.toMatchObject({ code: 'username_taken' });
  }
}

const merge = (all: ConfirmedChanges, more: ConfirmedChanges) => {
  for (const kind of ['deployments', 'usernames', 'apiKeys'] as const) all[kind].push(...more[kind]);
};

async function killBoth(server: ServerProcess) {
  server.wasKilled = true;
  kill([server.pid, ...databaseProcesses(server.dataDir)]);
  await server.ended;
}

/** A start is interrupted at a random moment. */
async function interruptStart(dataDir: string, cut: (server: ServerProcess) => Promise<unknown>) {
  const server = spawnServer(dataDir, settings);
  await sleep(Math.random() * 1500);
  expect(server.stderr).toBe('');
  await cut(server);
}

const confirmed = ({ deployments, usernames, apiKeys }: ConfirmedChanges) =>
  deployments.length + usernames.length + apiKeys.length;

/** Writes until some changes are confirmed and then for a random time, runs the kill, and returns the confirmed changes. */
async function writeAndKill(
  server: RunningServer,
  strike: () => Promise<unknown>,
  atLeast = 0,
): Promise<ConfirmedChanges> {
  const answered = nothing();
  let over = false;
  const writers = [1, 2, 3, 4].map(() => writeUntil(server, () => over, answered));
  const striking = (async () => {
    await until('changes are confirmed', async () => confirmed(answered) >= atLeast);
    await sleep(Math.random() * 600);
    await strike();
    over = true;
  })();
  await Promise.all([...writers, striking]);
  return answered;
}

test.each([
  { what: 'the server is killed, and its database keeps running', cut: killServer, rounds: 1 },
  // The second kill is of data that was recovered.
  { what: 'the server and its database are killed', cut: killBoth, rounds: 2 },
])('no confirmed change is lost when $what', { timeout: TIMEOUT_MS }, async ({ cut, rounds }) => {
  const dataDir = await usedDataDir();
  const all = nothing();
  let server = await startServer(dataDir, settings);
  for (let round = 1; round <= rounds; round++) {
    merge(all, await writeAndKill(server, () => cut(server), 10));
    if (round === 1) await interruptStart(dataDir, cut);
    server = await startServer(dataDir, settings);
    await expectKept(server, all);
  }
});

const databaseKills: [string, (dataDir: string) => void][] = [
  ['its main process', (dataDir) => kill([postmasterOf(dataDir)])],
  ['one of its other processes', (dataDir) => kill(someWorker(dataDir))],
  ['the whole database, twice', (dataDir) => kill(databaseProcesses(dataDir))],
];

const someWorker = (dataDir: string) => {
  const workers = databaseProcesses(dataDir).filter((pid) => pid !== postmasterOf(dataDir));
  return workers.slice(-1);
};

test('a server whose database is killed returns 503 until it has started the database again by itself', {
  timeout: TIMEOUT_MS,
}, async () => {
  const dataDir = await usedDataDir();
  const all = nothing();
  const server = await startServer(dataDir, settings);
  const serves = () =>
    server
      .client(ADMIN_KEY)
      .getDeployments({ first: 1 })
      .then(
        () => true,
        () => false,
      );
  for (const [what, strike] of databaseKills) {
    const answered = await writeAndKill(server, async () => {
      strike(dataDir);
      if (what.endsWith('twice')) {
        await sleep(Math.random() * 200);
        strike(dataDir);
      }
      await sleep(200);
      await until(`the server works again after ${what} was killed`, serves);
      // The writers also get some time on the new database.
      await sleep(200);
    });
    await expectKept(server, answered);
    merge(all, answered);
  }
  expect(server.hasEnded).toBe(false);
  expect(await stop(server)).toEqual({ code: 0, signal: null });
  expect(databaseProcesses(dataDir)).toEqual([]);
  await expectKept(await startServer(dataDir, settings), all);
});

test('a first start that is killed several times is completed by the next start', {
  timeout: TIMEOUT_MS,
}, async () => {
  const dataDir = await newDataDir();
  const isMaking = (server: ServerProcess) =>
    existsSync(dataDir) &&
    readdirSync(dataDir).some((name) => name === 'postgres' || name.startsWith(`postgres.new-${server.pid}`));
  for (let round = 0; round < 2; round++) {
    const server = spawnServer(dataDir, settings);
    await until('the database is being created', () => server.hasEnded || isMaking(server));
    // In the first round `initdb` continues after the server is dead, as after an out-of-memory kill.
    const leavesOrphans = round % 2 === 0;
    await sleep(Math.random() * (leavesOrphans ? 100 : 700));
    expect(server.stderr).toBe('');
    await (leavesOrphans ? killServer(server) : killBoth(server));
  }
  const server = await startServer(dataDir, settings);
  await expect(server.client(ADMIN_KEY).getDeployment({ deploymentId: 1 })).resolves.toBeDefined();
  await stop(server);
  // What the killed starts left unfinished are removed, at the latest by another start.
  await killDatabase(dataDir);
  await stop(await startServer(dataDir, settings));
  expect(readdirSync(dataDir).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
});

test('if a first start is killed before it shows the credentials, the next start shows them', async () => {
  const dataDir = await newDataDir();
  const first = spawnServer(dataDir);
  const users = async () => {
    const database = await openDatabase(dataDir);
    try {
      return (await database.query('select from users')).rowCount;
    } finally {
      await database.end();
    }
  };
  await until('the first admin is stored', () => first.hasEnded || users().catch(() => 0));
  await killServer(first);
  const second = await startServer(dataDir);
  const shown = [first, second].flatMap(({ stdout }) => stdout.match(/sk-[\w-]{32,}(?=\n)/g) ?? []).at(-1);
  expect(shown).toBeDefined();
  await expect(second.client(shown).getMe()).resolves.toMatchObject({ isAdmin: true });
});

test('a first start is completed even if process ids repeat, as they do in containers', async () => {
  const dataDir = await newDataDir();
  mkdirSync(dataDir, { mode: 0o711 });
  // The shell creates what a killed start would have left, and then becomes a server with the same process id.
  const unfinished = 'mkdir "$ORIEL_DATA_DIR/postgres.new-$$" && : > "$ORIEL_DATA_DIR/secret.key.new-$$"';
  const server = spawnServer(dataDir, settings, [
    '/bin/sh',
    '-c',
    `${unfinished} && exec "$0" "$1"`,
    process.execPath,
    MAIN,
  ]);
  await expect((await ready(server)).client(ADMIN_KEY).getMe()).resolves.toBeDefined();
  expect(readdirSync(dataDir).filter((name) => name.includes('.new-'))).toEqual([]);
});
