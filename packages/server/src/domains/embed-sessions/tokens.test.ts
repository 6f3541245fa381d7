/** Which tokens are refused, and when a token ends before it expires. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createOrielClient } from '@oriel/client';
import { decodeJwt, decodeProtectedHeader, type JWTPayload, SignJWT } from 'jose';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createOwnEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { SECRET_KEY, unique } from '../../../test/world.ts';
import { createBox } from '../../platform/secrets/box.ts';
import { createKeyring } from '../../platform/secrets/keyring.ts';
import { SIGNING_KEY_COLUMN } from '../signing-keys/index.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
});
afterAll(() => embedding.stop());
afterEach(() => {
  vi.useRealTimers();
});

const statusOf = (token: string, url = embedding.world.url) =>
  createOrielClient({ baseUrl: url, token, retries: 0 })
    .getEmbedSession()
    .then(
      () => 200,
      (error) => error.status as number,
    );
const tokenOf = async (options: SessionOptions = {}) =>
  (await embedding.world.embedded(embedding.request(options))).token;
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token is refused', () => {
  let token: string;
  let header: string;
  let payload: string;
  let signature: string;
  beforeAll(async () => {
    token = await tokenOf();
    [header, payload, signature] = token.split('.') as [string, string, string];
  });

  /** Signs with the key of the server, which only tests can read. */
  async function signed(changes: JWTPayload, headers: object = {}, key?: KeyObject) {
    const kid = decodeProtectedHeader(token).kid!;
    const [row] = await embedding.rows('select private_key from signing_keys where id = $1', [kid]);
    const der = createBox(SIGNING_KEY_COLUMN, createKeyring([SECRET_KEY])).open(kid, row.private_key);
    return new SignJWT({ ...decodeJwt(token), ...changes })
      .setProtectedHeader({ alg: 'EdDSA', kid, typ: 'JWT', ...headers })
      .sign(key ?? createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  }

  test('if any part of it was changed', async () => {
    const changed = encode({ ...decodeJwt(token), deploymentId: 1, embedTenant: 'another' });
    const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    const altered = [
      `${header}.${changed}.${signature}`,
      `${header}.${payload}.${flip(signature)}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${flip(header)}.${payload}.${signature}`,
      `${token}A`,
      payload,
      '..',
      'nonsense',
    ];
    for (const text of altered) expect([text, await statusOf(text)]).toEqual([text, 401]);
    expect(await statusOf(token)).toBe(200);
  });

  test('if it names no algorithm, or another one than ours', async () => {
    const { kid } = decodeProtectedHeader(token);
    for (const alg of ['none', 'None', 'HS256', 'RS256', 'ES256']) {
      expect(await statusOf(`${encode({ alg, kid })}.${payload}.`)).toBe(401);
      expect(await statusOf(`${encode({ alg, kid })}.${payload}.${signature}`)).toBe(401);
    }
    const { keys } = await embedding.world.client().getJwks();
    const publicKey = new TextEncoder().encode(keys[0]!.x.padEnd(48, '.'));
    const confused = await new SignJWT(decodeJwt(token))
      .setProtectedHeader({ alg: 'HS256', kid })
      .sign(publicKey);
    expect(await statusOf(confused)).toBe(401);
  });

  test('if another key signed it, with any key id', async () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    for (const kid of [decodeProtectedHeader(token).kid, 'unknown', '', '__proto__', undefined, 5])
      expect(await statusOf(await signed({}, { kid }, privateKey))).toBe(401);
  });

  test('if our key signed it, but it names no key or an unknown one', async () => {
    expect(await statusOf(await signed({}))).toBe(200);
    for (const kid of ['unknown', undefined]) expect(await statusOf(await signed({}, { kid }))).toBe(401);
  });

  test('if it names an unknown key, and the keys are not read for each such token', async () => {
    const made = await Promise.all([1, 2, 3, 4, 5, 6].map((i) => signed({}, { kid: `made-up-${i}` })));
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() });
    const reads = async () => {
      const sent = await statementsDuring(embedding.world.server.essential, async () => {
        for (const text of made) expect(await statusOf(text)).toBe(401);
      });
      return sent.filter(({ text }) => text.includes('signing_keys')).length;
    };
    // A late notification about the keys of another test causes one more read.
    await expect.poll(reads).toBeLessThanOrEqual(1);
    expect(await statusOf(token)).toBe(200);
  });

  test('if it was made for another purpose, or claims are missing', async () => {
    const wrong: JWTPayload[] = [
      { iss: 'somebody' },
      { aud: 'oriel-login' },
      { exp: Math.floor(Date.now() / 1000) - 10 },
      { exp: undefined },
      { iat: undefined },
      { sub: undefined },
      { nbf: Math.floor(Date.now() / 1000) + 1000 },
    ];
    for (const changes of wrong)
      expect([changes, await statusOf(await signed(changes))]).toEqual([changes, 401]);
  });

  test.each([
    ['a viewer', () => ({})],
    ['an internal user', async () => ({ internalId: (await embedding.world.admin.getMe()).username })],
  ])('after 24 hours, even if the server has verified it before, of %s', async (_whose, options) => {
    const [seen, unseen] = [await tokenOf(await options()), await tokenOf(await options())];
    expect(await statusOf(seen)).toBe(200);
    const DAY_MS = 24 * 3_600_000;
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + DAY_MS - 60_000 });
    expect(await statusOf(seen)).toBe(200);
    vi.setSystemTime(Date.now() + 60_001);
    expect(await statusOf(seen)).toBe(401);
    expect(await statusOf(unseen)).toBe(401);
  });
});

