/** Who a person is after they have signed in with the provider. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import { errorOf, newAccount, PENDING, visitsTo } from '../../../test/sign-in-provider/visits.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let provider: SignInProvider;
/** Creates users at their first sign-in, and reads their groups. */
let open: World;
/** Has only the settings that every server with a provider has. */
let strict: World;
beforeAll(async () => {
  provider = await startProvider();
  open = await createOwnWorld({
    env: { ...provider.env, ORIEL_OIDC_GROUPS_CLAIM: 'groups', ORIEL_OIDC_CREATE_USERS: 'true' },
  });
  strict = await createOwnWorld({ env: provider.env });
  await provider.serve(open.url, strict.url);
});
afterAll(async () => {
  await Promise.all([open?.stop(), strict?.stop(), provider?.stop()]);
});

describe('a first sign-in', () => {
  test('creates a Viewer and begins a session, and the next one finds the same user', async () => {
    const { signIn, whoIs, usersOf } = visitsTo(open, provider);
    const account = newAccount();
    const first = await signIn(account);
    expect(first.response.status).toBe(303);
    // It holds the secrets of the sign-in, and a link if there was one.
    expect(first.browser.cookies(open.url).has(PENDING)).toBe(false);
    const me = await whoIs(first.browser);
    expect(await usersOf(account.email)).toMatchObject([
      { id: me!.id, roles: ['Viewer'], firstName: 'Ada', username: account.email },
    ]);
    const second = await signIn({ ...account, email: `new-${account.email}` });
    expect(await whoIs(second.browser)).toMatchObject({ id: me!.id, email: account.email });
  });

  test('in two windows at once creates one user', async () => {
    const { toCallback, usersOf } = visitsTo(open, provider);
    const account = newAccount();
    await provider.expect(account);
    const begun = await Promise.all([toCallback(), toCallback()]);
    const responses = await Promise.all(begun.map(({ browser, callback }) => browser.get(callback)));
    expect(responses.map(({ status }) => status)).toEqual([303, 303]);
    expect(await usersOf(account.email)).toHaveLength(1);
  });

  test.each([
    ['without an email', { email: undefined }],
    ['with an email that is not verified', { email_verified: false }],
    ['with an email that is not verified, in words', { email_verified: 'false' }],
    ['with an email that people take for another', { email: 'аdmin@example.com' }],
    ['with an email that cannot be stored', { email: 'a\0@example.com' }],
    ['with a subject that cannot be stored', { sub: 'a\0' }],
    ['with a subject of half a character', { sub: 'a\ud800' }],
    ['with a subject that is too long', { sub: 'a'.repeat(256) }],
  ])('%s creates no user', async (_, more) => {
    const { response } = await visitsTo(open, provider).signIn(newAccount(more));
    expect(errorOf(response)).toEqual([403, 'identity_incomplete']);
  });

  test('with a name, a picture and groups that cannot be stored creates a user without them', async () => {
    const { signIn, whoIs } = visitsTo(open, provider);
    const broken = { name: 'A\0', picture: 'https://example.com/\0', groups: ['a\0', 'b\ud800'] };
    const { browser } = await signIn(newAccount(broken));
    expect(await whoIs(browser)).toMatchObject({ firstName: null, picture: null });
    const long = await signIn(newAccount({ name: `${'a'.repeat(254)}😀` }));
    expect(await whoIs(long.browser)).toMatchObject({ firstName: 'a'.repeat(254) });
  });

  test('without the setting creates nobody', async () => {
    const { signIn, whoIs, usersOf } = visitsTo(strict, provider);
    const account = newAccount();
    const { response, browser } = await signIn(account);
    expect(errorOf(response)).toEqual([403, 'identity_unknown']);
    expect(await whoIs(browser)).toBeUndefined();
    expect(await usersOf(account.email)).toEqual([]);
  });
});

test('the same email is not the same person: an existing user is never taken over', async () => {
  for (const [world, error] of [
    [open, [409, 'identity_taken']],
    [strict, [403, 'identity_unknown']],
  ] as const) {
    const { signIn, whoIs, usersOf } = visitsTo(world, provider);
    const account = newAccount();
    const { id } = await world.admin.createUser({ body: { username: unique('u'), email: account.email } });
    const { response, browser } = await signIn(account);
    expect(errorOf(response)).toEqual(error);
    expect(await whoIs(browser)).toBeUndefined();
    expect(await usersOf(account.email)).toMatchObject([{ id }]);
  }
});

