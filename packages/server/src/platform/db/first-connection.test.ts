/** A start waits for a database that is still starting, and explains every other problem in one line. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { createDatabase, dropDatabase } from '../../../test/databases.ts';
import { type Front, type Refusal, SELF_SIGNED, startFront } from '../../../test/front-of-postgres.ts';
import { SECRET_KEY } from '../../../test/world.ts';
import { readConfig } from '../../config.ts';
import { type StartOptions, startServer } from '../../start-server.ts';
import { StartupError } from '../startup-error.ts';

let front: Front | undefined;
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  front?.stop();
  front = undefined;
});

const lines: { msg: string }[] = [];
const log = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });

const start = (databaseUrl: string, options: StartOptions = {}) =>
  startServer(
    readConfig({ ORIEL_PORT: '0', ORIEL_DATABASE_URL: databaseUrl, ORIEL_SECRET_KEY: SECRET_KEY }),
    log,
    { waitForDatabaseMs: 120_000, ...options },
  );

/** The one line that a start ends with. */
async function refusal(databaseUrl: string, options?: StartOptions): Promise<string> {
  const error = await start(databaseUrl, options).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(StartupError);
  const { message } = error as StartupError;
  expect(message).not.toContain('\n');
  return message;
}

const always = (answer: Refusal) => () => answer;
const urlOf = ({ port }: Front, parameters = '') =>
  `postgres://oriel:wrong@127.0.0.1:${port}/oriel${parameters}`;

describe('a database that is still starting', () => {
  async function database() {
    const url = inject('postgresUrl');
    const name = await createDatabase(url, inject('templateDatabase'));
    undo.push(() => dropDatabase(url, name));
    const { hostname, port, username, password } = new URL(url);
    const host = decodeURIComponent(hostname);
    return {
      target: host.startsWith('/')
        ? { path: `${host}/.s.PGSQL.${port || 5432}` }
        : { host, port: Number(port || 5432) },
      url: (at: number) => `postgres://${username || 'oriel'}:${password}@127.0.0.1:${at}/${name}`,
    };
  }

  const passing: Refusal[] = [
    { code: '57P03', message: 'the database system is starting up' },
    { code: '53300', message: 'sorry, too many clients already' },
  ];
  test.each(passing)('$message: the start tries again, says so, and succeeds', async (answer) => {
    const { target, url } = await database();
    front = await startFront({ refusal: (n) => (n <= 2 ? answer : undefined), target });
    lines.splice(0);
    const server = await start(url(front.port));
    undo.push(() => server.stop());
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const waiting = lines.map(({ msg }) => msg).filter((msg) => msg?.startsWith('waiting for the database'));
    expect(waiting).toEqual([
      expect.stringContaining(answer.message),
      expect.stringContaining(answer.message),
    ]);
  });

  test('if no database listens yet, the start waits too, and requests are answered in the meantime', async () => {
    const { target, url } = await database();
    const port = await freePort();
    lines.splice(0);
    const starting = start(url(port));
    await until(() => lines.some(({ msg }) => /waiting for the database.*ECONNREFUSED/.test(msg)));
    const { address } = lines[0] as unknown as { address: string };
    const status = async (path: string) => (await fetch(address + path)).status;
    expect(await status('/healthz')).toBe(200);
    expect(await status('/readyz')).toBe(503);
    expect(await status('/api/v1/users/me')).toBe(503);
    front = await startFront({ refusal: () => undefined, target, port });
    const server = await starting;
    undo.push(() => server.stop());
    expect(server.url).toBe(address);
    expect(await status('/readyz')).toBe(200);
    expect(await status('/api/v1/users/me')).toBe(401);
  });

  test('the start stops waiting when the time is over', async () => {
    const line = await refusal(`postgres://oriel@127.0.0.1:${await freePort()}/oriel`, {
      waitForDatabaseMs: 1,
    });
    expect(line).toMatch(/^The database cannot be reached .*ECONNREFUSED.*ORIEL_DATABASE_URL/);
  });

  test('a database that has connections for the migrations but none after them is also reported in one line', async () => {
    const { target, url } = await database();
    const answer = { code: '53300', message: 'sorry, too many clients already' };
    // The migrations use two connections, to check whether a pooler shares sessions.
    front = await startFront({ refusal: (n) => (n <= 2 ? undefined : answer), target });
    expect(await refusal(url(front.port))).toMatch(
      /^The database has no connection left for us \(sorry, too many/,
    );
  });

  test('the start stops waiting when the server is told to stop', async () => {
    const told = new AbortController();
    const starting = start(`postgres://oriel@127.0.0.1:${await freePort()}/oriel`, { signal: told.signal });
    told.abort();
    await expect(starting).rejects.toMatchObject({ name: 'AbortError' });
  });
});

test('the first line of the log has the version, schema version and address', async () => {
  front = await startFront({ refusal: always({ code: '28P01', message: 'no' }) });
  lines.splice(0);
  await refusal(urlOf(front));
  expect(lines[0]).toMatchObject({
    msg: 'starting',
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    schemaVersion: expect.any(Number),
    address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
});

describe('a problem that waiting does not solve is reported at once', () => {
  const reasons: [Refusal, RegExp][] = [
    [
      { code: '28P01', message: 'password authentication failed for user "oriel"' },
      /^The database refuses the connection \(password authentication failed.*check user, password/,
    ],
    [
      { code: '3D000', message: 'database "oriel" does not exist' },
      /^The database refuses the connection .*ORIEL_DATABASE_URL/,
    ],
    [
      { code: '08P01', message: 'unsupported startup parameter: options' },
      /^The database, or a pooler .*unsupported startup parameter.*docs\/operating\.md/,
    ],
    [
      { code: 'XX000', message: 'something\nelse' },
      /^The database cannot be used, error XX000 \(something else\)/,
    ],
  ];
  test.each(reasons)('$code', async (answer, line) => {
    front = await startFront({ refusal: always(answer) });
    expect(await refusal(urlOf(front))).toMatch(line);
    expect(front.connections).toBe(1);
  });

  test('a certificate of an unknown authority', async () => {
    const answer = { code: '28P01', message: 'no' };
    front = await startFront({ refusal: always(answer), tls: SELF_SIGNED });
    const line = await refusal(urlOf(front, '?sslmode=require'));
    expect(line).toMatch(
      /^The database's certificate is not accepted \(self-signed certificate\b.*sslrootcert/,
    );
    expect(front.connections).toBe(1);

    const folder = await mkdtemp(join(tmpdir(), 'oriel-test-'));
    undo.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, 'ca.pem'), SELF_SIGNED.cert);
    // With these parameters the certificate is accepted, so the error is about the password.
    for (const parameters of [`?sslmode=verify-full&sslrootcert=${folder}/ca.pem`, '?sslmode=no-verify']) {
      expect(await refusal(urlOf(front, parameters))).toMatch(/^The database refuses the connection/);
    }
  });

  test('a database without TLS', async () => {
    front = await startFront({ refusal: always({ code: '28P01', message: 'no' }) });
    expect(await refusal(urlOf(front, '?sslmode=require'))).toMatch(
      /^The database does not support TLS .*sslmode=disable/,
    );
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function until(check: () => boolean) {
  await expect.poll(check).toBe(true);
}
