/** Exchanging a session for a token: only once, within five minutes, and only with the whole id. */
import { randomBytes } from 'node:crypto';
import { createOrielClient } from '@oriel/client';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding } from '../../../test/embedding.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { SECRET_KEY, unique } from '../../../test/world.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { createSigningKeys } from '../signing-keys/index.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
});
afterAll(() => embedding.stop());

const REFUSED = { status: 401, code: 'invalid_session' };
const exchange = (sessionId: string) =>
  embedding.world.client().postTokenBySessionId({ body: { sessionId } });
const numberOf = (sessionId: string) => Number(sessionId.split('.')[0]);
const ledgerEntry = (sessionId: string) =>
  embedding.world.admin.getEmbedSessionEntry({ id: numberOf(sessionId) });
const moveExpiry = (sessionId: string, by: string) =>
  embedding.rows('update embed_sessions set expires_at = expires_at + $2::interval where id = $1', [
    numberOf(sessionId),
    by,
  ]);

const tokenOf = async (options?: object) =>
  (await embedding.world.embedded(embedding.request(options))).token;
const clientOf = (baseUrl: string, token: string) => createOrielClient({ baseUrl, token, retries: 0 });

describe('a session', () => {
  test('can be exchanged only once', async () => {
    const sessionId = await embedding.mint();
    expect(await exchange(sessionId)).toEqual({ token: expect.any(String) });
    await expect(exchange(sessionId)).rejects.toMatchObject(REFUSED);
  });

  test('is exchanged only once, even by many parallel calls', async () => {
    const sessionId = await embedding.mint();
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => exchange(sessionId)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('is exchanged together with many others, and each gets its own token', async () => {
    const sessionIds = await Promise.all(Array.from({ length: 30 }, () => embedding.mint()));
    const wrong = sessionIds.map((sessionId) => `${numberOf(sessionId)}.${'x'.repeat(56)}`);
    const outcomes = await Promise.allSettled([...wrong, ...sessionIds].map(exchange));
    expect(outcomes.slice(0, wrong.length).map(({ status }) => status)).toEqual(wrong.map(() => 'rejected'));
    const named = outcomes
      .slice(wrong.length)
      .map((outcome) => (outcome.status === 'fulfilled' ? decodeJwt(outcome.value.token).sessionId : null));
    expect(named).toEqual(sessionIds.map(numberOf));
  });

  test('that another transaction is changing waits for the result, and other sessions do not wait', async () => {
    const [kept, revoked] = [await embedding.mint(), await embedding.mint()];
    const client = await embedding.world.server.db.pool.connect();
    try {
      await client.query('begin');
      await client.query('select from embed_sessions where id = $1 for update', [numberOf(kept)]);
      await client.query('update embed_sessions set revoked_at = now() where id = $1', [numberOf(revoked)]);
      const waiting = [kept, revoked].map((sessionId) =>
        exchange(sessionId).then(
          () => 'exchanged',
          ({ code }) => code,
        ),
      );
      for (let i = 0; i < 5; i++) expect(await exchange(await embedding.mint())).toHaveProperty('token');
      expect(await Promise.race([...waiting, Promise.resolve('waiting')])).toBe('waiting');
      await client.query('commit');
      expect(await Promise.all(waiting)).toEqual(['exchanged', 'invalid_session']);
    } finally {
      client.release();
    }
  });

  test('is valid for five minutes after it was minted', async () => {
    const sessionId = await embedding.mint();
    const { createdAt, expiresAt } = await ledgerEntry(sessionId);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(5 * 60_000);
  });

  test('is refused after it has expired, but not before', async () => {
    const [late, intime] = [await embedding.mint(), await embedding.mint()];
    await moveExpiry(late, '-301 seconds');
    await moveExpiry(intime, '-200 seconds');
    await expect(exchange(late)).rejects.toMatchObject(REFUSED);
    expect(await exchange(intime)).toHaveProperty('token');
  });

  test('is refused after it was revoked', async () => {
    const sessionId = await embedding.mint();
    await embedding.world.admin.revokeEmbedSession({ id: numberOf(sessionId) });
    await expect(exchange(sessionId)).rejects.toMatchObject(REFUSED);
  });

  test('is refused if its user, deployment or internal user was deleted', async () => {
    const { id: deploymentId } = await embedding.world.deployment();
    const { userId } = await embedding.world.person();
    const [{ username }] = await embedding.rows('select username from users where id = $1', [userId]);
    const externalId = unique('ada');
    const ofUser = await embedding.mint({ externalId });
    const ofDeployment = await embedding.mint({ deploymentId });
    const ofPerson = await embedding.mint({ internalId: username });
    const [{ id }] = await embedding.rows('select id from users where external_id = $1', [externalId]);
    await embedding.world.admin.deleteUser({ id: Number(id) });
    await embedding.world.admin.deleteDeployment({ deploymentId });
    await embedding.world.admin.updateUser({ id: userId, body: { isDeactivated: true } });
    for (const sessionId of [ofUser, ofDeployment, ofPerson])
      await expect(exchange(sessionId)).rejects.toMatchObject(REFUSED);
  });

  test.each([
    ['deployment', 'deployment_id = 999999999'],
    ['embed tenant', `embed_tenant = 'never-seen'`],
  ])('is refused if it was minted while its %s was being deleted', async (_, change) => {
    const sessionId = await embedding.mint();
    await embedding.rows(`update embed_sessions set ${change} where id = $1`, [numberOf(sessionId)]);
    await expect(exchange(sessionId)).rejects.toMatchObject(REFUSED);
  });

  test('is refused if it is in creator mode and creator mode was switched off', async () => {
    const sessionId = await embedding.mint({ creatorMode: true });
    const flag = async (on: boolean) => {
      // Switches the flag off without the trigger, as if the session was minted at the same time.
      await embedding.rows('alter table tenant_settings disable trigger creator_mode_switched_off');
      await embedding.rows('update tenant_settings set use_creator_mode = $1', [on]);
      await embedding.rows('alter table tenant_settings enable trigger creator_mode_switched_off');
    };
    await flag(false);
    await expect(exchange(sessionId)).rejects.toMatchObject(REFUSED);
    await flag(true);
    expect(await exchange(sessionId)).toHaveProperty('token');
  });

  test('stays valid when the key that minted it is deleted', async () => {
    const { client, apiKeyId } = await embedding.world.person();
    const { sessionId } = await client.generateSession({ body: embedding.request() });
    const other = await client.generateSession({ body: embedding.request() });
    const { token } = await exchange(sessionId);
    await embedding.world.admin.deleteApiKey({ id: apiKeyId });
    expect(await exchange(other.sessionId)).toHaveProperty('token');
    expect(await clientOf(embedding.world.url, token).getEmbedSession()).toHaveProperty('user');
  });

  test('is refused with a wrong secret, and can still be exchanged afterwards', async () => {
    const sessionId = await embedding.mint();
    const [number, secret] = sessionId.split('.') as [string, string];
    const flip = (at: number) =>
      `${number}.${secret.slice(0, at)}${secret[at] === 'A' ? 'B' : 'A'}${secret.slice(at + 1)}`;
    const others = [
      `${number}.${'A'.repeat(secret.length)}`,
      `${number}.${secret.slice(0, 32)}`,
      `${number}.${secret}A`,
      ...secret.split('').map((_, at) => flip(at)),
    ];
    for (const other of others) await expect(exchange(other)).rejects.toMatchObject(REFUSED);
    const [swapped] = (await embedding.mint()).split('.');
    await expect(exchange(`${swapped}.${secret}`)).rejects.toMatchObject(REFUSED);
    expect(await exchange(sessionId)).toHaveProperty('token');
  });

  test.each([
    'x',
    '1',
    '1.',
    '.',
    `.${'a'.repeat(56)}`,
    `0.${'a'.repeat(56)}`,
    `-1.${'a'.repeat(56)}`,
    `1.${'a'.repeat(55)}`,
    `1.${'a'.repeat(57)}`,
    `1.${'a'.repeat(55)}!`,
    `999999999999999.${'a'.repeat(56)}`,
    `99999999999999999999.${'a'.repeat(56)}`,
    `1e3.${'a'.repeat(56)}`,
    ` 1.${'a'.repeat(56)}`,
    `1.${'a'.repeat(56)}\n`,
    "1' or '1'='1",
    '🦊'.repeat(255),
  ])('is refused if the id is %j', async (sessionId) => {
    await expect(exchange(sessionId)).rejects.toMatchObject(REFUSED);
  });

  test.each<unknown>(['', null, undefined, 5, {}, 'x'.repeat(256)])(
    'does not match the operation if the id is %j',
    async (sessionId) => {
      await expect(exchange(sessionId as string)).rejects.toMatchObject({ status: 400 });
    },
  );
});

describe('the token', () => {
  const keySet = async () => createLocalJWKSet((await embedding.world.client().getJwks()) as JSONWebKeySet);

  test('can be verified with a public key that everybody can fetch, and describes the session', async () => {
    const embedTenantName = embedding.tenant();
    const viewer = { embedTenantName, creatorMode: true };
    const { token, sessionId, client } = await embedding.world.embedded(embedding.request(viewer));
    const { payload, protectedHeader } = await jwtVerify(token, await keySet(), {
      issuer: 'oriel',
      audience: 'oriel-embed',
    });
    expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'JWT' });
    const { user } = await client.getEmbedSession();
    expect(payload).toMatchObject({
      sub: String(user.id),
      sessionId: numberOf(sessionId),
      deploymentId: embedding.deploymentId,
      embedTenant: embedTenantName,
      creatorMode: true,
      isInternal: false,
    });
    expect(JSON.stringify(payload)).not.toContain(sessionId.split('.')[1]!.slice(0, 32));
  });

  test('is valid for 24 hours after the exchange, and the ledger shows this', async () => {
    const { token, sessionId, client } = await embedding.world.embedded(embedding.request());
    const { payload } = await jwtVerify(token, await keySet());
    expect(payload.exp! - Math.floor(payload.iat!)).toBe(24 * 3600);
    const { exchangedAt, expiresAt, state } = await ledgerEntry(sessionId);
    expect(state).toBe('exchanged');
    expect(Math.floor(Date.parse(exchangedAt!) / 1000)).toBe(Math.floor(payload.iat!));
    expect(Math.abs(Date.parse(expiresAt) - Date.parse(exchangedAt!) - 24 * 3_600_000)).toBeLessThan(1000);
    expect((await client.getEmbedSession()).expiresAt).toBe(expiresAt);
  });

  test('can be used many times, on every server', async () => {
    const token = await tokenOf();
    const other = await embedding.world.anotherServer();
    for (const url of [embedding.world.url, other.url, embedding.world.url])
      expect(await clientOf(url, token).getEmbedSession()).toHaveProperty('user');
  });

  test('can call only the operations for viewers', async () => {
    const { client } = await embedding.world.embedded(embedding.request());
    const { deploymentId } = embedding;
    const attempts = [
      () => client.getMe(),
      () => client.listEmbedSessions(),
      () => client.revokeEmbedSessions({ body: { deploymentId } }),
      () => client.getFolders({ deploymentId }),
      () => client.getReports({ deploymentId }),
      () => client.listApiKeys(),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ status: 403 });
  });

  test('is needed to see the session: an API key is refused', async () => {
    await expect(embedding.world.admin.getEmbedSession()).rejects.toMatchObject({ status: 401 });
    await expect(embedding.world.client().getEmbedSession()).rejects.toMatchObject({ status: 401 });
  });

  test('shows at once what a later call changes for its user', async () => {
    const externalId = unique('ada');
    const group = await embedding.accountGroup();
    const { client } = await embedding.world.embedded(embedding.request({ externalId }));
    await embedding.mint({ externalId, groups: [group], userProfile: { displayName: 'Ada' } });
    expect(await client.getEmbedSession()).toMatchObject({ groups: [group], user: { displayName: 'Ada' } });
  });
});