test('the same subject at another provider is another person', async () => {
  const account = newAccount();
  const { browser } = await visitsTo(open, provider).signIn(account);
  const other = await startProvider();
  const moved = await open.anotherServer(other.env);
  try {
    await other.serve(moved.url);
    const visits = visitsTo({ ...open, url: moved.url }, other);
    const { response } = await visits.signIn(account);
    expect(errorOf(response)).toEqual([409, 'identity_taken']);
    const somebody = await visits.signIn({ ...account, email: `other-${account.email}` });
    const known = await visitsTo(open, provider).whoIs(browser);
    expect((await visits.whoIs(somebody.browser))!.id).not.toBe(known!.id);
  } finally {
    await other.stop();
  }
});

test('a deactivated user is refused, and a deleted user is unknown', async () => {
  const { signIn, whoIs, usersOf } = visitsTo(open, provider);
  const account = newAccount();
  await signIn(account);
  const [user] = await usersOf(account.email);
  await open.admin.updateUser({ id: user!.id, body: { isDeactivated: true } });
  const { response, browser } = await signIn(account);
  expect(errorOf(response)).toEqual([409, 'user_deactivated']);
  expect(await whoIs(browser)).toBeUndefined();
  await open.admin.deleteUser({ id: user!.id });
  const again = await signIn(account);
  expect((await whoIs(again.browser))!.id).not.toBe(user!.id);
});

describe('an invitation', () => {
  const invite = async (roles = ['Viewer']) => {
    const username = unique('invited');
    const { invitationUrl, id } = await strict.admin.createUser({
      body: { username, email: `${username}@example.com`, roles },
    });
    return { id, link: new URL(invitationUrl!).searchParams.get('link')! };
  };

  test('is accepted by signing in, once, and joins the identity to the invited user', async () => {
    const { signIn, whoIs, newBrowser } = visitsTo(strict, provider);
    const account = newAccount();
    const { id, link } = await invite(['Explorer']);
    const accepted = await signIn(account, `?link=${link}`);
    expect(await whoIs(accepted.browser)).toMatchObject({ id, roles: ['Explorer'] });
    const again = await signIn(account);
    expect(await whoIs(again.browser)).toMatchObject({ id });
    const used = await newBrowser().get(`${strict.url}/sign-in/provider?link=${link}`, {
      referer: `${strict.url}/invitation`,
    });
    expect(errorOf(used)).toEqual([400, 'link_not_valid']);
  });

  test('does not join an identity to a second user, and is not used up by the attempt', async () => {
    const { signIn } = visitsTo(strict, provider);
    const account = newAccount();
    await signIn(account, `?link=${(await invite()).link}`);
    const { link } = await invite();
    const { response } = await signIn(account, `?link=${link}`);
    expect(errorOf(response)).toEqual([409, 'identity_taken']);
    expect((await signIn(newAccount(), `?link=${link}`)).response.status).toBe(303);
  });

  test('in a link on another site gives nobody the identity of the person who follows it', async () => {
    const { newBrowser, signIn } = visitsTo(strict, provider);
    const { link } = await invite();
    const address = `${strict.url}/sign-in/provider?link=${link}`;
    const elsewhere = [`${strict.url}/sign-in?next=/account`, `${strict.url}/account`];
    for (const referer of ['', 'https://evil.example/invitation', 'no address', ...elsewhere]) {
      expect(errorOf(await newBrowser().get(address, { referer }))).toEqual([403, 'forbidden']);
    }
    expect((await signIn(newAccount(), `?link=${link}`)).response.status).toBe(303);
  });
});

describe('a user whom SCIM created', () => {
  let provisioned: World;
  beforeAll(async () => {
    provisioned = await createOwnWorld({
      env: {
        ...provider.env,
        ORIEL_OIDC_EXTERNAL_ID_CLAIM: 'sub',
        ORIEL_OIDC_CREATE_USERS: 'true',
      },
    });
    await provider.serve(open.url, strict.url, provisioned.url);
  });
  afterAll(() => provisioned?.stop());

  const provision = async (externalId: string) => {
    const username = unique('provisioned');
    return provisioned.admin.createUser({
      body: { username, email: `${username}@example.com`, externalId },
    });
  };

  test('is found by the external id, once, where a setting names the claim', async () => {
    const { signIn, whoIs } = visitsTo(provisioned, provider);
    const account = newAccount();
    const { id } = await provision(account.sub);
    for (const _ of [1, 2]) expect(await whoIs((await signIn(account)).browser)).toMatchObject({ id });
    const elsewhere = await visitsTo(open, provider).signIn(account);
    expect((await visitsTo(open, provider).whoIs(elsewhere.browser))?.email).toBe(account.email);
  });

  test('is not found if two users have the external id, or if they are deactivated', async () => {
    const { signIn, whoIs } = visitsTo(provisioned, provider);
    const account = newAccount();
    const two = [await provision(account.sub), await provision(account.sub)];
    const { browser } = await signIn(account);
    expect(two.map(({ id }) => id)).not.toContain((await whoIs(browser))!.id);

    const gone = newAccount();
    const { id } = await provision(gone.sub);
    await provisioned.admin.updateUser({ id, body: { isDeactivated: true } });
    expect(errorOf((await signIn(gone)).response)).toEqual([409, 'user_deactivated']);
  });
});

