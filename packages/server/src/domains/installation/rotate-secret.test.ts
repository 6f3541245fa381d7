/** Replaces the secret of the installation with the steps that docs/operating.md describes. */
import { createCipheriv, randomBytes } from 'node:crypto';
import { createOrielClient } from '@oriel/client';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { ADMIN_KEY, createOwnWorld, unique, type World } from '../../../test/world.ts';
import { readConfig } from '../../config.ts';
import { CHAIN_KEY, openChain } from '../../platform/audit/seal.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring, deriveKey } from '../../platform/secrets/keyring.ts';
import { rotateSecretKey } from '../../rotate-secret.ts';
import { type RunningServer, startServer } from '../../start-server.ts';
import { SIGNING_KEY_COLUMN } from '../signing-keys/index.ts';

const OLD = 'zR7kQw2mXc9vLs4nTb6yHd1gPf8jEa3u';
const NEW = 'mN5bV8cX2zL7kJ4hG1fD9sA6pO3iU0yT';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function worldWithOldSecret(): Promise<World> {
  const world = await createOwnWorld({ env: { ORIEL_SECRET_KEY: OLD } });
  stops.push(() => world.stop());
  await makeKeyOfAuditLog(world);
  return world;
}

/** Makes the key now. Otherwise a schedule makes it at any time, perhaps with the old secret after the rotation. */
async function makeKeyOfAuditLog({ server }: World) {
  const box = createBox(CHAIN_KEY, createKeyring([OLD]));
  await server.db.transaction(async (tx) => {
    const { chain, save } = await openChain(tx, box);
    await save(chain, chain.nextTo);
  });
}

interface Setup {
  key: string;
  next?: string;
  previous?: string;
}

const configOf = ({ databaseUrl }: World, { key, next, previous }: Setup) =>
  readConfig({
    ORIEL_PORT: '0',
    ORIEL_DATABASE_URL: databaseUrl,
    ORIEL_SECRET_KEY: key,
    ...(next && { ORIEL_SECRET_KEY_NEXT: next }),
    ...(previous && { ORIEL_SECRET_KEY_PREVIOUS: previous }),
  });

async function serverWith(world: World, given: Setup): Promise<RunningServer> {
  const server = await startServer(configOf(world, given), pino({ level: 'silent' }));
  stops.push(() => server.stop());
  return server;
}

const clientOf = ({ url }: { url: string }, credential: object = { apiKey: ADMIN_KEY }) =>
  createOrielClient({ baseUrl: url, retries: 0, ...credential });

/** A session, a token and a cursor of a server, which all depend on the secret. */
async function handedOutBy(server: { url: string }, deploymentId: number) {
  const admin = clientOf(server);
  const mint = () =>
    admin.generateSession({
      body: { deploymentId, externalId: unique('viewer') },
    });
  const { sessionId } = await mint();
  const { token } = await clientOf(server, {}).postTokenBySessionId({
    body: { sessionId: (await mint()).sessionId },
  });
  const { pageInfo } = await admin.getDeployments({ first: 1 });
  return { sessionId, token, cursor: pageInfo!.endCursor! };
}

const outcome = (request: Promise<unknown>) =>
  request.then(
    () => 'taken',
    (error) => error.code as string,
  );

async function takenBy(
  server: { url: string },
  { sessionId, token, cursor }: Awaited<ReturnType<typeof handedOutBy>>,
) {
  return {
    token: await outcome(clientOf(server, { token }).getEmbedSession()),
    cursor: await outcome(clientOf(server).getDeployments({ first: 1, after: cursor })),
    session: await outcome(clientOf(server, {}).postTokenBySessionId({ body: { sessionId } })),
  };
}

const TAKEN = { token: 'taken', cursor: 'taken', session: 'taken' };

