/** Groups of SCIM: who can be a member, names, versions and times. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUser, filtered, GROUP, patchOf, type ScimClient, scimClient } from '../../../test/scim.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let scim: ScimClient;
beforeAll(async () => {
  world = await createWorld();
  scim = scimClient(world);
});
afterAll(() => world.stop());

const groupOf = async (members: object[] = [], displayName = unique('group')) =>
  (await scim('POST', '/Groups', { schemas: [GROUP], displayName, members })).body;
const read = async (id: string) => (await scim('GET', `/Groups/${id}`)).body;
const memberIds = async (id: string) => (await read(id)).members.map(({ value }: { value: string }) => value);
const patch = (id: string, ...operations: object[]) => scim('PATCH', `/Groups/${id}`, patchOf(...operations));

describe('a group is no member of a group, and the user with the same id does not become one', () => {
  const nested = (value: string) => [
    { value, type: 'Group' },
    { value, TYPE: 'group' },
    { value, $ref: `https://example.com/api/scim/v2/Groups/${value}` },
    { value, $ref: `../groups/${value}` },
    { value, type: 'User', $ref: `Groups/${value}` },
    { value, type: 7 },
    { value, $ref: `https://example.com/api/scim/v2/Groups%2F${value}` },
    { value, $ref: `https://example.com/api/scim/v2/%47roups/${value}` },
    { value, $ref: `https://example.com/api/scim/v2/Users/${value}0` },
    { value, $ref: `https://example.com/Users/../Groups/${value}` },
  ];

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('form %i', async (form) => {
    const [user, kept] = [await createUser(scim), await createUser(scim)];
    const member = nested(user.id)[form];
    const refused = [400, 'invalidValue'];
    const displayName = unique('group');
    const created = await scim('POST', '/Groups', { schemas: [GROUP], displayName, members: [member] });
    expect([created.status, created.body.scimType]).toEqual(refused);
    expect((await scim('GET', filtered('Groups', `displayName eq "${displayName}"`))).body.totalResults).toBe(
      0,
    );
    const { id } = await groupOf([{ value: kept.id }]);
    const put = await scim('PUT', `/Groups/${id}`, { schemas: [GROUP], displayName, members: [member] });
    expect([put.status, put.body.scimType]).toEqual(refused);
    for (const op of ['add', 'replace']) {
      const { status, body } = await patch(id, { op, path: 'members', value: [member] });
      expect([status, body.scimType]).toEqual(refused);
    }
    const { status, body } = await patch(id, { op: 'add', value: { members: [member] } });
    expect([status, body.scimType]).toEqual(refused);
    expect(await memberIds(id)).toEqual([kept.id]);
  });

  test.each(['%s/Users/88/', '%s/Users/88?attributes=id', '%s/Groups/88?x=/Users/88', '%s/Users/8', '88'])(
    'a member with the $ref %s is neither added nor removed, and the client is told',
    async (form) => {
      const { id: value } = await createUser(scim);
      const { id } = await groupOf([{ value }]);
      const { id: other } = await groupOf();
      const $ref = form.replace('%s', 'https://example.com/api/scim/v2').replaceAll('88', value);
      for (const [group, op] of [
        [id, 'remove'],
        [other, 'add'],
      ] as const) {
        const { status, body } = await patch(group, { op, path: 'members', value: [{ value, $ref }] });
        expect([status, body.scimType]).toEqual([400, 'invalidValue']);
      }
      expect([await memberIds(id), await memberIds(other)]).toEqual([[value], []]);
    },
  );

  test('nor is the user removed in its place', async () => {
    const { id: userId } = await createUser(scim);
    const { id } = await groupOf([{ value: userId, type: 'User', $ref: `../Users/${userId}` }]);
    await patch(id, { op: 'remove', path: 'members', value: [{ value: userId, type: 'Group' }] });
    expect(await memberIds(id)).toEqual([userId]);
  });
});

describe('names are compared without case', () => {
  test('a group with the same name in other letters is refused, in POST, PUT and PATCH', async () => {
    const { displayName, id } = await groupOf();
    const displayNames = { schemas: [GROUP], displayName: displayName.toUpperCase() };
    const other = await groupOf();
    const rename = { op: 'replace', path: 'displayName', value: displayName.toUpperCase() };
    for (const { status, body } of [
      await scim('POST', '/Groups', displayNames),
      await scim('PUT', `/Groups/${other.id}`, displayNames),
      await patch(other.id, rename),
    ]) {
      expect([status, body.scimType]).toEqual([409, 'uniqueness']);
    }
    // The group itself can get other letters.
    expect((await patch(id, rename)).status).toBe(204);
    expect((await read(id)).displayName).toBe(displayName.toUpperCase());
  });

  test('of parallel calls that want one name exactly one gets it', async () => {
    const displayName = unique('same');
    const outcomes = await Promise.all(
      [displayName, displayName.toUpperCase(), displayName].map((name) =>
        scim('POST', '/Groups', { schemas: [GROUP], displayName: name }),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });
});

describe('versions and times', () => {
  test('the version changes with the name of a member, which the group shows', async () => {
    const { id: userId } = await createUser(scim);
    const { id } = await groupOf([{ value: userId }]);
    const { version } = (await read(id)).meta;
    const known = { 'if-none-match': version };
    expect((await scim('GET', `/Groups/${id}`, undefined, known)).status).toBe(304);
    const renamed = unique('renamed');
    await scim('PATCH', `/Users/${userId}`, patchOf({ op: 'replace', path: 'userName', value: renamed }));
    const { status, body } = await scim('GET', `/Groups/${id}`, undefined, known);
    expect([status, body.members[0].display]).toEqual([200, renamed]);
  });

  test('lastModified is the time of the last change of the name, the external id or the members', async () => {
    const { id: userId } = await createUser(scim);
    const group = await groupOf();
    expect(group.meta.lastModified).toBe(group.meta.created);
    const since = async (time: string) =>
      (await scim('GET', filtered('Groups', `id eq "${group.id}" and meta.lastModified gt "${time}"`))).body
        .totalResults;
    const members = [{ value: userId }];
    let last = group.meta.lastModified as string;
    for (const operation of [
      { op: 'replace', path: 'displayName', value: unique('renamed') },
      { op: 'replace', path: 'externalId', value: unique('external') },
      { op: 'add', path: 'members', value: members },
      { op: 'remove', path: 'members', value: members },
    ]) {
      await world.server.db.pool.query(
        "update user_groups set updated_at = updated_at - interval '1 minute' where id = $1",
        [group.id],
      );
      const before = (await read(group.id)).meta.lastModified as string;
      await patch(group.id, operation);
      const { lastModified } = (await read(group.id)).meta;
      expect(lastModified > before).toBe(true);
      expect(await since(before)).toBe(1);
      expect(await since(lastModified)).toBe(0);
      last = lastModified;
    }
    await patch(group.id, { op: 'remove', path: 'members', value: members });
    expect((await read(group.id)).meta.lastModified).toBe(last);
    expect((await scim('GET', '/Groups?sortBy=meta.lastModified&count=1')).status).toBe(200);
  });
});

describe('PATCH', () => {
  test('returns the group if the client asks for attributes', async () => {
    const { id: userId } = await createUser(scim);
    const { id } = await groupOf();
    const add = patchOf({ op: 'add', path: 'members', value: [{ value: userId }] });
    const some = await scim('PATCH', `/Groups/${id}?attributes=displayName,members.value`, add);
    const { displayName } = await read(id);
    expect([some.status, some.body]).toEqual([
      200,
      { schemas: [GROUP], id, displayName, members: [{ value: userId }] },
    ]);
    const other = await scim('PATCH', `/Groups/${id}?excludedAttributes=members`, add);
    expect([other.status, other.body.displayName, other.body.members]).toEqual([200, displayName, undefined]);
  });

  test('sends the new version with and without the group', async () => {
    const { id } = await groupOf();
    for (const query of ['', '?attributes=displayName']) {
      const rename = patchOf({ op: 'replace', path: 'displayName', value: unique('renamed') });
      const { status, headers } = await scim('PATCH', `/Groups/${id}${query}`, rename);
      expect([status, headers.get('etag')]).toEqual([query ? 200 : 204, (await read(id)).meta.version]);
    }
  });
});
