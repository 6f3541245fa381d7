/** Which identities a user has, and how they lose one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { logIn, statusWith } from '../../../test/sign-in.ts';
import { type SignInProvider, startProvider } from '../../../test/sign-in-provider/index.ts';
import { errorOf, newAccount, unlinkInApp, visitsTo } from '../../../test/sign-in-provider/visits.ts';
import { expectWithinASecond } from '../../../test/within-a-second.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const PASSWORD = 'correct horse battery staple';

let provider: SignInProvider;
let world: World;
let visits: ReturnType<typeof visitsTo>;
beforeAll(async () => {
  provider = await startProvider();
  world = await createOwnWorld({ env: { ...provider.env, ORIEL_OIDC_GROUPS_CLAIM: 'groups' } });
  await provider.serve(world.url);
  visits = visitsTo(world, provider);
});
afterAll(async () => {
  await Promise.all([world?.stop(), provider?.stop()]);
});

const newPerson = async () => {
  const username = unique('linked');
  const body = { username, email: `${username}@example.com`, password: PASSWORD };
  return world.admin.createUser({ body });
};

/** The user takes a new link, and uses it to sign in with the provider. */
async function reset(id: number, account: ReturnType<typeof newAccount>) {
  const { url } = await world.admin.createResetLink({ id, body: {} });
  return visits.signIn(account, new URL(url).search);
}

test('a link that is accepted with the provider replaces the password, the sessions and the earlier identity', async () => {
  const { id, email } = await newPerson();
  const { accessToken } = await logIn(world, { email }, PASSWORD);
  const [first, second] = [newAccount(), newAccount()];
  const before = await reset(id, first);
  expect(await visits.whoIs(before.browser)).toMatchObject({ id });
  await expectWithinASecond(() => statusWith(world.url, accessToken), 401);
  await expect(logIn(world, { email }, PASSWORD)).rejects.toMatchObject({ status: 401 });

  const after = await reset(id, second);
  expect(await visits.whoIs(after.browser)).toMatchObject({ id });
  await expectWithinASecond(() => visits.whoIs(before.browser), undefined);
  expect(errorOf((await visits.signIn(first)).response)).toEqual([403, 'identity_unknown']);
  expect(await world.admin.listUserIdentities({ id })).toMatchObject([
    { issuer: provider.issuer, subject: second.sub },
  ]);
});

test('a link that an unsuitable person uses changes nothing', async () => {
  const [taken, other] = [newAccount(), await newPerson()];
  await reset(other.id, taken);
  const { id, email } = await newPerson();
  const { accessToken } = await logIn(world, { email }, PASSWORD);
  expect(errorOf((await reset(id, taken)).response)).toEqual([409, 'identity_taken']);
  expect(await world.bearer(accessToken).getMe()).toMatchObject({ id });
  await logIn(world, { email }, PASSWORD);
});

test('an admin unlinks an identity: it signs in no more, its sessions end, and so do the groups that it gave', async () => {
  const { id } = await newPerson();
  const [given, byHand] = [
    await world.admin.createUserGroup({ body: { name: unique('given') } }),
    await world.admin.createUserGroup({ body: { name: unique('by-hand') } }),
  ];
  await world.admin.addUserGroupMembers({ id: byHand.id, body: { userIds: [id] } });
  const account = newAccount({ groups: [given.name] });
  const { browser } = await reset(id, account);
  const groups = () =>
    Promise.all(
      [given, byHand].map(
        async (group) => (await world.admin.getUserGroupMembers({ id: group.id })).items.length,
      ),
    );
  expect(await groups()).toEqual([1, 1]);
  const [identity] = await world.admin.listUserIdentities({ id });
  await world.admin.unlinkUserIdentity({ id, identityId: identity!.id });
  await expectWithinASecond(() => visits.whoIs(browser), undefined);
  expect(errorOf((await visits.signIn(account)).response)).toEqual([403, 'identity_unknown']);
  expect(await groups()).toEqual([0, 1]);
  expect(await world.admin.listUserIdentities({ id })).toEqual([]);
  const { items } = await world.admin.listAuditLog({
    operation: 'unlinkUserIdentity',
    resourceType: 'identity',
  });
  expect(items).toMatchObject([
    { resourceId: String(id), before: { issuer: provider.issuer, subject: account.sub }, after: null },
  ]);
});

test('an identity of another user is not found', async () => {
  const [mine, other] = [await newPerson(), await newPerson()];
  await reset(other.id, newAccount());
  const [identity] = await world.admin.listUserIdentities({ id: other.id });
  const notFound = { status: 404, code: 'linked_identity_not_found' };
  const byAdmin = world.admin.unlinkUserIdentity({ id: mine.id, identityId: identity!.id });
  await expect(byAdmin).rejects.toMatchObject(notFound);
  const { accessToken } = await logIn(world, { email: mine.email }, PASSWORD);
  const byOwner = world.bearer(accessToken).unlinkMyIdentity({ id: identity!.id });
  await expect(byOwner).rejects.toMatchObject(notFound);
});

test('a person unlinks their own identity if they have a password, and keeps it otherwise', async () => {
  const { id, email } = await newPerson();
  const account = newAccount();
  const { browser } = await reset(id, account);
  const [identity] = await world.admin.listUserIdentities({ id });
  const unlink = await unlinkInApp(world, browser, identity!.id);
  const refused = await unlink();
  expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'only_way_to_sign_in' }]);
  expect(await visits.whoIs(browser)).toMatchObject({ id });

  await world.admin.updateUser({ id, body: { password: PASSWORD } });
  const { accessToken } = await logIn(world, { email }, PASSWORD);
  const me = world.bearer(accessToken);
  expect(await me.listMyIdentities()).toEqual([identity]);
  await me.unlinkMyIdentity({ id: identity!.id });
  await expectWithinASecond(() => statusWith(world.url, accessToken), 401);
  expect(errorOf((await visits.signIn(account)).response)).toEqual([403, 'identity_unknown']);
  await logIn(world, { email }, PASSWORD);
});
