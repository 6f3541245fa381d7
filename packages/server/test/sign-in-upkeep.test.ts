/** Which sessions, tokens, device codes and links the schedules delete, and which they keep. */
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deviceCodeUpkeep } from '../src/domains/device-codes/index.ts';
import { passwordLinkUpkeep } from '../src/domains/password-links/index.ts';
import { sessionUpkeep } from '../src/domains/sessions/index.ts';
import { createOwnWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld();
  await query(
    "insert into users (username, email) select 'u' || i, 'u' || i || '@example.com' from generate_series(1, 1200) i",
  );
});
afterAll(() => world.stop());

const query = async (text: string) => (await world.server.db.pool.query(text)).rows as { n: number }[];
const count = async (table: string) => (await query(`select count(*)::int as n from ${table}`))[0]!.n;
const run = ({ kind }: typeof sessionUpkeep) =>
  kind.run(
    {},
    {
      db: world.server.db,
      log: pino({ level: 'silent' }),
      jobId: 1,
      attempt: 1,
      progress: () => {},
      signal: new AbortController().signal,
    },
  );

test('expired sessions and tokens are deleted, however many there are, and others stay', async () => {
  await query(`insert into sessions (user_id, kind, expires_at)
    select id, 'login', case when id % 100 = 0 then now() + interval '1 day' else now() - interval '1 second' end from users`);
  await query(`insert into session_tokens (token_hash, session_id, expires_at)
    select sha256((s.id || '.' || n)::text::bytea), s.id, least(s.expires_at, now() + (n - 1) * interval '1 hour')
    from sessions s, generate_series(0, 2) n`);
  await run(sessionUpkeep);
  expect([await count('sessions'), await count('session_tokens')]).toEqual([12, 12]);
});

test('expired links are deleted', async () => {
  await query(`insert into password_links (user_id, kind, secret_hash, expires_at)
    select id, 'reset', '\\x00', now() + case when id % 100 = 0 then 1 else -1 end * interval '1 minute' from users`);
  await run(passwordLinkUpkeep);
  expect(await count('password_links')).toBe(12);
});

test('device codes are deleted an hour after they expired, so that devices hear why they get no tokens', async () => {
  await query(`insert into device_codes (secret_hash, user_code_hash, client_id, ip, interval_seconds, expires_at)
    select '\\x00', sha256(id::text::bytea), 'tool', '', 5,
           now() - case when id % 100 = 0 then 59 else 61 end * interval '1 minute' from users`);
  await run(deviceCodeUpkeep);
  expect(await count('device_codes')).toBe(12);
});

test('every server schedules them', async () => {
  const rows = (await query(
    "select name from job_schedules where name like '%.delete-expired'",
  )) as unknown[];
  for (const { name } of [sessionUpkeep, passwordLinkUpkeep, deviceCodeUpkeep])
    expect(rows).toContainEqual({ name });
});
