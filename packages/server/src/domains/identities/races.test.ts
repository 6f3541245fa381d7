/** What happens to a sign-in with the provider while the identity of the person changes. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectWaiting, holdRows } from '../../../test/hold.ts';
import { PASSWORD } from '../../../test/sign-in.ts';
import { type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import {
  errorOf,
  headersOfApp,
  newAccount,
  unlinkInApp,
  visitsTo,
} from '../../../test/sign-in-provider/visits.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let provider: SignInProvider;
let world: World;
let visits: ReturnType<typeof visitsTo>;
beforeAll(async () => {
  provider = await startProvider();
  world = await createOwnWorld({
    env: { ...provider.env, ORIEL_OIDC_GROUPS_CLAIM: 'groups', ORIEL_OIDC_EXTERNAL_ID_CLAIM: 'sub' },
  });
  await provider.serve(world.url);
  visits = visitsTo(world, provider);
});
afterAll(async () => {
  await Promise.all([world?.stop(), provider?.stop()]);
});

const newUser = (more: { externalId?: string } = {}) => {
  const username = unique('racing');
  return world.admin.createUser({ body: { username, email: `${username}@example.com`, ...more } });
};

const linkFor = async (id: number) =>
  new URL((await world.admin.createResetLink({ id, body: {} })).url).search;

/** A user who signs in as this account. */
async function linked(account: ReturnType<typeof newAccount>) {
  const { id } = await newUser();
  const { browser } = await visits.signIn(account, await linkFor(id));
  const [identity] = await world.admin.listUserIdentities({ id });
  return { id, browser, identityId: identity!.id };
}

const toCallback = async (account: ReturnType<typeof newAccount>, query = '') => {
  await provider.expect(account);
  return visits.toCallback({ query });
};

const sessionsOf = async (id: number) =>
  (await world.server.db.pool.query('select from sessions where user_id = $1', [id])).rowCount;

/** Begins the calls one after the other. Each waits for the user, and they go on in this order. */
async function inTurn(userId: number, calls: (() => Promise<unknown>)[]) {
  const held = await holdRows(world, 'users', [userId]);
  const begun: Promise<unknown>[] = [];
  for (const call of calls) {
    begun.push(call());
    await expectWaiting(world, begun.length);
  }
  await held.release();
  return Promise.all(begun);
}

test('a sign-in with an identity that is just being unlinked begins no session', async () => {
  const account = newAccount();
  const { id, identityId } = await linked(account);
  const { browser, callback } = await toCallback(account);
  const [, response] = await inTurn(id, [
    () => world.admin.unlinkUserIdentity({ id, identityId }),
    () => browser.get(callback),
  ]);
  expect(errorOf(response as Response)).toEqual([403, 'identity_unknown']);
  expect(await sessionsOf(id)).toBe(0);
});

test('a sign-in with an identity that is just being replaced by a link begins no session', async () => {
  const [wrong, right] = [newAccount(), newAccount()];
  const { id } = await linked(wrong);
  const [late, first] = [await toCallback(wrong), await toCallback(right, await linkFor(id))];
  const [accepted, refused] = await inTurn(id, [
    () => first.browser.get(first.callback),
    () => late.browser.get(late.callback),
  ]);
  expect((accepted as Response).status).toBe(303);
  expect(errorOf(refused as Response)).toEqual([403, 'identity_unknown']);
  expect(await visits.whoIs(first.browser)).toMatchObject({ id });
  expect(await sessionsOf(id)).toBe(1);
});

test('a session that begins just before its identity is unlinked ends with it', async () => {
  const account = newAccount();
  const { id, identityId } = await linked(account);
  const { browser, callback } = await toCallback(account);
  const [response] = await inTurn(id, [
    () => browser.get(callback),
    () => world.admin.unlinkUserIdentity({ id, identityId }),
  ]);
  expect((response as Response).status).toBe(303);
  expect(await sessionsOf(id)).toBe(0);
  await expectWithinASecond(() => visits.whoIs(browser), undefined);
});

