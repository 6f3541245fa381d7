import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEmbedding, type Embedding } from '../../../test/embedding.ts';
import { startListening } from '../../../test/listening.ts';
import { SECRET_KEY, unique } from '../../../test/world.ts';
import type { EmbeddedCaller } from '../../platform/auth/actor.ts';
import type { CredentialKind } from '../../platform/auth/credentials.ts';
import type { Listener } from '../../platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from '../../platform/db/notified-cache.ts';
import type { Platform } from '../../platform/module.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createSigningKeys } from '../signing-keys/index.ts';
import { type EmbedSessionOptions, embedSessions } from './index.ts';
import { REVOCATIONS_CHANNEL } from './revocations.ts';

let embedding: Embedding;
let listener: Listener;
let kind: CredentialKind;
let stopModule: () => Promise<void>;
beforeAll(async () => {
  embedding = await createEmbedding();
  const { db: essential } = embedding.world.server;
  listener = await startListening(embedding.world.databaseUrl, CREDENTIALS_CHANNEL, REVOCATIONS_CHANNEL);
  const keyring = createKeyring([SECRET_KEY]);
  const platform: Pick<Platform, 'essential' | 'createCache' | 'box' | 'listener' | 'log' | 'keysFor'> = {
    essential,
    listener,
    createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
    box: (column) => createBox(column, keyring),
    keysFor: keyring.keysFor,
    log: pino({ level: 'silent' }),
  };
  // Only the routes need the options that are missing here.
  const options = { signingKeys: createSigningKeys(platform) } as EmbedSessionOptions;
  const { credentials, stop } = embedSessions(platform as Platform, options);
  kind = credentials![0]!;
  stopModule = async () => stop!();
});
afterAll(async () => {
  await listener.end();
  await embedding.stop();
});

const verify = (secret: string) =>
  kind.verify({ scheme: 'bearer', secret, method: 'GET', headers: {}, address: '127.0.0.1' });

test('a known token of an external viewer is verified at once, and the login is noted before the module has stopped', async () => {
  const externalId = unique('ada');
  const { token } = await embedding.world.embedded(embedding.request({ externalId }));
  const isKnown = async () => {
    await verify(token);
    return !(verify(token) instanceof Promise);
  };
  await expect.poll(isKnown).toBe(true);
  expect(verify(token)).toMatchObject({ kind: 'externalViewer', embed: { creatorMode: false } });
  const lastLogin = async () =>
    (await embedding.rows('select last_login from users where external_id = $1', [externalId]))[0].last_login;
  await stopModule();
  expect(await lastLogin()).not.toBeNull();
});

test('an embedded user of the account has their own rights, which are read again after each change', async () => {
  const { userId } = await embedding.world.person({ roles: ['Explorer'] });
  const [{ username }] = await embedding.rows('select username from users where id = $1', [userId]);
  const { token } = await embedding.world.embedded(embedding.request({ internalId: username }));
  const { deploymentId } = embedding;
  const read = async () => (await verify(token)) as EmbeddedCaller;
  const person = await read();
  expect(person).toMatchObject({ kind: 'embeddedPerson', userId, deploymentIds: [deploymentId] });
  expect(person.actions.size).toBeGreaterThan(0);
  await embedding.world.admin.updateUser({ id: userId, body: { roles: [] } });
  await expect.poll(async () => (await read()).actions.size).toBe(0);
});
