import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectWaiting, holdRows } from '../../../test/hold.ts';
import { logIn, signedIn, statusWith } from '../../../test/sign-in.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

type Json = Record<string, unknown>;

async function post(body: string, type: string) {
  const headers = { 'content-type': type };
  const response = await world.raw('POST', '/auth/oauth2/refresh', { apiKey: null, headers, body });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Json };
}
const form = (fields: Record<string, string>) =>
  post(new URLSearchParams(fields).toString(), 'application/x-www-form-urlencoded');
const json = (fields: object) => post(JSON.stringify(fields), 'application/json');
const refresh = async (refreshToken: string) => {
  const { status, body } = await json({ refreshToken });
  return { status, ...(body as { accessToken: string; refreshToken: string }) };
};

test('a refresh token gives new tokens, and the earlier access token works until its end', async () => {
  const { accessToken, refreshToken } = await signedIn(world);
  const next = await refresh(refreshToken);
  expect([next.accessToken, next.refreshToken]).not.toEqual([accessToken, refreshToken]);
  for (const token of [accessToken, next.accessToken]) expect(await statusWith(world.url, token)).toBe(200);
  expect((await refresh(next.refreshToken)).status).toBe(200);
});

test('a refresh token that is used again ends its family: the newest access and refresh tokens too', async () => {
  const { refreshToken, accessToken } = await signedIn(world);
  const second = await refresh(refreshToken);
  const third = await refresh(second.refreshToken);
  expect(await statusWith(world.url, third.accessToken)).toBe(200);
  // The oldest one, of which no row is left.
  expect((await refresh(refreshToken)).status).toBe(400);
  for (const token of [accessToken, second.accessToken, third.accessToken]) {
    await expectWithinASecond(() => statusWith(world.url, token), 401);
  }
  expect((await refresh(third.refreshToken)).status).toBe(400);
});

test('and leaves the other sessions of the user alone', async () => {
  const person = await signedIn(world);
  const other = await world
    .client()
    .login({ body: { email: person.email, password: 'correct horse battery staple' } });
  await refresh(person.refreshToken);
  await refresh(person.refreshToken);
  await expectWithinASecond(() => statusWith(world.url, person.accessToken), 401);
  expect(await statusWith(world.url, other.accessToken)).toBe(200);
  expect((await refresh(other.refreshToken)).status).toBe(200);
});

test.each([2, 5])(
  'of %i who use a refresh token at once exactly one gets tokens, and then they end',
  async (count) => {
    const { refreshToken, accessToken } = await signedIn(world);
    const outcomes = await Promise.all(Array.from({ length: count }, () => refresh(refreshToken)));
    const winners = outcomes.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === 400)).toHaveLength(count - 1);
    for (const token of [accessToken, winners[0]!.accessToken]) {
      await expectWithinASecond(() => statusWith(world.url, token), 401);
    }
    expect((await refresh(winners[0]!.refreshToken)).status).toBe(400);
  },
);

describe('a session that is ended while it is refreshed has no tokens afterwards', () => {
  async function inTurn(makeCalls: (refreshIt: Call, endIt: Call) => Call[]) {
    const person = await signedIn(world);
    const { client } = await logIn(world, person);
    const id = (await client.listMySessions({})).items[0]!.id;
    const held = await holdRows(world, 'sessions', [id]);
    const begun: Promise<unknown>[] = [];
    const calls = makeCalls(
      () => refresh(person.refreshToken),
      () => client.endMySession({ id }),
    );
    for (const call of calls) {
      begun.push(call());
      await expectWaiting(world, begun.length);
    }
    await held.release();
    const outcomes = await Promise.all(begun);
    const tokens = 'select from session_tokens where session_id = $1';
    expect((await world.server.db.pool.query(tokens, [id])).rowCount).toBe(0);
    return outcomes;
  }
  type Call = () => Promise<unknown>;

  test('if the refresh comes first', async () => {
    const [refreshed] = await inTurn((refreshIt, endIt) => [refreshIt, endIt]);
    expect(refreshed).toMatchObject({ status: 200 });
  });

  test('if the end comes first', async () => {
    const [, refused] = await inTurn((refreshIt, endIt) => [endIt, refreshIt]);
    expect(refused).toMatchObject({ status: 400 });
  });
});

