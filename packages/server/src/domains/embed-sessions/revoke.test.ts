/** Revoking sessions and their tokens: one session, or all of a tenant, a viewer, a key or a deployment. */
import { createOrielClient } from '@oriel/client';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { waitingForLocks } from '../../../test/hold.ts';
import { stopListening } from '../../../test/listening.ts';
import { statementsDuring } from '../../../test/statements.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { type Person, unique } from '../../../test/world.ts';
import { REVOCATIONS_CHANNEL } from './revocations.ts';
import { isLiveSession } from './tokens.store.ts';

let embedding: Embedding;
let otherUrl: string;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
  otherUrl = (await embedding.world.anotherServer()).url;
});
afterAll(() => embedding.stop());

const numberOf = (sessionId: string) => Number(sessionId.split('.')[0]);
const exchange = (sessionId: string) =>
  embedding.world.client().postTokenBySessionId({ body: { sessionId } });
const clientOf = (token: string, url = embedding.world.url) =>
  createOrielClient({ baseUrl: url, token, retries: 0 });
const statusOf = (token: string, url?: string) =>
  clientOf(token, url)
    .getEmbedSession()
    .then(
      () => 200,
      (error) => error.status as number,
    );
const revoke = (body: object) => embedding.world.admin.revokeEmbedSessions({ body });
const audited = (operation: string) =>
  embedding.rows('select * from audit_log where operation = $1 order by id', [operation]);

async function mintWith({ client }: Pick<Person, 'client'>, options: SessionOptions) {
  return (await client.generateSession({ body: embedding.request(options) })).sessionId;
}

async function expectEnd(token: string) {
  for (const url of [embedding.world.url, otherUrl])
    await expectWithinASecond(() => statusOf(token, url), 401);
}

describe('one session', () => {
  test('is revoked once, is audited once, and can be revoked again without effect', async () => {
    const { token, sessionId } = await embedding.world.embedded(embedding.request());
    const id = numberOf(sessionId);
    const before = (await audited('revokeEmbedSession')).length;
    expect(await embedding.world.admin.revokeEmbedSession({ id })).toBeUndefined();
    await expectEnd(token);
    const { revokedAt } = await embedding.world.admin.getEmbedSessionEntry({ id });
    await embedding.world.admin.revokeEmbedSession({ id });
    expect((await embedding.world.admin.getEmbedSessionEntry({ id })).revokedAt).toBe(revokedAt);
    const entries = (await audited('revokeEmbedSession')).slice(before);
    expect(entries).toMatchObject([{ resource_type: 'embedSession', resource_id: String(id) }]);
  });

  test('that has expired stays as it is', async () => {
    const id = numberOf(await embedding.mint());
    await embedding.rows('update embed_sessions set expires_at = now() where id = $1', [id]);
    await embedding.world.admin.revokeEmbedSession({ id });
    expect(await embedding.world.admin.getEmbedSessionEntry({ id })).toMatchObject({
      state: 'expired',
      revokedAt: null,
    });
  });

  test('ends alone: another session of the same viewer stays valid', async () => {
    const externalId = unique('ada');
    const [one, two] = [
      await embedding.world.embedded(embedding.request({ externalId })),
      await embedding.world.embedded(embedding.request({ externalId })),
    ];
    await embedding.world.admin.revokeEmbedSession({ id: numberOf(one.sessionId) });
    await expectEnd(one.token);
    expect(await statusOf(two.token)).toBe(200);
  });
});

