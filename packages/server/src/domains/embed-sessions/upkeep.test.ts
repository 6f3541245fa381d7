/** Which sessions the upkeep deletes, and which it keeps. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding } from '../../../test/embedding.ts';
import { limitStatements } from '../../../test/hold.ts';
import { deleteEndedSessions } from './store.ts';
import { embedSessionUpkeep } from './upkeep.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createOwnEmbedding();
});
afterAll(() => embedding.stop());

const clean = (signal = new AbortController().signal) =>
  embedSessionUpkeep.kind.run(
    {},
    {
      db: embedding.world.server.db,
      log: pino({ level: 'silent' }),
      jobId: 1,
      attempt: 1,
      progress: () => {},
      signal,
    },
  );
const count = async (table: string) =>
  (await embedding.rows(`select count(*)::int from ${table}`))[0].count as number;

const DAY = 24;
/** Inserts sessions of a viewer that were minted and exchanged this many hours ago. */
const addOld = (number: number, hours: number) =>
  embedding.rows(
    `insert into embed_sessions (secret_hash, deployment_id, embed_tenant, user_id, creator_mode, api_key_id,
                                 created_at, exchanged_at, expires_at)
     select '\\x00', $3, u.embed_tenant, u.id, false, 1, m.at, m.at, m.at + interval '1 day'
     from generate_series(1, $1::int), (select now() - make_interval(hours => $2::int) as at) m,
          (select * from users where embed_tenant is not null order by id limit 1) u`,
    [number, hours, embedding.deploymentId],
  );

test('sessions whose tokens ended a week ago are deleted, however many there are, and newer ones stay', async () => {
  await embedding.mint({ externalId: 'ada' });
  await embedding.rows('delete from embed_sessions');
  await addOld(12_345, 20 * DAY);
  await addOld(10, 8 * DAY + 1);
  await addOld(7, 8 * DAY - 1);
  await addOld(3, DAY);
  const sessionId = await embedding.mint({ externalId: 'ada' });
  await clean();
  expect(await count('embed_sessions')).toBe(11);
  const { token } = await embedding.world.client().postTokenBySessionId({ body: { sessionId } });
  await clean();
  expect(token).toBeTruthy();
  expect(await count('embed_sessions')).toBe(11);
});

test('one statement deletes no more sessions than it is told', async () => {
  await embedding.mint();
  await embedding.rows('delete from embed_sessions');
  await addOld(5, 20 * DAY);
  expect(await deleteEndedSessions(embedding.world.server.db, 7, 2)).toBe(2);
  expect(await count('embed_sessions')).toBe(3);
});

test('users, memberships and values stay when their sessions are deleted', async () => {
  const group = await embedding.accountGroup();
  const region = await embedding.accountAttribute('string');
  const viewer = { externalId: 'bob', email: 'bob@example.com', embedTenantName: embedding.tenant() };
  await embedding.rows('delete from embed_sessions');
  await embedding.mint({ ...viewer, groups: [group], userAttributes: [{ name: region, value: 'EU' }] });
  await embedding.rows(
    `update embed_sessions set created_at = now() - interval '30 days', expires_at = now() - interval '29 days'`,
  );
  await clean();
  expect(await count('embed_sessions')).toBe(0);
  expect(await embedding.see(viewer)).toMatchObject({
    user: { externalId: 'bob', email: 'bob@example.com' },
    groups: [group],
    userAttributes: { [region]: 'EU' },
  });
});

test('revocations are deleted after nine days, when no session or subscription that they end is known any more', async () => {
  const add = (tenant: string, hours: number) =>
    embedding.rows(
      'insert into embed_revocations (embed_tenant, revoked_at) values ($1, now() - make_interval(hours => $2))',
      [tenant, hours],
    );
  await add('older', 9 * 24 + 1);
  await add('younger', 9 * 24 - 1);
  await clean();
  const left = await embedding.rows('select embed_tenant from embed_revocations order by 1');
  expect(left).toEqual([{ embed_tenant: 'younger' }]);
});

test('a job stops when its signal is aborted', async () => {
  await embedding.rows('delete from embed_sessions');
  await addOld(5, 20 * DAY);
  expect(await clean(AbortSignal.abort())).toBe('unfinished');
  expect(await count('embed_sessions')).toBe(5);
});

test('every server schedules the job', async () => {
  const rows = await embedding.rows('select name from job_schedules');
  expect(rows).toContainEqual({ name: embedSessionUpkeep.name });
});

test('the job fails, and so runs again, if it could not delete revocations', async () => {
  await embedding.rows(
    `insert into embed_revocations (embed_tenant, revoked_at) values ('older', now() - interval '10 days')`,
  );
  await limitStatements(embedding.world, 'embed_revocations', 0);
  await expect(clean()).rejects.toMatchObject({ code: '57014' });
});