test('a browser whose session has just ended gets no new one for unlinking an identity', async () => {
  const account = newAccount();
  const { id, identityId } = await linked(account);
  await world.admin.updateUser({ id, body: { password: PASSWORD } });
  const { browser } = await visits.signIn(account);
  const unlink = await unlinkInApp(world, browser, identityId);
  const [, response] = await inTurn(id, [
    () => world.admin.updateUser({ id, body: { password: `${PASSWORD} again` } }),
    unlink,
  ]);
  expect((response as Response).status).toBe(401);
  expect(await sessionsOf(id)).toBe(0);
  expect(await world.admin.listUserIdentities({ id })).toHaveLength(1);
});

describe('a session that is just being renewed', () => {
  interface Ending {
    /** The session that a browser is about to renew. */
    sessionId: number;
    /** Signs out by the form of the app, as this browser. */
    signOut(): Promise<Response>;
    /** The client of the same person elsewhere. */
    own: ReturnType<World['client']>;
  }

  /** A browser, and the call that removes an identity, which renews its session. */
  async function aboutToRenew() {
    const account = newAccount();
    const { id, identityId } = await linked(account);
    const { email } = await world.admin.updateUser({ id, body: { password: PASSWORD } });
    const { browser } = await visits.signIn(account);
    const { accessToken } = await world.client().login({ body: { email, password: PASSWORD } });
    const own = world.bearer(accessToken);
    const { items } = await own.listMySessions({});
    const sessionId = items.find(({ kind }) => kind === 'console')!.id;
    const renew = await unlinkInApp(world, browser, identityId);
    const headers = await headersOfApp(world, browser);
    const signOut = () =>
      fetch(`${world.url}/sign-out`, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: new URLSearchParams({ csrf: headers['x-csrf-token'] }),
      });
    return { id, sessionId, signOut, own, renew };
  }

  describe.each<[string, (ending: Ending) => Promise<unknown>]>([
    ['over the API', ({ own, sessionId }) => own.endMySession({ id: sessionId })],
    ['by signing out', ({ signOut }) => signOut()],
  ])('and ended %s', (_, end) => {
    test('ends with the session that replaced it', async () => {
      const { id, renew, ...ending } = await aboutToRenew();
      const [renewed] = await inTurn(id, [renew, () => end(ending)]);
      expect((renewed as Response).status).toBe(204);
      expect(await sessionsOf(id)).toBe(0);
    });

    test('is not renewed any more', async () => {
      const { id, renew, ...ending } = await aboutToRenew();
      const [, refused] = await inTurn(id, [() => end(ending), renew]);
      expect((refused as Response).status).toBe(401);
      // Only the session elsewhere is left.
      expect(await sessionsOf(id)).toBe(1);
      expect(await ending.own.listMySessions({})).toMatchObject({ items: [{ kind: 'login' }] });
      expect(await world.admin.listUserIdentities({ id })).toHaveLength(1);
    });
  });
});

test('a user whom SCIM created is found in two windows at once', async () => {
  const account = newAccount();
  const { id } = await newUser({ externalId: account.sub });
  const windows = [await toCallback(account), await toCallback(account)];
  const responses = await inTurn(
    id,
    windows.map(
      ({ browser, callback }) =>
        () =>
          browser.get(callback),
    ),
  );
  expect(responses.map((response) => (response as Response).status)).toEqual([303, 303]);
  for (const { browser } of windows) expect(await visits.whoIs(browser)).toMatchObject({ id });
});

test('an identity that was unlinked comes back by a link only, not by the external id', async () => {
  const account = newAccount();
  const { id } = await newUser({ externalId: account.sub });
  expect(await visits.whoIs((await visits.signIn(account)).browser)).toMatchObject({ id });
  const [identity] = await world.admin.listUserIdentities({ id });
  await world.admin.unlinkUserIdentity({ id, identityId: identity!.id });
  expect(errorOf((await visits.signIn(account)).response)).toEqual([409, 'identity_taken']);
  expect(await world.admin.listUserIdentities({ id })).toEqual([]);
  const { browser } = await visits.signIn(account, await linkFor(id));
  expect(await visits.whoIs(browser)).toMatchObject({ id });
});
