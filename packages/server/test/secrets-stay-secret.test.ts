/** No password, token, link or hash shows in a log line, in the audit log, or in an answer that did not make it. */
import { createOrielClient } from '@oriel/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../src/config.ts';
import { createPeopleSessions } from '../src/domains/sessions/index.ts';
import type { Platform } from '../src/platform/module.ts';
import { createKeyring } from '../src/platform/secrets/keyring.ts';
import { startServer } from '../src/start-server.ts';
import { ADMIN_KEY, createOwnWorld, SECRET_KEY, unique, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
});
afterAll(() => world.stop());

const ORIGIN = { operation: 'test', ip: '127.0.0.1', requestId: 'test' };

/** Everything that people do to sign in, well and badly. Returns the secrets that were in use. */
async function useEverything(url: string): Promise<string[]> {
  const client = (credential: object = {}) => createOrielClient({ baseUrl: url, retries: 0, ...credential });
  const admin = client({ apiKey: ADMIN_KEY });
  const secrets = [
    'a first password',
    'a second password',
    'a wrong password',
    'a password in the wrong field',
  ];
  const [first, second, wrong, misplaced] = secrets as [string, string, string, string];
  const refused = (work: Promise<unknown>) => expect(work).rejects.toBeDefined();

  const username = unique('ada');
  const { id, email } = await admin.createUser({
    body: { username, email: `${username}@example.com`, password: first },
  });
  const tokens = await client().login({ body: { email, password: first } });
  await refused(client().login({ body: { email, password: wrong } }));
  await refused(client().login({ body: { email: misplaced, password: wrong } }));
  await refused(client().login({ body: { email, password: wrong, secret: misplaced } as never }));
  const next = (await client().refreshTokens({
    body: { refreshToken: tokens.refreshToken },
  })) as typeof tokens;
  await fetch(`${url}/api/v1/users/me?token=${next.accessToken}`, {
    headers: { authorization: `Bearer ${next.accessToken}` },
  });
  await refused(client().refreshTokens({ body: { refreshToken: tokens.refreshToken } }));
  const device = (await client().createDeviceCode({ body: { clientId: 'tool' } })) as { deviceCode: string };
  await refused(client().exchangeDeviceCode({ body: { deviceCode: device.deviceCode, clientId: 'tool' } }));
  const { url: link } = await admin.createResetLink({ id, body: {} });
  const { invitationUrl } = await admin.createUser({
    body: { username: `${username}-2`, email: `${username}-2@example.com` },
  });
  await fetch(link.replace(world.url, url));
  const again = await client().login({ body: { email, password: first } });
  const signedIn = client({ token: again.accessToken });
  await refused(signedIn.changeMyPassword({ body: { currentPassword: wrong, newPassword: second } }));
  await signedIn.changeMyPassword({ body: { currentPassword: first, newPassword: second } });
  const people = createPeopleSessions({
    essential: world.server.essential,
    attempts: { record: () => {}, stop: async () => {} },
    keysFor: createKeyring([SECRET_KEY]).keysFor,
    publicUrl: url,
  } as Partial<Platform> as Platform);
  const { setCookie } = await people.console.signIn(email, second, ORIGIN, {});
  const cookie = setCookie.split(';')[0]!;
  await fetch(`${url}/api/v1/users/me`, { headers: { cookie } });
  await fetch(`${url}/auth/logout`, { method: 'POST', headers: { cookie } });

  const secretOf = (address: string) => new URL(address).searchParams.get('link')!;
  const made = [tokens, next, again].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]);
  return [
    ...secrets,
    ...made,
    device.deviceCode,
    secretOf(link),
    secretOf(invitationUrl!),
    cookie.split('=')[1]!,
  ];
}

test('secrets of people are in no log line and in no audit entry, and hashes in no answer', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(line) });
  const config = readConfig({
    ORIEL_PORT: '0',
    ORIEL_DATABASE_URL: world.databaseUrl,
    ORIEL_SECRET_KEY: SECRET_KEY,
    ORIEL_LOG_LEVEL: 'trace',
  });
  const server = await startServer(config, log);
  const secrets = await useEverything(server.url);
  const read = async (path: string) =>
    (await fetch(server.url + path, { headers: { authorization: `Api-Key ${ADMIN_KEY}` } })).text();
  const answers = [await read('/api/v1/users?first=100'), await read('/api/v1/users/me/sessions')];
  // Failed attempts are written when the server stops, if not before.
  await server.stop();

  const { rows } = await world.server.db.pool.query('select l::text as entry from audit_log l');
  const entries = rows.map(({ entry }) => entry as string);
  expect(entries.some((entry) => entry.includes('failedSignIn'))).toBe(true);
  expect(entries.some((entry) => entry.includes('signIn'))).toBe(true);
  expect(lines.length).toBeGreaterThan(10);
  expect(secrets.length).toBeGreaterThan(12);
  const stored = await world.server.db.pool.query(
    'select password_hash from users where password_hash is not null',
  );
  const hashes = stored.rows.map(({ password_hash }) => password_hash as string);
  for (const secret of [...secrets, ...hashes, '$argon2id$']) {
    for (const text of [...lines, ...entries, ...answers]) expect(text.includes(secret)).toBe(false);
  }
});