test('the ledger and the user show when a token was last used', async () => {
  const { token, sessionId } = await embedding.world.embedded(embedding.request());
  const { sessionId: unseen } = await embedding.world.embedded(embedding.request());
  expect(await ledgerEntry(sessionId)).toMatchObject({ lastSeenAt: null });
  const other = await embedding.world.anotherServer();
  const { user } = await clientOf(other.url, token).getEmbedSession();
  await other.stop();
  const { lastSeenAt } = await ledgerEntry(sessionId);
  expect(lastSeenAt).toEqual(expect.any(String));
  const [{ last_login }] = await embedding.rows('select last_login from users where id = $1', [user.id]);
  expect(last_login).toBe(lastSeenAt);
  expect(await ledgerEntry(unseen)).toMatchObject({ lastSeenAt: null });

  // Within five minutes it is not written again, even if another server sees the token.
  const seenBy = async () => {
    const server = await embedding.world.anotherServer();
    await clientOf(server.url, token).getEmbedSession();
    await server.stop();
    return (await ledgerEntry(sessionId)).lastSeenAt;
  };
  expect(await seenBy()).toBe(lastSeenAt);
  const earlier = `update embed_sessions set last_seen_at = last_seen_at - interval '5 minutes' where id = $1`;
  await embedding.rows(earlier, [numberOf(sessionId)]);
  expect(Date.parse((await seenBy())!)).toBeGreaterThanOrEqual(Date.parse(lastSeenAt!));
});

