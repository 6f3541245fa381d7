/** Which credentials a restored server takes: ids that were given after the backup are given again to others. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { createOrielClient } from '@oriel/client';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { makeBackup } from '../src/backup.ts';
import { readConfig } from '../src/config.ts';
import { restoreBackup } from '../src/restore.ts';
import type { RunningServer } from '../src/start-server.ts';
import { createDatabase, dropDatabase, onServer } from './databases.ts';
import { PASSWORD, type SignedInPerson, signedIn, statusWith } from './sign-in.ts';
import { ADMIN_KEY, createOwnWorld, SECRET_KEY, unique, type World } from './world.ts';

const postgresUrl = inject('postgresUrl');
let world: World;
let database: string;
let restored: RunningServer;
let deploymentId: number;
/** A person of the backup, and a sign-in of another one after it. */
let before: SignedInPerson;
let after: SignedInPerson;
let tokenBefore: string;
let tokenAfter: string;

const viewer = (embedTenantName: string) => ({ deploymentId, externalId: unique('viewer'), embedTenantName });
const clientOf = (credential: object) =>
  createOrielClient({ baseUrl: restored.url, retries: 0, ...credential });
const refresh = (refreshToken: string) => clientOf({}).refreshTokens({ body: { refreshToken } });

beforeAll(async () => {
  world = await createOwnWorld();
  ({ id: deploymentId } = await world.deployment());
  before = await signedIn(world);
  ({ token: tokenBefore } = await world.embedded(viewer('tenant-a')));
  const folder = await mkdtemp(join(inject('runFolder'), 'restored-'));
  const file = join(folder, 'oriel.backup');
  const configOf = (url: string) =>
    readConfig({
      ORIEL_DATABASE_URL: url,
      ORIEL_SECRET_KEY: SECRET_KEY,
      ORIEL_DATA_DIR: join(folder, 'data'),
    });
  await makeBackup(configOf(world.databaseUrl), [file]);

  ({ token: tokenAfter } = await world.embedded(viewer('tenant-a')));
  after = await signedIn(world);

  database = await createDatabase(postgresUrl);
  const url = onServer(postgresUrl, database);
  await restoreBackup(configOf(url), [file]);
  restored = await world.anotherServer({ ORIEL_DATABASE_URL: url, ORIEL_DATA_DIR: join(folder, 'data') });
});
afterAll(async () => {
  await world.stop();
  await dropDatabase(postgresUrl, database);
});

test('an embed token from after the backup does not stand for the viewer who gets the same id', async () => {
  const admin = clientOf({ apiKey: ADMIN_KEY });
  const { sessionId } = await admin.generateSession({ body: viewer('tenant-b') });
  const { token } = await clientOf({}).postTokenBySessionId({ body: { sessionId } });
  expect(decodeJwt(token).sub).toBe(decodeJwt(tokenAfter).sub);
  expect((await clientOf({ token }).getEmbedSession()).user.id).toBe(Number(decodeJwt(token).sub));
  for (const ended of [tokenAfter, tokenBefore]) {
    await expect(clientOf({ token: ended }).getEmbedSession()).rejects.toMatchObject({ status: 401 });
  }
});

test('a sign-in from after the backup does not work, and does not end the one that is the next here', async () => {
  expect(await statusWith(restored.url, after.accessToken)).toBe(401);
  const body = { email: before.email, password: PASSWORD };
  const next = await clientOf({}).login({ body });
  await expect(refresh(after.refreshToken)).rejects.toMatchObject({ code: 'invalid_grant' });
  expect(await statusWith(restored.url, next.accessToken)).toBe(200);
});

test('a sign-in from before the backup goes on', async () => {
  expect(await statusWith(restored.url, before.accessToken)).toBe(200);
  await expect(refresh(before.refreshToken)).resolves.toMatchObject({ accessToken: expect.any(String) });
});
