/** What every client of SCIM may rely on: names in any letter case, schemas, the groups of a user, and the published schemas. */
import { scimLimits } from '@oriel/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createUser,
  filtered,
  GROUP,
  patchOf,
  type ScimClient,
  scimClient,
  USER,
} from '../../../test/scim.ts';
import { createWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let scim: ScimClient;
beforeAll(async () => {
  world = await createWorld();
  scim = scimClient(world);
});
afterAll(() => world.stop());

const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

const groupOf = async (members: object[] = [], displayName = unique('group')) =>
  (await scim('POST', '/Groups', { schemas: [GROUP], displayName, members })).body;
const read = async (path: string) => (await scim('GET', path)).body;
const namesOf = (body: { Resources: { userName: string }[] }) =>
  body.Resources.map(({ userName }) => userName);

describe('names are taken in any letter case', () => {
  test('in a user and a group, and in their changes', async () => {
    const userName = unique('case');
    const user = await scim('POST', '/Users', {
      SCHEMAS: [USER.toUpperCase()],
      username: userName,
      DisplayName: 'Shown',
      NAME: { FAMILYNAME: 'Lovelace' },
      Emails: [{ VALUE: `${userName}@example.com`, Primary: true }],
    });
    expect([user.status, user.body]).toEqual([
      201,
      expect.objectContaining({ userName, displayName: 'Shown', name: { familyName: 'Lovelace' } }),
    ]);
    const { id } = user.body;
    const changed = await scim('PATCH', `/Users/${id}`, {
      Schemas: [PATCH],
      operations: [
        { OP: 'REPLACE', Path: 'TITLE', VALUE: 'Countess' },
        { oP: 'add', Value: { NICKNAME: 'ignored', Name: { GivenName: 'Ada' } } },
      ],
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      expect.objectContaining({
        title: 'Countess',
        name: { familyName: 'Lovelace', givenName: 'Ada' },
      }),
    ]);
    const replaced = await scim('PUT', `/Users/${id}`, { schemas: [USER], USERNAME: userName, TITLE: 'Dr' });
    expect([replaced.status, replaced.body.title]).toEqual([200, 'Dr']);
    const group = await scim('POST', '/Groups', {
      schemas: [GROUP],
      DISPLAYNAME: unique('group'),
      Members: [{ Value: id }],
    });
    expect([group.status, group.body.members]).toEqual([201, [expect.objectContaining({ value: id })]]);
    const found = await scim('POST', '/Users/.search', {
      schemas: [SEARCH],
      FILTER: `USERNAME eq "${userName}"`,
      Attributes: ['USERNAME'],
    });
    expect(namesOf(found.body)).toEqual([userName]);
  });

  const USERS = '/Users';
  test.each<[string, string, string, object]>([
    ['a user', 'POST', USERS, { schemas: [USER], userName: 'a@example.com', USERNAME: 'b@example.com' }],
    ['an ignored attribute', 'POST', USERS, { schemas: [USER], userName: 'a@example.com', x: 1, X: 2 }],
    [
      'a part of a name',
      'POST',
      USERS,
      { schemas: [USER], userName: 'a@example.com', name: { givenName: 'A', GIVENNAME: 'B' } },
    ],
    [
      'the operations of a PATCH',
      'PATCH',
      `${USERS}/1`,
      { schemas: [PATCH], Operations: [{ op: 'remove', path: 'title' }], operations: [] },
    ],
    ['an operation', 'PATCH', `${USERS}/1`, patchOf({ op: 'remove', OP: 'add', path: 'title', value: 'x' })],
    [
      'the value of an operation without a path',
      'PATCH',
      `${USERS}/1`,
      patchOf({ op: 'add', value: { active: true, ACTIVE: false } }),
    ],
  ])('a name twice in %s is a 400', async (_, method, path, body) => {
    const reply = await scim(method, path, body);
    expect([reply.status, reply.headers.get('x-error-code'), reply.body.scimType]).toEqual([
      400,
      'duplicate_key',
      'invalidSyntax',
    ]);
  });

  test('names that every object has are no attributes', async () => {
    const { status, body } = await scim(
      'POST',
      '/Users',
      `{"schemas":["${USER}"],"userName":"${unique('proto')}@example.com","constructor":{"x":1},"toString":2}`,
    );
    expect(status).toBe(201);
    expect(Object.hasOwn(body, 'constructor')).toBe(false);
    const escaped = await scim(
      'POST',
      '/Users',
      `{"\\u005f_proto__":{},"schemas":["${USER}"],"userName":"x"}`,
    );
    expect(escaped.status).toBe(400);
  });
});

describe('a body says which schema it has', () => {
  const name = unique('schemas');
  const user = { userName: `${name}@example.com` };
  const patch = { Operations: [{ op: 'replace', path: 'title', value: 'changed' }] };

  test.each<[string, string, string, object]>([
    ['a new user', 'POST', '/Users', user],
    ['a replaced user', 'PUT', '/Users/{id}', user],
    ['a changed user', 'PATCH', '/Users/{id}', patch],
    ['a search of users', 'POST', '/Users/.search', { count: 1 }],
    ['a new group', 'POST', '/Groups', { displayName: name }],
    ['a replaced group', 'PUT', '/Groups/{id}', { displayName: name }],
    ['a changed group', 'PATCH', '/Groups/{id}', { Operations: [{ op: 'remove', path: 'members' }] }],
    ['a search of groups', 'POST', '/Groups/.search', { count: 1 }],
  ])('%s', async (_, method, path, body) => {
    const before = path.startsWith('/Users') ? await createUser(scim) : await groupOf();
    const address = path.replace('{id}', before.id);
    for (const schemas of [undefined, null, [], ['urn:example:other'], USER, [7]]) {
      const reply = await scim(method, address, { ...body, schemas });
      expect([reply.status, reply.body.scimType]).toEqual([400, 'invalidValue']);
      expect(reply.body.detail).toContain('schemas');
    }
    const kind = path.startsWith('/Users') ? 'Users' : 'Groups';
    expect(await read(`/${kind}/${before.id}`)).toEqual(before);
  });
});

describe('the groups of a user', () => {
  test('are shown where the user is, and change with the members', async () => {
    const user = await createUser(scim);
    expect(user.groups).toEqual([]);
    const [first, second] = [await groupOf([{ value: user.id }]), await groupOf([{ value: user.id }])];
    await groupOf();
    const shown = [first, second].map(({ id, displayName, meta }) => ({
      value: id,
      $ref: meta.location,
      display: displayName,
      type: 'direct',
    }));
    const now = await read(`/Users/${user.id}`);
    expect(now.groups).toEqual(shown);
    // A client that keeps the user by its version must learn of the groups.
    expect(now.meta.version).not.toBe(user.meta.version);
    const list = await read(`${filtered('Users', `id eq "${user.id}"`)}&attributes=groups.display`);
    expect(list.Resources[0].groups).toEqual(shown.map(({ display }) => ({ display })));
    expect(await read(`/Users/${user.id}?excludedAttributes=groups`)).not.toHaveProperty('groups');
    await scim('PATCH', `/Groups/${first.id}`, patchOf({ op: 'remove', path: 'members' }));
    const changed = await scim(
      'PATCH',
      `/Users/${user.id}`,
      patchOf({ op: 'replace', path: 'title', value: 'x' }),
    );
    expect(changed.body.groups).toEqual([shown[1]]);
    // They are read-only: what a request says of them is ignored, or refused where it is all that it says.
    const put = await scim('PUT', `/Users/${user.id}`, { ...changed.body, groups: [] });
    expect(put.body.groups).toEqual([shown[1]]);
    const direct = await scim('PATCH', `/Users/${user.id}`, patchOf({ op: 'remove', path: 'groups' }));
    expect([direct.status, direct.body.scimType]).toEqual([400, 'mutability']);
  });

  test('can be filtered by', async () => {
    const title = unique('Grouped');
    const [ada, bob] = [await createUser(scim, { title }), await createUser(scim, { title })];
    const nobody = await createUser(scim, { title });
    const [both, one] = [
      await groupOf([{ value: ada.id }, { value: bob.id }]),
      await groupOf([{ value: bob.id }]),
    ];
    const found = async (filter: string) =>
      namesOf(await read(filtered('Users', `title eq "${title}" and (${filter})`)));
    const [a, b, n] = [ada, bob, nobody].map(({ userName }) => userName);
    expect(await found(`groups eq "${both.id}"`)).toEqual([a, b]);
    expect(await found(`groups.value eq "${one.id}"`)).toEqual([b]);
    expect(await found(`GROUPS[Display eq "${one.displayName.toUpperCase()}" and type eq "direct"]`)).toEqual(
      [b],
    );
    expect(await found(`groups eq "${both.id}" and not (groups eq "${one.id}")`)).toEqual([a]);
    expect(await found('groups pr')).toEqual([a, b]);
    expect(await found('groups eq null')).toEqual([n]);
    expect((await scim('GET', '/Users?sortBy=groups')).status).toBe(400);
  });

  test('are limited in a reply, and a filter of groups finds them all', async () => {
    const { id } = await createUser(scim);
    const count = scimLimits.listedGroups + 3;
    await world.server.db.pool.query(
      `with made as (insert into user_groups (name) select $1 || n from generate_series(1, $2::int) n returning id)
       insert into user_group_members (group_id, user_id) select id, $3 from made`,
      [unique('many'), count, id],
    );
    expect((await read(`/Users/${id}`)).groups).toHaveLength(scimLimits.listedGroups);
    const all = await read(
      `${filtered('Groups', `members eq "${id}"`)}&excludedAttributes=members&count=200`,
    );
    expect(all.totalResults).toBe(count);
  });
});

test('the published schemas say what is required, and what can be written', async () => {
  type Attribute = { name: string; subAttributes?: Attribute[]; required: boolean; mutability: string };
  const attribute = async (urn: string, name: string, part?: string) => {
    const { attributes } = (await read(`/Schemas/${urn}`)) as { attributes: Attribute[] };
    const found = attributes.find((each) => each.name === name);
    return part ? found?.subAttributes?.find((each) => each.name === part) : found;
  };
  expect(await attribute(USER, 'emails', 'value')).toMatchObject({ required: true });
  expect(await attribute(GROUP, 'members', 'value')).toMatchObject({
    required: true,
    mutability: 'immutable',
  });
  expect(await attribute(GROUP, 'members', '$ref')).toMatchObject({ mutability: 'immutable' });
  expect(await attribute(USER, 'groups')).toMatchObject({ mutability: 'readOnly', required: false });
});