describe('signing keys', () => {
  const age = (days: number) =>
    embedding.rows('update signing_keys set created_at = created_at - make_interval(days => $1)', [days]);
  /** Rotates the keys in the same way as the schedule. */
  const rotate = () =>
    createSigningKeys({
      essential: embedding.world.server.db,
      createCache: () => ({ get: () => undefined, load: (_key, read) => read() }),
      box: (column) => createBox(column, createKeyring([SECRET_KEY])),
    }).rotate();
  const kidOf = (token: string) => decodeProtectedHeader(token).kid;
  const keyIds = async () => (await embedding.world.client().getJwks()).keys.map(({ kid }) => kid);

  test('are encrypted at rest', async () => {
    const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
    await tokenOf();
    const rows = await embedding.rows('select private_key, public_key from signing_keys');
    expect(rows).not.toHaveLength(0);
    for (const { private_key: stored, public_key } of rows) {
      expect(stored.includes(PKCS8)).toBe(false);
      expect(stored.includes(PKCS8.subarray(0, 8))).toBe(false);
      expect(public_key).not.toHaveProperty('d');
    }
    for (const key of (await embedding.world.client().getJwks()).keys) expect(key).not.toHaveProperty('d');
  });

  test('are replaced when they are old: tokens of the old key stay valid, and new tokens use the new key', async () => {
    const before = await tokenOf();
    const unseen = await tokenOf();
    const other = await embedding.world.anotherServer();
    await age(31);
    await rotate();
    let after = '';
    await expect
      .poll(async () => {
        after = await tokenOf();
        return kidOf(after);
      })
      .not.toBe(kidOf(before));
    for (const token of [before, unseen, after]) {
      expect(await clientOf(embedding.world.url, token).getEmbedSession()).toHaveProperty('user');
      expect(await clientOf(other.url, token).getEmbedSession()).toHaveProperty('user');
    }
    expect(await keyIds()).toEqual([kidOf(after), kidOf(before)]);
  });
});