describe('a token ends within a second, on every server,', () => {
  let otherUrl: string;
  beforeAll(async () => {
    otherUrl = (await embedding.world.anotherServer()).url;
  });

  async function expectEndAfter(token: string, act: () => Promise<unknown>) {
    for (const url of [embedding.world.url, otherUrl]) expect(await statusOf(token, url)).toBe(200);
    await act();
    for (const url of [embedding.world.url, otherUrl])
      await expectWithinASecond(() => statusOf(token, url), 401);
  }

  const userIdOf = async (externalId: string) =>
    Number((await embedding.rows('select id from users where external_id = $1', [externalId]))[0].id);

  test('when its session is revoked', async () => {
    const { token, sessionId } = await embedding.world.embedded(embedding.request());
    await expectEndAfter(token, () =>
      embedding.world.admin.revokeEmbedSession({ id: Number(sessionId.split('.')[0]) }),
    );
  });

  test('when its user is deleted', async () => {
    const externalId = unique('ada');
    const token = await tokenOf({ externalId });
    await expectEndAfter(token, async () =>
      embedding.world.admin.deleteUser({ id: await userIdOf(externalId) }),
    );
    expect(await statusOf(await tokenOf({ externalId }))).toBe(200);
  });

  test('when its embed tenant is deleted, even if a new tenant gets the same name', async () => {
    const embedTenantName = embedding.tenant();
    const token = await tokenOf({ embedTenantName });
    await expectEndAfter(token, async () => {
      await embedding.rows('delete from users where embed_tenant = $1', [embedTenantName]);
      await embedding.rows('delete from embed_tenants where name = $1', [embedTenantName]);
    });
    expect(await statusOf(await tokenOf({ embedTenantName }))).toBe(200);
    expect(await statusOf(token)).toBe(401);
  });

  test('when its deployment is deleted', async () => {
    const { id: deploymentId } = await embedding.world.deployment();
    await expectEndAfter(await tokenOf({ deploymentId }), () =>
      embedding.world.admin.deleteDeployment({ deploymentId }),
    );
  });

  test('when its internal user is deactivated or deleted', async () => {
    for (const end of ['updateUser', 'deleteUser'] as const) {
      const { userId: id } = await embedding.world.person();
      const [{ username }] = await embedding.rows('select username from users where id = $1', [id]);
      const token = await tokenOf({ internalId: username });
      await expectEndAfter(token, () =>
        embedding.world.admin[end]({ id, body: { isDeactivated: true } } as never),
      );
    }
  });

  test('when creator mode is switched off, and stays ended when it is switched on again', async () => {
    const viewer = { embedTenantName: embedding.tenant(), creatorMode: true };
    const reader = await tokenOf({ embedTenantName: viewer.embedTenantName });
    const { token, sessionId } = await embedding.world.embedded(embedding.request(viewer));
    const unused = await embedding.mint(viewer);
    const setFlag = (useCreatorMode: boolean) =>
      embedding.world.admin.updateTenantSettings({ body: { useCreatorMode } });
    await expectEndAfter(token, () => setFlag(false));
    await setFlag(true);
    for (const url of [embedding.world.url, otherUrl]) {
      expect(await statusOf(token, url)).toBe(401);
      expect(await statusOf(reader, url)).toBe(200);
    }
    const later = await embedding.world.anotherServer();
    expect(await statusOf(token, later.url)).toBe(401);
    const exchange = embedding.world.client().postTokenBySessionId({ body: { sessionId: unused } });
    await expect(exchange).rejects.toMatchObject({ status: 401, code: 'invalid_session' });
    const entry = { id: Number(sessionId.split('.')[0]) };
    expect(await embedding.world.admin.getEmbedSessionEntry(entry)).toMatchObject({ state: 'revoked' });
    await expect.poll(() => tokenOf(viewer).then(statusOf, () => 0)).toBe(200);
  });

  test('when its internal user is deactivated, and stays ended when they are activated again', async () => {
    const { userId: id } = await embedding.world.person();
    const [{ username }] = await embedding.rows('select username from users where id = $1', [id]);
    const token = await tokenOf({ internalId: username });
    const unused = await embedding.mint({ internalId: username });
    const activate = (isActive: boolean) =>
      embedding.world.admin.updateUser({ id, body: { isDeactivated: !isActive } });
    await expectEndAfter(token, () => activate(false));
    await activate(true);
    expect(await statusOf(await tokenOf({ internalId: username }))).toBe(200);
    for (const url of [embedding.world.url, otherUrl]) expect(await statusOf(token, url)).toBe(401);
    const exchange = embedding.world.client().postTokenBySessionId({ body: { sessionId: unused } });
    await expect(exchange).rejects.toMatchObject({ status: 401, code: 'invalid_session' });
  });

  test('but not when the key that minted it is deleted', async () => {
    const { client, apiKeyId } = await embedding.world.person();
    const { sessionId } = await client.generateSession({ body: embedding.request() });
    const { token } = await embedding.world.client().postTokenBySessionId({ body: { sessionId } });
    await embedding.world.admin.deleteApiKey({ id: apiKeyId });
    const ended = await tokenOf();
    await expectEndAfter(ended, () =>
      embedding.world.admin.revokeEmbedSession({ id: decodeJwt(ended).sessionId as number }),
    );
    for (const url of [embedding.world.url, otherUrl]) expect(await statusOf(token, url)).toBe(200);
  });
});