test('refresh tokens of an ended session are refused after a while, before they reach the database', async () => {
  const [ended, other] = [await signedIn(world), await signedIn(world)];
  await ended.client.logout({ body: {} });
  const outcomes = [];
  for (let i = 0; i < 30; i++) outcomes.push((await refresh(ended.refreshToken)).status);
  expect(outcomes).toEqual([...Array(20).fill(400), ...Array(10).fill(429)]);
  // Another session at the same address is not affected.
  expect((await refresh(other.refreshToken)).status).toBe(200);
});

describe('forms', () => {
  test('are answered as RFC 6749 writes it, and unknown fields are ignored', async () => {
    const { refreshToken } = await signedIn(world);
    const fields = {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: 'any',
      scope: '',
      what: 'x',
    };
    const { status, headers, body } = await form(fields);
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^oriel_access_[\w-]{43}$/),
        refresh_token: expect.stringMatching(/^oriel_refresh_\d+\.[\w-]{68}$/),
        token_type: 'Bearer',
        expires_in: expect.any(Number),
      },
    ]);
    expect(body.expires_in as number).toBeGreaterThan(3000);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(await statusWith(world.url, body.access_token as string)).toBe(200);
  });

  test.each([
    ['an unknown token', { refresh_token: 'x' }, 'invalid_grant'],
    ['a made-up token', { refresh_token: `oriel_refresh_1.${'x'.repeat(68)}` }, 'invalid_grant'],
    ['no token', { grant_type: 'refresh_token' }, 'invalid_request'],
    ['an empty token', { refresh_token: '' }, 'invalid_grant'],
    ['a long token', { refresh_token: 'x'.repeat(300) }, 'invalid_request'],
    ['another grant', { grant_type: 'password', refresh_token: 'x' }, 'unsupported_grant_type'],
  ])('with %s get an error of the RFC', async (_, fields, error) => {
    const { status, body } = await form(fields as Record<string, string>);
    expect([status, body]).toEqual([400, { error, error_description: expect.any(String) }]);
  });
});

test('JSON gets its errors in camelCase', async () => {
  const { status, body } = await json({ refreshToken: 'x' });
  expect([status, body]).toEqual([400, { error: 'invalid_grant', errorDescription: expect.any(String) }]);
});

test('JSON with the names of the form is refused by name', async () => {
  const { status, body } = await json({ refresh_token: 'x' });
  expect([status, body]).toEqual([
    400,
    { error: 'invalid_request', errorDescription: expect.stringContaining('refreshToken: is required') },
  ]);
});

test('a session keeps few access tokens, and ends the others', async () => {
  let { refreshToken, accessToken: first } = await signedIn(world);
  for (let i = 0; i < 5; i++) ({ refreshToken } = await refresh(refreshToken));
  await expectWithinASecond(() => statusWith(world.url, first), 401);
  expect((await refresh(refreshToken)).status).toBe(200);
});

test('a session that is over gives no tokens, and each refresh makes it longer, up to its limit', async () => {
  const person = await signedIn(world);
  const query = async (text: string) => (await world.server.db.pool.query(text, [person.id])).rows[0];
  const days = async () =>
    (
      await query(`select round(extract(epoch from expires_at - now()) / 86400)::int as days
                  from sessions where user_id = $1`)
    ).days;
  expect(await days()).toBe(30);
  await query("update sessions set expires_at = now() + interval '1 day' where user_id = $1");
  const next = await refresh(person.refreshToken);
  expect(await days()).toBe(30);
  await query("update sessions set created_at = now() - interval '80 days' where user_id = $1");
  const last = await refresh(next.refreshToken);
  expect(await days()).toBe(10);
  await query("update sessions set expires_at = now() - interval '1 second' where user_id = $1");
  expect((await refresh(last.refreshToken)).status).toBe(400);
});

test('a user has at most 100 sessions: a new one ends the one that was not used for longest', async () => {
  const person = await signedIn(world);
  const { pool } = world.server.db;
  await pool.query(
    `insert into sessions (user_id, kind, created_at, expires_at)
     select $1, 'login', now() - n * interval '1 minute', now() + interval '1 day' from generate_series(1, 98) n`,
    [person.id],
  );
  const login = () =>
    world.client().login({ body: { email: person.email, password: 'correct horse battery staple' } });
  await login();
  await pool.query(
    "update sessions set last_used_at = now() + interval '1 minute' where id = (select min(id) from sessions where user_id = $1)",
    [person.id],
  );
  await login();
  const { items } = await person.client.listMySessions({ first: 1000 });
  expect(items).toHaveLength(100);
  expect(items[0]).toMatchObject({ isCurrent: true });
});