/** Counts the exchanges that reach the database while `work` runs. */
async function exchangesDuring(work: () => Promise<unknown>) {
  const sent = await statementsDuring(embedding.world.server.essential, work);
  return sent.filter(({ name }) => name === 'exchange-embed-sessions').length;
}

const outcomeOf = (sessionId: string) =>
  exchange(sessionId).then(
    () => 200,
    (error) => error.status as number,
  );

test('a made-up session id is refused without a query, and does not affect others at the same address', async () => {
  const good = await embedding.mint();
  const [number] = good.split('.');
  const guesses = Array.from({ length: 150 }, () => `${number}.${randomBytes(42).toString('base64url')}`);
  const asked = await exchangesDuring(async () => {
    const outcomes = await Promise.all(guesses.map(outcomeOf));
    expect(new Set(outcomes)).toEqual(new Set([401]));
  });
  expect(asked).toBe(0);
  expect(await exchangesDuring(() => exchange(good))).toBe(1);
});

test('a caller who repeats an ended session must wait, but others at the same address need not', async () => {
  const [used, good] = [await embedding.mint(), await embedding.mint()];
  await exchange(used);
  const outcomes = await Promise.all(Array.from({ length: 150 }, () => outcomeOf(used)));
  expect(outcomes.toSorted()).toEqual([...Array(100).fill(401), ...Array(50).fill(429)]);
  const refused = await embedding.world.raw('POST', '/api/v1/embed/session/token', {
    apiKey: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sessionId: used }),
  });
  expect(await refused.json()).toMatchObject({ code: 'rate_limited' });
  const wait = Number(refused.headers.get('retry-after'));
  expect(wait).toBeGreaterThan(0);
  expect(wait).toBeLessThanOrEqual(60);
  expect(await outcomeOf(good)).toBe(200);
});

test('if a token cannot be signed, its session can still be exchanged', async () => {
  const sessionId = await embedding.mint();
  const hide = (from: string, to: string) => embedding.rows(`alter table ${from} rename to ${to}`);
  await hide('signing_keys', 'hidden_keys');
  try {
    // Makes the servers forget the keys that they remember.
    await embedding.rows('notify oriel_credentials');
    await expect
      .poll(() =>
        embedding.world
          .client()
          .getJwks()
          .catch(({ status }) => status),
      )
      .toBe(500);
    expect(await outcomeOf(sessionId)).toBe(500);
    expect(await ledgerEntry(sessionId)).toMatchObject({ state: 'minted' });
  } finally {
    await hide('hidden_keys', 'signing_keys');
  }
  expect(await outcomeOf(sessionId)).toBe(200);
});