test('the token of an internal user who is deactivated while it is verified is refused', async () => {
  const { userId } = await embedding.world.person();
  const [{ username }] = await embedding.rows('select username from users where id = $1', [userId]);
  const token = await tokenOf({ internalId: username });
  const held = new pg.Client({ connectionString: embedding.world.databaseUrl });
  await held.connect();
  try {
    await held.query('begin; lock table users in access exclusive mode');
    const asked = statusOf(token);
    await expect
      .poll(() =>
        embedding.rows(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%user_roles%'",
        ),
      )
      .not.toEqual([]);
    await held.query(`update users set is_deactivated = true where id = ${userId}`);
    await held.query('commit');
    expect(await asked).toBe(401);
  } finally {
    await held.end();
  }
});

test('the token of a session that was removed after it was verified shows nothing any more', async () => {
  const { token, sessionId } = await embedding.world.embedded(embedding.request());
  expect(await statusOf(token)).toBe(200);
  await embedding.rows('delete from embed_sessions where id = $1', [Number(sessionId.split('.')[0])]);
  expect(await statusOf(token)).toBe(401);
});

test('an internal user who loses a role loses its rights in their session within a second', async () => {
  const { userId: id } = await embedding.world.person({ roles: ['Explorer'] });
  const [{ username }] = await embedding.rows('select username from users where id = $1', [id]);
  const { client } = await embedding.world.embedded(
    embedding.request({ internalId: username, creatorMode: true }),
  );
  const { deploymentId } = embedding;
  const folders = () =>
    client.getFolders({ deploymentId }).then(
      () => 200,
      (error) => error.status as number,
    );
  expect(await folders()).toBe(200);
  await embedding.world.admin.updateUser({ id, body: { roles: [] } });
  await expectWithinASecond(folders, 404);
  expect((await client.getEmbedSession()).user.id).toBe(id);
});