describe('all sessions', () => {
  interface Target {
    /** The properties of the sessions to revoke, those of other sessions, and the target of the call. */
    these: SessionOptions & { by?: Person };
    others: SessionOptions & { by?: Person };
    body: object;
  }

  const targets: Record<string, () => Promise<Target>> = {
    'an embed tenant': async () => {
      const embedTenantName = embedding.tenant();
      return { these: { embedTenantName }, others: {}, body: { embedTenantName } };
    },
    'a viewer': async () => {
      const viewer = { embedTenantName: embedding.tenant(), externalId: unique('ada') };
      const others = { ...viewer, embedTenantName: embedding.tenant() };
      return { these: viewer, others, body: viewer };
    },
    'an API key': async () => {
      const by = await embedding.world.person();
      return { these: { by }, others: {}, body: { apiKeyId: by.apiKeyId } };
    },
    'a deployment': async () => {
      const { id: deploymentId } = await embedding.world.deployment();
      return { these: { deploymentId }, others: {}, body: { deploymentId } };
    },
  };

  test.each(Object.keys(targets))(
    'of %s end, are counted and audited; others, and sessions minted later, stay valid',
    async (name) => {
      const { these, others, body } = await targets[name]!();
      const mint = ({ by, ...options }: Target['these']) =>
        mintWith(by ?? { client: embedding.world.admin }, options);
      const open = async (options: Target['these']) => (await exchange(await mint(options))).token;
      const tokens = [await open(these), await open(these)];
      const [unused, expired, revoked] = [await mint(these), await mint(these), await mint(these)];
      await embedding.rows('update embed_sessions set expires_at = now() where id = $1', [numberOf(expired)]);
      await embedding.world.admin.revokeEmbedSession({ id: numberOf(revoked) });
      const stranger = await open(others);
      for (const token of [...tokens, stranger])
        for (const url of [embedding.world.url, otherUrl]) expect(await statusOf(token, url)).toBe(200);
      const before = (await audited('revokeEmbedSessions')).length;

      expect(await revoke(body)).toEqual({ revoked: 3 });
      for (const token of tokens) await expectEnd(token);
      await expect(exchange(unused)).rejects.toMatchObject({ status: 401 });
      expect((await audited('revokeEmbedSessions')).slice(before)).toMatchObject([
        { resource_type: 'embedSession', after: { ...body, revoked: 3 } },
      ]);
      for (const token of [stranger, await open(these)])
        for (const url of [embedding.world.url, otherUrl]) expect(await statusOf(token, url)).toBe(200);

      expect(await revoke(body)).toEqual({ revoked: 1 });
      expect(await revoke(body)).toEqual({ revoked: 0 });
      expect(await statusOf(stranger)).toBe(200);
    },
  );

  test('of an API key end even if the key was already deleted', async () => {
    const by = await embedding.world.person();
    const { token } = await exchange(await mintWith(by, {}));
    await embedding.world.admin.deleteApiKey({ id: by.apiKeyId });
    expect(await statusOf(token)).toBe(200);
    expect(await revoke({ apiKeyId: by.apiKeyId })).toEqual({ revoked: 1 });
    await expectEnd(token);
  });

  test('of an unknown target are none', async () => {
    const nobody = [
      { embedTenantName: embedding.tenant() },
      { embedTenantName: 'oriel', externalId: unique('nobody') },
      { apiKeyId: 999_999_999 },
      { deploymentId: 999_999_999 },
    ];
    for (const body of nobody) expect(await revoke(body)).toEqual({ revoked: 0 });
  });

  test('of a viewer do not include those of other viewers of their embed tenant, or of their name in another', async () => {
    const viewers = [embedding.tenant(), embedding.tenant()].flatMap((embedTenantName) =>
      ['ada', 'bob'].map((externalId) => ({ embedTenantName, externalId })),
    );
    const open = async (viewer: SessionOptions) => (await exchange(await embedding.mint(viewer))).token;
    const tokens: string[] = [];
    for (const viewer of viewers) tokens.push(await open(viewer));
    for (const [i, viewer] of viewers.entries()) {
      expect(await revoke(viewer)).toEqual({ revoked: 1 });
      await expectEnd(tokens[i]!);
      for (const token of tokens.slice(i + 1)) expect(await statusOf(token)).toBe(200);
    }
  });

  test('of a viewer do not include those of an internal user with the same name', async () => {
    const { username } = await embedding.world.admin.createUser({
      body: { username: unique('ida'), email: `${unique('ida')}@example.com`, externalId: unique('ida') },
    });
    const { token } = await exchange(await embedding.mint({ internalId: username }));
    expect(await revoke({ embedTenantName: 'oriel', externalId: username })).toEqual({ revoked: 0 });
    expect(await statusOf(token)).toBe(200);
  });

  test('need exactly one target', async () => {
    const embedTenantName = embedding.tenant();
    const externalId = 'ada';
    const wrong = [
      {},
      { embedTenantName: null, externalId: null, apiKeyId: null, deploymentId: null },
      { externalId },
      { externalId, apiKeyId: 1 },
      { externalId, deploymentId: 1 },
      { embedTenantName, apiKeyId: 1 },
      { embedTenantName, deploymentId: 1 },
      { apiKeyId: 1, deploymentId: 1 },
      { embedTenantName, externalId, apiKeyId: 1 },
      { embedTenantName, externalId, deploymentId: 1 },
      { embedTenantName, apiKeyId: 1, deploymentId: 1 },
      { embedTenantName, externalId, apiKeyId: 1, deploymentId: 1 },
      { embedTenantName: 'No' },
      { apiKeyId: 0 },
      { deploymentId: '1' },
      { sessionId: 1 },
    ];
    const before = (await audited('revokeEmbedSessions')).length;
    for (const body of wrong)
      await expect(revoke(body), JSON.stringify(body)).rejects.toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    expect(await audited('revokeEmbedSessions')).toHaveLength(before);
  });
});

test('a server that starts later knows earlier revocations', async () => {
  const embedTenantName = embedding.tenant();
  const { token } = await exchange(await embedding.mint({ embedTenantName }));
  await revoke({ embedTenantName });
  const { url } = await embedding.world.anotherServer();
  expect(await statusOf(token, url)).toBe(401);
  await expect.poll(() => statusOf(token, url)).toBe(401);
});

