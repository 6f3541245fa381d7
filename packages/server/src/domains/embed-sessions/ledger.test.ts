/** The ledger shows which sessions were minted, by whom, for whom, and their state. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { holdRows } from '../../../test/hold.ts';
import { type Person, unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const MISSING = { status: 404, code: 'embed_session_not_found' };
const UNKNOWN = 999_999_999;
type State = 'minted' | 'exchanged' | 'expired' | 'revoked';

const numberOf = (sessionId: string) => Number(sessionId.split('.')[0]);
const exchange = (sessionId: string) =>
  embedding.world.client().postTokenBySessionId({ body: { sessionId } });
const expire = (id: number) =>
  embedding.rows(`update embed_sessions set expires_at = now() - interval '1 second' where id = $1`, [id]);
const get = (id: number) => embedding.world.admin.getEmbedSessionEntry({ id });

async function list(filter: object) {
  const ids: number[] = [];
  for await (const { id } of embedding.world.admin.iterate.listEmbedSessions(filter)) ids.push(id);
  return ids;
}

/** Mints with this client, or as the admin, and returns the id of the entry in the ledger. */
async function mint(
  options: SessionOptions = {},
  { client }: Pick<Person, 'client'> = { client: embedding.world.admin },
) {
  return numberOf((await client.generateSession({ body: embedding.request(options) })).sessionId);
}

describe('an entry', () => {
  test('shows everything about a session except its secret', async () => {
    const minter = await embedding.world.person();
    const embedTenantName = embedding.tenant();
    const externalId = unique('ada');
    const { sessionId } = await minter.client.generateSession({
      body: embedding.request({ embedTenantName, externalId, creatorMode: true }),
    });
    const id = numberOf(sessionId);
    expect(await get(id)).toEqual({
      id,
      state: 'minted',
      deploymentId: embedding.deploymentId,
      embedTenantName,
      externalId,
      internalId: null,
      creatorMode: true,
      apiKeyId: minter.apiKeyId,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      exchangedAt: null,
      revokedAt: null,
      lastSeenAt: null,
    });
    expect(JSON.stringify(await get(id))).not.toContain(sessionId.split('.')[1]!.slice(0, 32));
    expect((await embedding.world.admin.listEmbedSessions({ embedTenantName })).items).toEqual([
      await get(id),
    ]);
  });

  test('of an internal user shows their username and no external id', async () => {
    const { username } = await embedding.world.admin.createUser({
      body: { username: unique('ida'), email: `${unique('ida')}@example.com`, externalId: 'from-elsewhere' },
    });
    const id = await mint({ internalId: username });
    expect(await get(id)).toMatchObject({ internalId: username, externalId: null, embedTenantName: 'oriel' });
  });

  test('goes from minted to exchanged to expired', async () => {
    const sessionId = await embedding.mint();
    const id = numberOf(sessionId);
    expect(await get(id)).toMatchObject({ state: 'minted', exchangedAt: null });
    await exchange(sessionId);
    expect(await get(id)).toMatchObject({ state: 'exchanged', exchangedAt: expect.any(String) });
    await expire(id);
    expect(await get(id)).toMatchObject({ state: 'expired', revokedAt: null });
  });

  test('expires without an exchange too, and stays revoked after it was revoked', async () => {
    const [expired, revoked] = [await mint(), await mint()];
    await embedding.world.admin.revokeEmbedSession({ id: revoked });
    for (const id of [expired, revoked]) await expire(id);
    expect(await get(expired)).toMatchObject({ state: 'expired' });
    expect(await get(revoked)).toMatchObject({ state: 'revoked', revokedAt: expect.any(String) });
  });

  test('is written once for each call, and the audit log does not repeat it', async () => {
    const count = async () => (await embedding.rows('select count(*)::int from audit_log'))[0].count;
    await mint({ externalId: 'audited' });
    const before = await count();
    await mint({ externalId: 'audited' });
    expect(await count()).toBe(before);
    expect(await list({ externalId: 'audited' })).toHaveLength(2);
  });

  test('that does not exist is not found', async () => {
    await expect(get(UNKNOWN)).rejects.toMatchObject(MISSING);
    await expect(embedding.world.admin.revokeEmbedSession({ id: UNKNOWN })).rejects.toMatchObject(MISSING);
    expect(await embedding.rows('select from embed_revocations where session_id = $1', [UNKNOWN])).toEqual(
      [],
    );
  });
});

