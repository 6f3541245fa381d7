/** Stopping a server loses no request and leaves nothing behind. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { databaseProcesses } from './database-processes.ts';
import { beginRequest } from './raw-request.ts';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  freePort,
  isListening,
  MAIN,
  newDataDir,
  type ServerProcess,
  spawnServer,
  startServer,
  stop,
  until,
  usedDataDir,
} from './server-process.ts';
import { inDatabase } from './single-user.ts';

afterEach(cleanUp);

const settings = { ORIEL_ADMIN_API_KEY: ADMIN_KEY, ORIEL_DEMO: 'false' };

function expectNothingLeft({ dataDir }: ServerProcess) {
  expect(databaseProcesses(dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, 'postgres/postmaster.pid'))).toBe(false);
}

interface Stop {
  how: string;
  send(server: ServerProcess): void;
  /** Sends the signal again while the server waits for the requests. */
  sendAgain(server: ServerProcess): void;
}

const stops: Stop[] = [
  { how: 'SIGTERM', send: ({ pid }) => process.kill(pid, 'SIGTERM'), sendAgain() {} },
  {
    how: 'Ctrl-C, even if more signals follow,',
    // A terminal sends Ctrl-C to the server and to all of its children that did not leave its process group.
    send: ({ pid }) => process.kill(-pid, 'SIGINT'),
    sendAgain({ pid }) {
      process.kill(-pid, 'SIGINT');
      process.kill(pid, 'SIGTERM');
    },
  },
];

test.each(stops.map((each) => [each.how, each] as const))(
  'on %s the server answers current requests, refuses new ones, and ends without an error',
  async (_, { send, sendAgain }) => {
    const server = await startServer(await usedDataDir(), settings);
    const port = Number(new URL(server.url).port);
    // Idle connections do not delay the stop: one was used and is kept open, and one was only opened, as browsers do in
    // advance.
    await fetch(`${server.url}/healthz`).then((answer) => answer.text());
    const silent = connect(port, '127.0.0.1').on('error', () => {});
    await once(silent, 'connect');
    const names = ['one', 'two', 'three'];
    const requests = await Promise.all(
      names.map((name) =>
        beginRequest(server.url, '/build/api/v1/deployments', ADMIN_KEY, deploymentNamed(name)),
      ),
    );

    send(server);
    await until('new connections are refused', async () => !(await isListening(port)));
    expect(server.hasEnded).toBe(false);
    sendAgain(server);
    for (const { finish } of requests) finish();

    for (const { answer } of requests) expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.stderr).toBe('');
    expectNothingLeft(server);
    silent.destroy();

    const stored = inDatabase(server.dataDir, 'select name from deployments');
    for (const name of names) expect(stored).toContain(`"${name}"`);
  },
);

test('a start that waits for its database stops on a signal', async () => {
  const database = `postgres://oriel@127.0.0.1:${await freePort()}/oriel`;
  const server = spawnServer(await newDataDir(), { ...settings, ORIEL_DATABASE_URL: database });
  await until('it waits', () => server.stdout.includes('waiting for the database'));
  expect(await stop(server)).toEqual({ code: 0, signal: null });
  expect(server.stderr).toBe('');
});

describe('when nobody reads the output any more', () => {
  test('a first start ends, and does not store the key that nobody saw', async () => {
    const server = spawnServer(await newDataDir());
    server.child.stdout!.destroy();
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expectNothingLeft(server);
    const next = await startServer(server.dataDir);
    await expect(next.client(next.apiKey).getMe()).resolves.toMatchObject({ isAdmin: true });
  });

  test('a server ends in order', async () => {
    const server = await startServer(await usedDataDir(), settings);
    server.child.stdout!.destroy();
    // Causes a log line, in case the server has not noticed the closed output yet.
    await fetch(`${server.url}/api/v1/users/me`).catch(() => {});
    expect(await server.ended).toEqual({ code: 1, signal: null });
    expectNothingLeft(server);
  });

  const head = (dataDir: string, lines: number, all = '') =>
    spawnServer(dataDir, settings, [
      '/bin/sh',
      '-c',
      `"$0" "$1" ${all} | head -${lines}`,
      process.execPath,
      MAIN,
    ]);

  // In the middle of the credentials, and after them. The first test above closes the output before anything is written.
  test.each([6, 12])('a first start that is piped into `head -%i` ends by itself', async (lines) => {
    const piped = head(await newDataDir(), lines);
    await piped.ended;
    expect(piped.stdout.split('\n')).toHaveLength(lines + 1);
    expectNothingLeft(piped);
  });

  test('a later start that is piped into `head` ends by itself', async () => {
    const piped = head(await usedDataDir(), 1);
    await piped.ended;
    expectNothingLeft(piped);
  });

  test('a start whose errors go into the same pipe ends by itself', async () => {
    const piped = head(await usedDataDir(), 1, '2>&1');
    await piped.ended;
    expectNothingLeft(piped);
  });
});

test('a start that gets a signal leaves no process behind, and the next start succeeds', async () => {
  const dataDir = await newDataDir();
  for (let start = 0; start < 2; start++) {
    const server = spawnServer(dataDir, settings);
    await sleep(300 + Math.random() * 900);
    const { code, signal } = await stop(server);
    // Before the process listens for signals, it has not started anything else.
    expect([code, signal], server.stderr).toEqual(signal ? [null, 'SIGTERM'] : [0, null]);
    expect(server.stderr).toBe('');
    expectNothingLeft(server);
  }
  const server = await startServer(dataDir, settings);
  await expect(server.client(ADMIN_KEY).getMe()).resolves.toBeDefined();
});