describe('verifying tokens', () => {
  /** Counts the server's queries for a request that viewers may not make, so the request itself needs no query. */
  async function queriesFor(token: string) {
    const ask = () => expect(clientOf(token).listRegions()).rejects.toMatchObject({ status: 403 });
    return (await statementsDuring(embedding.world.server.essential, ask)).length;
  }

  test('a known token needs no query, for a viewer and for an internal user', async () => {
    const { username } = await embedding.world.admin.getMe();
    for (const options of [{}, { internalId: username }]) {
      const { token } = await exchange(await embedding.mint(options));
      await expect.poll(() => queriesFor(token)).toBe(0);
    }
  });

  test('while the server cannot receive notifications, it asks the database about each token', async () => {
    const embedTenantName = embedding.tenant();
    const [single, elsewhere] = [await embedding.mint(), await embedding.mint()];
    const [one, two, three, four] = [
      await exchange(await embedding.mint({ embedTenantName })),
      await exchange(await embedding.mint()),
      await exchange(single),
      await exchange(elsewhere),
    ];
    for (const { token } of [one, two, three, four]) await expect.poll(() => queriesFor(token)).toBe(0);
    const stopped = await stopListening(embedding.world);
    try {
      await expect.poll(() => queriesFor(one.token)).toBeGreaterThan(0);
      await revoke({ embedTenantName });
      await embedding.world.admin.revokeEmbedSession({ id: numberOf(single) });
      expect(await statusOf(one.token)).toBe(401);
      expect(await statusOf(two.token)).toBe(200);
      expect(await statusOf(three.token)).toBe(401);
      // Revoke as another server does. This server gets no notification of it now.
      await embedding.rows(
        `with ended as (update embed_sessions set revoked_at = now() where id = $1 returning id)
         insert into embed_revocations (session_id) select id from ended`,
        [numberOf(elsewhere)],
      );
      expect(await statusOf(four.token)).toBe(401);
    } finally {
      await stopped.resume();
    }
    await expect.poll(() => queriesFor(two.token)).toBe(0);
    for (const { token } of [one, three, four]) expect(await statusOf(token)).toBe(401);
  });

  test.each(['user_id', 'embed_tenant', 'api_key_id', 'deployment_id', 'creator_mode'])(
    'the database finds a revocation by %s that came after the exchange, and none that came before',
    async (column) => {
      const open = async (creatorMode: boolean) => {
        const by = await embedding.world.person();
        const { id: deploymentId } = await embedding.world.deployment();
        const options = { deploymentId, embedTenantName: embedding.tenant(), creatorMode };
        const sessionId = await mintWith(by, options);
        await exchange(sessionId);
        return numberOf(sessionId);
      };
      const [reader, creator, ended] = [await open(false), await open(true), await open(true)];
      const isLive = (id: number) => isLiveSession(embedding.world.server.essential, id);
      // As if the session was exchanged while it was revoked: then its own row says nothing.
      const end = (after: string) =>
        embedding.rows(
          `insert into embed_revocations (${column}, revoked_at)
           select ${column}, exchanged_at + $2::interval from embed_sessions where id = $1`,
          [ended, after],
        );
      await end('-1 microsecond');
      expect(await isLive(ended)).toBe(true);
      await end('0');
      expect(await isLive(ended)).toBe(false);
      expect([await isLive(reader), await isLive(creator)]).toEqual([true, column !== 'creator_mode']);
    },
  );

  test('a revocation that arrives while the list is read again is in force when the list is there', async () => {
    const sessionId = await embedding.mint();
    const { token } = await exchange(sessionId);
    await expect.poll(() => queriesFor(token)).toBe(0);
    const tell = (payload: string) =>
      embedding.rows('select pg_notify($1, $2)', [REVOCATIONS_CHANNEL, payload]);
    const held = new pg.Client({ connectionString: embedding.world.databaseUrl });
    await held.connect();
    try {
      await held.query('begin; lock table embed_revocations in access exclusive mode');
      await tell('');
      // The servers of this file read the list.
      await expect.poll(() => waitingForLocks(embedding.world)).toBeGreaterThanOrEqual(2);
      // What another server has revoked after this list was read.
      const others = {
        userId: null,
        embedTenant: null,
        apiKeyId: null,
        deploymentId: null,
        creatorMode: null,
      };
      await tell(JSON.stringify({ sessionId: numberOf(sessionId), ...others, until: 0 }));
      await untilHeard();
      await held.query('commit');
    } finally {
      await held.end();
    }
    for (const url of [embedding.world.url, otherUrl]) {
      await expect.poll(() => statusOf(token, url)).toBe(401);
    }
  });

  /** With the answer of a heartbeat, a listener has read what was told before, and then it begins the next one. */
  async function untilHeard() {
    for (let beats = 0; beats < 2; beats++) {
      const [{ now }] = (await embedding.rows('select now()::text')) as [{ now: string }];
      const silent = () => embedding.rows(`select from (${LISTENERS}) l where query_start <= $1`, [now]);
      await expect.poll(silent).toEqual([]);
    }
  }

  const LISTENERS = `
    select pid, query_start from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query ~* '^(listen|select 1$)'`;
});
