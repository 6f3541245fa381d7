/** Whole runs with the requests that Okta and Microsoft Entra ID send, as they document them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ENTERPRISE,
  entraUser,
  filtered,
  GROUP,
  oktaUser,
  patchOf,
  type ScimClient,
  scimClient,
  searchFor,
} from '../../../test/scim.ts';
import { ADMIN_KEY, createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let scim: ScimClient;
beforeAll(async () => {
  world = await createWorld();
  scim = scimClient(world, `Bearer ${ADMIN_KEY}`);
});
afterAll(() => world.stop());

const newMember = async () => String((await world.person()).userId);
const memberIds = async (groupId: string) =>
  ((await scim('GET', `/Groups/${groupId}`)).body.members as { value: string }[]).map(({ value }) => value);

describe('Okta', () => {
  const userName = `${unique('okta')}@example.com`;
  const sent = oktaUser(userName);

  test('creates, finds, changes, deactivates and activates a user', async () => {
    expect((await scim('GET', '/Users?startIndex=1&count=2')).status).toBe(200);
    const search = searchFor(userName);
    expect((await scim('GET', search)).body).toMatchObject({ totalResults: 0, Resources: [] });

    const created = await scim('POST', '/Users', sent);
    const { id } = created.body;
    expect([created.status, created.headers.get('location')]).toEqual([201, created.body.meta.location]);
    const { locale: _locale, groups: _groups, password: _password, ...kept } = sent;
    expect(created.body).toMatchObject({ ...kept, id });
    expect((await scim('GET', search)).body).toMatchObject({ totalResults: 1, Resources: [{ id }] });
    const twice = await scim('POST', '/Users', sent);
    expect([twice.status, twice.body.scimType]).toEqual([409, 'uniqueness']);
    expect(await world.admin.getUser({ id: Number(id) })).toMatchObject({
      username: userName,
      firstName: 'Test',
      roles: ['Viewer'],
    });

    const changed = {
      ...sent,
      id,
      name: { givenName: 'Another', middleName: 'Excited', familyName: 'User' },
    };
    expect((await scim('PUT', `/Users/${id}`, changed)).body).toMatchObject({
      name: changed.name,
      active: true,
    });

    const off = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: false } }));
    expect([off.status, off.body.active]).toEqual([200, false]);
    expect(await world.admin.getUser({ id: Number(id) })).toMatchObject({ isDeactivated: true });
    const on = await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', value: { active: true } }));
    expect(on.body.active).toBe(true);
  });

  test('creates a group, and changes its name and members', async () => {
    const [a, b, c] = [await newMember(), await newMember(), await newMember()];
    const displayName = unique('Okta group');
    const { status, body } = await scim('POST', '/Groups', { schemas: [GROUP], displayName, members: [] });
    expect([status, body.members]).toEqual([201, []]);
    const { id } = body;
    expect((await scim('GET', '/Groups?startIndex=1&count=100')).status).toBe(200);

    const renamed = unique('Okta renamed');
    await scim('PATCH', `/Groups/${id}`, patchOf({ op: 'replace', value: { id, displayName: renamed } }));
    expect((await scim('GET', `/Groups/${id}`)).body.displayName).toBe(renamed);

    const added = await scim(
      'PATCH',
      `/Groups/${id}`,
      patchOf(
        { op: 'remove', path: `members[value eq "${c}"]` },
        {
          op: 'add',
          path: 'members',
          value: [
            { value: a, display: 'first' },
            { value: b, display: 'second' },
          ],
        },
      ),
    );
    expect([added.status, await memberIds(id)]).toEqual([204, [a, b]]);
    await scim('PATCH', `/Groups/${id}`, patchOf({ op: 'remove', path: `members[value eq "${a}"]` }));
    expect(await memberIds(id)).toEqual([b]);
    await scim('PATCH', `/Groups/${id}`, patchOf({ op: 'replace', path: 'members', value: [{ value: c }] }));
    expect(await memberIds(id)).toEqual([c]);
    const put = { schemas: [GROUP], id, displayName: renamed, members: [{ value: a }, { value: c }] };
    expect((await scim('PUT', `/Groups/${id}`, put)).status).toBe(200);
    expect(await memberIds(id)).toEqual([a, c]);
    expect((await scim('DELETE', `/Groups/${id}`)).status).toBe(204);
    expect((await scim('GET', `/Groups/${id}`)).status).toBe(404);
  });
});

describe('Entra ID', () => {
  test('creates, finds, changes, deactivates and deletes a user', async () => {
    const userName = unique('Test_User');
    const sent = entraUser(userName);
    const { status, body } = await scim('POST', '/Users', sent);
    expect(status).toBe(201);
    const { id } = body;
    const byExternalId = filtered('Users', `externalId eq "${sent.externalId}"`);
    expect((await scim('GET', byExternalId)).body).toMatchObject({ totalResults: 1, Resources: [{ id }] });

    const changed = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOf(
        { op: 'Replace', path: 'emails[type eq "work"].value', value: `updated.${userName}@testuser.com` },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
        { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Support' },
        { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '555-0100' },
      ),
    );
    expect(changed.body).toMatchObject({
      emails: [{ value: `updated.${userName}@testuser.com`, primary: true }],
      name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
    });

    const renamed = unique('renamed');
    const name = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'Replace', path: 'userName', value: renamed }),
    );
    expect(name.body.userName).toBe(renamed);
    const off = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'Replace', path: 'active', value: 'False' }),
    );
    expect(off.body.active).toBe(false);
    expect((await scim('DELETE', `/Users/${id}`)).status).toBe(204);
    expect((await scim('GET', byExternalId)).body.totalResults).toBe(0);
  });

  test('creates a group, and adds and removes members', async () => {
    const [a, b] = [await newMember(), await newMember()];
    const externalId = unique('8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159');
    const displayName = unique('Entra group');
    const { body } = await scim('POST', '/Groups', {
      schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
      externalId,
      displayName,
      meta: { resourceType: 'Group' },
    });
    const { id } = body;
    const found = await scim(
      'GET',
      `/Groups?excludedAttributes=members&filter=${encodeURIComponent(`displayName eq "${displayName.toUpperCase()}"`)}`,
    );
    expect(found.body).toMatchObject({ totalResults: 1, Resources: [{ id, externalId }] });
    expect(found.body.Resources[0]).not.toHaveProperty('members');
    expect((await scim('GET', filtered('Groups', `externalId eq "${externalId}"`))).body.totalResults).toBe(
      1,
    );

    const patch = (...operations: object[]) => scim('PATCH', `/Groups/${id}`, patchOf(...operations));
    const add = {
      op: 'Add',
      path: 'members',
      value: [
        { $ref: null, value: a },
        { $ref: null, value: b },
      ],
    };
    expect((await patch(add)).status).toBe(204);
    expect(await memberIds(id)).toEqual([a, b]);
    const isMember = filtered('Groups', `id eq "${id}" and members eq "${a}"`);
    expect((await scim('GET', isMember)).body.totalResults).toBe(1);
    // A remove with a value removes only that member.
    await patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: a }] });
    expect(await memberIds(id)).toEqual([b]);
    expect((await scim('GET', isMember)).body.totalResults).toBe(0);
    await patch({ op: 'Replace', path: 'displayName', value: unique('Entra renamed') });
    const broken = await patch(
      { op: 'Remove', path: `members[value eq "${b}"]` },
      { op: 'Add', path: 'members', value: [{ value: '9007199254740991' }] },
    );
    expect([broken.status, await memberIds(id)]).toEqual([400, [b]]);
    await patch({ op: 'Remove', path: 'members' });
    expect(await memberIds(id)).toEqual([]);
    expect((await scim('DELETE', `/Groups/${id}`)).status).toBe(204);
  });
});