describe('the groups of the provider', () => {
  const createGroup = async (name: string, { admin } = open) =>
    admin.createUserGroup({ body: { name: unique(name) } });
  const isMember = async (groupId: number, userId: number, { admin } = open) =>
    (await admin.getUserGroupMembers({ id: groupId })).items.some(({ id }) => id === userId);

  test('are joined and left by name, and what an admin gave stays', async () => {
    const { signIn, usersOf } = visitsTo(open, provider);
    const groups = [await createGroup('kept'), await createGroup('left'), await createGroup('by-hand')];
    const [kept, left, byHand] = groups;
    const account = newAccount({ groups: [kept!.name, left!.name, 'no such group', 7] });
    await signIn(account);
    const [user] = await usersOf(account.email);
    await open.admin.addUserGroupMembers({ id: byHand!.id, body: { userIds: [user!.id] } });
    const joined = () => Promise.all(groups.map(({ id }) => isMember(id, user!.id)));
    expect(await joined()).toEqual([true, true, true]);
    await signIn({ ...account, groups: [kept!.name] });
    expect(await joined()).toEqual([true, false, true]);
    await signIn({ ...account, groups: undefined });
    expect(await joined()).toEqual([false, false, true]);
  });

  test('count only where a setting names the claim', async () => {
    const { signIn, whoIs } = visitsTo(strict, provider);
    const group = await createGroup('ignored', strict);
    const account = newAccount({ groups: [group.name] });
    const { invitationUrl, id } = await strict.admin.createUser({
      body: { username: account.sub, email: account.email },
    });
    const { browser } = await signIn(account, new URL(invitationUrl!).search);
    expect(await whoIs(browser)).toMatchObject({ id });
    expect(await isMember(group.id, id, strict)).toBe(false);
  });
});

test('sign-ins, refused ones, new users and their groups are in the audit log', async () => {
  const { signIn, whoIs } = visitsTo(open, provider);
  const group = await open.admin.createUserGroup({ body: { name: unique('audited') } });
  const account = newAccount({ groups: [group.name] });
  const { browser } = await signIn(account);
  const { id } = (await whoIs(browser))!;
  const entriesOf = async (resourceType: string, resourceId: number | string) =>
    (
      await open.admin.listAuditLog({
        operation: 'finishProviderSignIn',
        resourceType,
        resourceId: String(resourceId),
      })
    ).items;
  expect(await entriesOf('signIn', id)).toMatchObject([{ userId: id }]);
  expect(await entriesOf('user', id)).toMatchObject([{ before: null, after: { email: account.email } }]);
  const identity = { issuer: provider.issuer, subject: account.sub };
  expect(await entriesOf('identity', id)).toMatchObject([{ before: null, after: identity }]);
  expect(await entriesOf('userGroup', group.id)).toHaveLength(1);

  const refused = await createOwnWorld({ env: provider.env });
  try {
    await provider.serve(open.url, strict.url, refused.url);
    await visitsTo(refused, provider).signIn(account);
    const failures = async () =>
      (await refused.admin.listAuditLog({ resourceType: 'failedSignIn' })).items.map(({ after }) => after);
    await expect.poll(failures).toEqual([{ code: 'identity_unknown', ...identity }]);
  } finally {
    await refused.stop();
  }
});

test('failures of several people within a minute are entries of their own, with the user if there is one', async () => {
  const here = visitsTo(open, provider);
  const known = newAccount();
  const { browser } = await here.signIn(known);
  const { id } = (await here.whoIs(browser))!;
  await open.admin.updateUser({ id, body: { isDeactivated: true } });
  const [first, second] = [newAccount({ email: undefined }), newAccount({ email: known.email })];
  const responses: Response[] = [];
  for (const account of [known, first, second]) responses.push((await here.signIn(account)).response);
  const entriesOf = async (response: Response) =>
    (await open.admin.listAuditLog({ requestId: response.headers.get('x-request-id')! })).items.map(
      ({ resourceType, resourceId, after }) => ({ resourceType, resourceId, after }),
    );
  const expected = [
    { account: known, code: 'user_deactivated', resourceId: String(id) },
    { account: first, code: 'identity_incomplete', resourceId: `${provider.issuer} ${first.sub}` },
    { account: second, code: 'identity_taken', resourceId: `${provider.issuer} ${second.sub}` },
  ];
  for (const [i, { account, code, resourceId }] of expected.entries()) {
    const after = { code, issuer: provider.issuer, subject: account.sub };
    await expect
      .poll(() => entriesOf(responses[i]!))
      .toEqual([{ resourceType: 'failedSignIn', resourceId, after }]);
  }
});
