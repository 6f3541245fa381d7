/** Which sessions go with their embed tenant and with their deployment, at once and by the job. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding } from '../../../test/embedding.ts';
import { limitStatements } from '../../../test/hold.ts';
import { cleanup, endSessionsOfTenant } from './cleanup.store.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
});
afterAll(() => embedding.stop());

const numberOf = (sessionId: string) => Number(sessionId.split('.')[0]);
const mint = async (options: object) => numberOf(await embedding.mint(options));
async function mintEarlier(options: object) {
  const id = await mint(options);
  await embedding.rows(
    `update embed_sessions set created_at = now() - interval '11 minutes', expires_at = now() where id = $1`,
    [id],
  );
  return id;
}
const left = async () =>
  (await embedding.rows('select id from embed_sessions order by id')).map(({ id }) => Number(id));

test('sessions of a deleted embed tenant that could be exchanged go at once, the others in batches, and no others', async () => {
  const { db } = embedding.world.server;
  const [gone, kept] = [{ embedTenantName: embedding.tenant() }, { embedTenantName: embedding.tenant() }];
  const before = await mint(kept);
  const expired = await mintEarlier(gone);
  const unused = await mint(gone);
  const { sessionId } = await embedding.world.embedded(embedding.request(gone));
  const exchanged = numberOf(sessionId);
  const others = [await mint(kept), await mintEarlier(kept)];
  const name = gone.embedTenantName;
  const lastSessionId = await db.transaction((tx) => endSessionsOfTenant(tx, name));
  expect(await left()).toEqual([before, expired, exchanged, ...others]);
  expect(unused).toBeLessThan(exchanged);
  expect(lastSessionId).toBe(exchanged);
  const [revocation] = await embedding.rows(
    `select r.revoked_at > s.exchanged_at as is_later from embed_revocations r, embed_sessions s
     where r.embed_tenant = $1 and s.id = $2`,
    [name, exchanged],
  );
  expect(revocation).toEqual({ is_later: true });

  // The next embed tenant with this name.
  const later = await mint(gone);
  const hidden = { name, lastSessionId, hiddenName: '~1', contentKey: name };
  const remove = (rows: number) => cleanup.embedTenant!.removeOf![0]!(db, hidden, rows);
  expect(await remove(1)).toBe(1);
  expect(await left()).toEqual([before, exchanged, ...others, later]);
  expect([await remove(10), await remove(10)]).toEqual([1, 0]);
  expect(await left()).toEqual([before, ...others, later]);
});

test('sessions of a deleted deployment go only together with the end of their tokens', async () => {
  const { id } = await embedding.world.deployment();
  const session = await mint({ deploymentId: id });
  const other = await mint({});
  const remove = () => cleanup.deployment!.removeOf![0]!(embedding.world.server.db, id, 10);
  const revocations = () =>
    embedding.rows('select deployment_id from embed_revocations where deployment_id = $1', [id]);
  const allow = await refuseRevocations();
  await expect(remove()).rejects.toMatchObject(REFUSED);
  expect(await left()).toContain(session);
  await allow();
  expect([await remove(), await remove()]).toEqual([1, 0]);
  expect(await revocations()).toHaveLength(1);
  expect(await left()).not.toContain(session);
  expect(await left()).toContain(other);
});

/** From now on, and until the returned function is called, no revocation can be written. */
async function refuseRevocations() {
  await embedding.rows('alter table embed_revocations add constraint refused check (false) not valid');
  return () => embedding.rows('alter table embed_revocations drop constraint refused');
}
const REFUSED = { code: '23514', constraint: 'refused' };

test('a deletion fails with the error of its own statement, which says whether it is worth another try', async () => {
  const embedTenantName = embedding.tenant();
  await embedding.mint({ embedTenantName });
  const end = () => embedding.world.server.db.transaction((tx) => endSessionsOfTenant(tx, embedTenantName));
  const allow = await refuseRevocations();
  await expect(end()).rejects.toMatchObject(REFUSED);
  await allow();
  await limitStatements(embedding.world, 'embed_sessions', 0);
  await expect(end()).rejects.toMatchObject({ code: '57014' });
});