test('every server accepts the sessions, tokens and cursors of the others at each step, until the old secret ends', async () => {
  const world = await worldWithOldSecret();
  const { id } = await world.deployment();
  await world.deployment();
  const fromOld = () => handedOutBy(world, id);

  const knowsNext = await serverWith(world, { key: OLD, next: NEW });
  expect(await takenBy(knowsNext, await fromOld())).toEqual(TAKEN);
  expect(await takenBy(world, await handedOutBy(knowsNext, id))).toEqual(TAKEN);

  const usesNew = await serverWith(world, { key: NEW, previous: OLD });
  expect(await takenBy(usesNew, await handedOutBy(knowsNext, id))).toEqual(TAKEN);
  expect(await takenBy(knowsNext, await handedOutBy(usesNew, id))).toEqual(TAKEN);

  const lastOfOld = await handedOutBy(knowsNext, id);
  expect(await rotateSecretKey(configOf(world, { key: NEW, previous: OLD }), [])).toBeGreaterThan(0);
  expect(await rotateSecretKey(configOf(world, { key: NEW, previous: OLD }), [])).toBe(0);
  expect(await takenBy(usesNew, await handedOutBy(usesNew, id))).toEqual(TAKEN);

  const onlyNew = await serverWith(world, { key: NEW });
  expect(await takenBy(onlyNew, await handedOutBy(usesNew, id))).toEqual(TAKEN);
  // Tokens are signed with keys of the database. Cursors and sessions are signed with the secret, so they end with it.
  expect(await takenBy(onlyNew, lastOfOld)).toEqual({
    token: 'taken',
    cursor: 'invalid_cursor',
    session: 'invalid_session',
  });
  await expect(serverWith(world, { key: OLD })).rejects.toThrow('set up with another secret key');
});

test('a server without the old secret cannot start before the database has the new secret', async () => {
  const world = await worldWithOldSecret();
  await expect(serverWith(world, { key: NEW })).rejects.toThrow('set up with another secret key');
  const command = rotateSecretKey(configOf(world, { key: NEW }), []);
  await expect(command).rejects.toThrow('set up with another secret key');
  await expect(rotateSecretKey(configOf(world, { key: NEW, previous: OLD }), ['--now'])).rejects.toThrow(
    "Unknown option '--now'",
  );
});

test('a rotation without a previous key fails, because it replaces nothing', async () => {
  const world = await worldWithOldSecret();
  for (const previous of [undefined, OLD]) {
    const command = rotateSecretKey(configOf(world, { key: OLD, previous }), []);
    await expect(command).rejects.toThrow(/^No previous secret key is given, so no key was replaced/);
  }
});

test('a start fails if a server sealed a value with the old secret after the rotation', async () => {
  const world = await worldWithOldSecret();
  await rotateSecretKey(configOf(world, { key: NEW, previous: OLD }), []);
  const sealed = createBox(SIGNING_KEY_COLUMN, createKeyring([OLD])).seal('late', Buffer.from('a key'));
  await world.server.db.pool.query(
    `insert into signing_keys (id, public_key, private_key) values ('late', '{}', $1)`,
    [sealed],
  );
  await expect(serverWith(world, { key: NEW })).rejects.toThrow(
    /of the id [0-9a-f]{16} \(.+, in the table signing_keys\): set ORIEL_SECRET_KEY_PREVIOUS/,
  );
});

test('keys in the old format without a mark still sign and verify, and the rotation seals them again', async () => {
  const world = await worldWithOldSecret();
  const { id } = await world.deployment();
  const { token } = await handedOutBy(world, id);
  const { rows } = await world.server.db.pool.query('select id, private_key from signing_keys');
  const box = createBox(SIGNING_KEY_COLUMN, createKeyring([OLD]));
  for (const row of rows) {
    const plain = box.open(row.id, row.private_key);
    // The old format: the key was derived for `signing keys`, and the value was not bound to its row.
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', deriveKey(OLD, 'signing keys'), nonce, {
      authTagLength: 16,
    });
    const encrypted = Buffer.concat([cipher.update(plain), cipher.final()]);
    const asBefore = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
    await world.server.db.pool.query('update signing_keys set private_key = $1 where id = $2', [
      asBefore,
      row.id,
    ]);
  }
  const server = await serverWith(world, { key: OLD });
  expect(await outcome(clientOf(server, { token }).getEmbedSession())).toBe('taken');
  expect(await takenBy(world, await handedOutBy(server, id))).toEqual(TAKEN);

  // The other sealed value is the key of the audit log.
  const rotated = await rotateSecretKey(configOf(world, { key: NEW, previous: OLD }), []);
  expect(rotated).toBe(rows.length + 1);
  const onlyNew = await serverWith(world, { key: NEW });
  expect(await outcome(clientOf(onlyNew, { token }).getEmbedSession())).toBe('taken');
});