describe('the list', () => {
  test('filters by tenant, viewer, deployment, key and state, alone and together, newest first', async () => {
    const [acme, zenith] = [embedding.tenant(), embedding.tenant()];
    const [ada, bob] = [unique('ada'), unique('bob')];
    const { id: second } = await embedding.world.deployment();
    const minter = await embedding.world.person();
    const { apiKeyId } = minter;
    const first = embedding.deploymentId;
    const a = await mint({ embedTenantName: acme, externalId: ada });
    const b = await mint({ embedTenantName: acme, externalId: bob }, minter);
    const c = await mint({ embedTenantName: zenith, externalId: ada, deploymentId: second }, minter);
    const d = await mint({ embedTenantName: acme, externalId: ada, deploymentId: second });
    await embedding.world.admin.revokeEmbedSession({ id: d });
    await expire(b);
    const cases: [object, number[]][] = [
      [{ embedTenantName: acme }, [d, b, a]],
      [{ embedTenantName: zenith }, [c]],
      [{ externalId: ada }, [d, c, a]],
      [{ externalId: bob }, [b]],
      [{ deploymentId: second }, [d, c]],
      [{ apiKeyId }, [c, b]],
      [{ embedTenantName: acme, externalId: ada }, [d, a]],
      [{ embedTenantName: acme, deploymentId: second }, [d]],
      [{ embedTenantName: zenith, externalId: bob }, []],
      [{ apiKeyId, deploymentId: first }, [b]],
      [{ embedTenantName: acme, state: 'minted' }, [a]],
      [{ embedTenantName: acme, state: 'expired' }, [b]],
      [{ embedTenantName: acme, state: 'revoked' }, [d]],
      [{ embedTenantName: acme, state: 'exchanged' }, []],
      [{ embedTenantName: acme, externalId: ada, deploymentId: second, state: 'revoked' }, [d]],
      [{ embedTenantName: acme, externalId: ada, deploymentId: second, apiKeyId, state: 'revoked' }, []],
      [{ embedTenantName: embedding.tenant() }, []],
      [{ externalId: 'nobody' }, []],
      [{ deploymentId: UNKNOWN }, []],
      [{ apiKeyId: UNKNOWN }, []],
    ];
    for (const [filter, expected] of cases) expect([filter, await list(filter)]).toEqual([filter, expected]);
  });

  test('finds each session by the state that it shows, and by no other', async () => {
    const embedTenantName = embedding.tenant();
    const found: Record<State, number[]> = { minted: [], exchanged: [], expired: [], revoked: [] };
    for (const isExchanged of [false, true])
      for (const isRevoked of [false, true])
        for (const isExpired of [false, true]) {
          const sessionId = await embedding.mint({ embedTenantName });
          const id = numberOf(sessionId);
          if (isExchanged) await exchange(sessionId);
          if (isRevoked) await embedding.world.admin.revokeEmbedSession({ id });
          if (isExpired) await expire(id);
          const state = isRevoked ? 'revoked' : isExpired ? 'expired' : isExchanged ? 'exchanged' : 'minted';
          expect(await get(id)).toMatchObject({ state });
          found[state].unshift(id);
        }
    for (const [state, ids] of Object.entries(found))
      expect([state, await list({ embedTenantName, state })]).toEqual([state, ids]);
  });

  test('of an external id has no session of an internal user with this id', async () => {
    const externalId = unique('ada');
    const { username } = await embedding.world.admin.createUser({
      body: { username: unique('ida'), email: `${unique('ida')}@example.com`, externalId },
    });
    await mint({ internalId: username });
    const own = await mint({ externalId });
    expect(await list({ externalId })).toEqual([own]);
  });

  test('leaves out what was deleted before its rows are removed', async () => {
    const { userId } = await embedding.world.person();
    const [{ username }] = await embedding.rows('select username from users where id = $1', [userId]);
    const embedTenantName = embedding.tenant();
    const deletions: [SessionOptions, () => Promise<unknown>][] = [
      [{ internalId: username }, () => embedding.world.admin.deleteUser({ id: userId })],
      [{ embedTenantName }, () => embedding.world.admin.deleteEmbedTenant({ embedTenantName })],
    ];
    for (const [options, remove] of deletions) {
      const { sessionId } = await embedding.world.embedded(embedding.request(options));
      const id = numberOf(sessionId);
      // The request itself waits for sessions that it must end.
      await expire(id);
      const hold = await holdRows(embedding.world, 'embed_sessions', [id]);
      try {
        await remove();
        await hold.waiting();
        await expect(get(id)).rejects.toMatchObject(MISSING);
        expect((await embedding.world.admin.listEmbedSessions({ first: 1000 })).items).not.toContainEqual(
          expect.objectContaining({ id }),
        );
      } finally {
        await hold.release();
      }
      await expect.poll(() => embedding.rows('select from embed_sessions where id = $1', [id])).toEqual([]);
    }
  });

  test('ignores an empty filter', async () => {
    const externalId = unique('ada');
    const id = await mint({ externalId });
    const empty = `externalId=${externalId}&embedTenantName=&state=null&deploymentId=&apiKeyId=`;
    const response = await embedding.world.raw('GET', `/api/v1/embed/sessions?${empty}`);
    expect(((await response.json()) as { items: { id: number }[] }).items.map((item) => item.id)).toEqual([
      id,
    ]);
  });

  test('is paged by cursor, and new or deleted sessions do not shift the pages', async () => {
    const embedTenantName = embedding.tenant();
    const ids: number[] = [];
    for (let i = 0; i < 23; i++) ids.unshift(await mint({ embedTenantName, externalId: 'ada' }));
    expect(await list({ embedTenantName, first: 5 })).toEqual(ids);
    const page = (after?: string) =>
      embedding.world.admin.listEmbedSessions({ embedTenantName, first: 10, after });
    const one = await page();
    expect(one.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    await mint({ embedTenantName, externalId: 'ada' });
    await embedding.rows('delete from embed_sessions where id = any($1)', [[ids[9], ids[12]]]);
    const two = await page(one.pageInfo.endCursor!);
    const three = await page(two.pageInfo.endCursor!);
    expect([...two.items, ...three.items].map(({ id }) => id)).toEqual(
      ids.slice(10).filter((id) => id !== ids[12]),
    );
    expect(three.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
  });

  test('refuses a broken cursor and a cursor of another list', async () => {
    await mint();
    const { admin } = embedding.world;
    const { endCursor } = (await admin.listEmbedSessions({ first: 1 })).pageInfo;
    const foreign = (await admin.listApiKeys({ first: 1 })).pageInfo.endCursor;
    const broken = [`${endCursor}A`, endCursor!.slice(1), 'x', '🦊', foreign!];
    for (const after of broken)
      await expect(admin.listEmbedSessions({ after })).rejects.toMatchObject({ code: 'invalid_cursor' });
  });

  test.each(['state=ended', 'deploymentId=x', 'apiKeyId=0', 'embedTenantName=No', 'first=0', 'after='])(
    'refuses %s',
    async (query) => {
      const response = await embedding.world.raw('GET', `/api/v1/embed/sessions?${query}`);
      expect(response.status).toBe(400);
    },
  );
});

describe('a caller who reads the ledger', () => {
  test('must be an admin; others are refused, whatever rights they have', async () => {
    const id = await mint();
    const { client } = await embedding.world.person({ roles: ['Developer'] });
    const attempts = [
      () => client.listEmbedSessions(),
      () => client.getEmbedSessionEntry({ id }),
      () => client.revokeEmbedSession({ id }),
      () => client.revokeEmbedSessions({ body: { deploymentId: embedding.deploymentId } }),
    ];
    for (const attempt of attempts)
      await expect(attempt()).rejects.toMatchObject({ status: 403, code: 'forbidden' });
    expect(await get(id)).toMatchObject({ state: 'minted' });
  });

  test('with a scoped key sees the sessions of its deployments, but cannot revoke them', async () => {
    const { id: own } = await embedding.world.deployment();
    const { client } = await embedding.world.person({ roles: ['Admin'], deploymentIds: [own] });
    const [mine, other] = [await mint({ deploymentId: own }), await mint()];
    const seen = async (filter = {}) => (await client.listEmbedSessions(filter)).items.map(({ id }) => id);
    expect(await seen()).toEqual([mine]);
    expect(await seen({ deploymentId: embedding.deploymentId })).toEqual([]);
    expect(await client.getEmbedSessionEntry({ id: mine })).toMatchObject({ id: mine });
    await expect(client.getEmbedSessionEntry({ id: other })).rejects.toMatchObject(MISSING);
    const message = 'A scoped API key cannot change account-wide resources. Use an unscoped key of an admin.';
    const outside = { status: 403, code: 'outside_key_scope', message };
    for (const id of [mine, other])
      await expect(client.revokeEmbedSession({ id })).rejects.toMatchObject(outside);
    await expect(client.revokeEmbedSessions({ body: { deploymentId: own } })).rejects.toMatchObject(outside);
    for (const id of [mine, other]) expect(await get(id)).toMatchObject({ state: 'minted' });
  });
});
