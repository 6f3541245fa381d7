/** SCIM over HTTP: bounds, errors, versions, and what two callers at once may do. */
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tryRandomly } from '../../../test/random-runs.ts';
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

const SEARCH = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';

let world: World;
let scim: ScimClient;
beforeAll(async () => {
  world = await createWorld();
  scim = scimClient(world);
});
afterAll(() => world.stop());

describe('filters', () => {
  /** Only users of this test have this title. */
  const title = unique('Filtered');
  let created: string;

  beforeAll(async () => {
    const barbara = await createUser(scim, {
      userName: 'BJensen',
      externalId: 'Ext-1',
      title,
      displayName: 'Babs Jensen',
      name: { formatted: 'Ms. Barbara J Jensen', familyName: "O'Malley", givenName: 'Barbara' },
      emails: [{ value: 'bjensen@example.com', type: 'work', primary: true }],
    });
    created = barbara.meta.created;
    const john = await createUser(scim, {
      userName: 'jsmith',
      externalId: 'ext-1',
      title,
      emails: [{ value: 'jsmith@example.org' }],
    });
    await scim('PATCH', `/Users/${john.id}`, patchOf({ op: 'replace', path: 'active', value: false }));
  });

  const found = async (filter: string) => {
    const { status, body } = await scim('GET', filtered('Users', `(${filter}) and title eq "${title}"`));
    expect([status, body.detail]).toEqual([200, undefined]);
    expect(body.totalResults).toBe(body.Resources.length);
    return body.Resources.map(({ userName }: { userName: string }) => userName);
  };

  const BOTH = ['BJensen', 'jsmith'];
  test.each<[string, string[]]>([
    ['userName eq "bjensen"', ['BJensen']],
    ['userName ne "bjensen"', ['jsmith']],
    ['USERNAME EQ "BJENSEN"', ['BJensen']],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "J"', ['jsmith']],
    ['userName ew "SMITH"', ['jsmith']],
    ['userName co "_"', []],
    ['userName gt "c"', ['jsmith']],
    ['userName le "BJENSEN"', ['BJensen']],
    [`name.familyName co "o'malley"`, ['BJensen']],
    ['name.familyName ne "x"', BOTH],
    ['name.familyName eq null', ['jsmith']],
    ['name pr', ['BJensen']],
    ['not (name.familyName eq "x")', BOTH],
    ['not (displayName pr)', ['jsmith']],
    ['externalId eq "ext-1"', ['jsmith']],
    ['active eq true', ['BJensen']],
    ['active eq "False"', ['jsmith']],
    ['emails co "example.com"', ['BJensen']],
    ['emails.value eq "JSMITH@example.org"', ['jsmith']],
    ['emails[type eq "work" and value co "@example.com"]', ['BJensen']],
    ['emails[type eq "work"].value eq "jsmith@example.org"', ['jsmith']],
    ['emails[type eq "home"]', []],
    ['userType eq "Employee"', []],
    ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.net")', ['jsmith']],
    ['ims[type eq "xmpp" and value co "@foo.com"] or active eq true', ['BJensen']],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department pr', []],
    ['schemas eq "urn:ietf:params:scim:schemas:core:2.0:User"', BOTH],
    ['meta.resourceType eq "User" and meta.lastModified gt "2011-05-13T04:42:34Z"', BOTH],
    ['meta.lastModified lt "2011-05-13T04:42:34Z"', []],
    ['id eq "nobody"', []],
  ])('%s', async (filter, names) => {
    expect(await found(filter)).toEqual(names);
  });

  test('a time as it was shown is equal', async () => {
    expect(await found(`meta.created eq "${created}"`)).toEqual(['BJensen']);
  });

  test.each([
    'nonsense eq "x"',
    'constructor eq "x"',
    'constructor[a pr]',
    'emails[constructor pr]',
    'name.nonsense eq "x"',
    'name eq "x"',
    'active gt true',
    'active eq "perhaps"',
    'userName eq true',
    'userName gt null',
    'meta.created eq "yesterday"',
    'meta.created co "2011-05-13T04:42:34Z"',
    'title[value eq "x"]',
    `${'('.repeat(1000)}title pr${')'.repeat(1000)}`,
  ])('%.40s is refused', async (filter) => {
    const { status, body } = await scim('GET', filtered('Users', filter));
    expect([status, body.scimType]).toEqual([400, 'invalidFilter']);
  });

  test('of any form never break the server', async () => {
    const word = fc.constantFrom(
      ...[
        'userName',
        'emails',
        'id',
        'name',
        'active',
        'meta.created',
        'members',
        'displayName',
        '.value',
        'urn:a:b',
      ],
      ...['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'le', 'pr', 'and', 'or', 'not', '(', ')', '[', ']'],
      ...[
        '"x"',
        '"%_\\\\"',
        '"＼"',
        '"\\ud83d\\ude00"',
        '"2011-05-13T04:42:34Z"',
        'true',
        'null',
        '12',
        '1e999',
      ],
    );
    const condition = fc
      .tuple(
        fc.constantFrom(
          'userName',
          'emails',
          'id',
          'active',
          'displayName',
          'members.value',
          'meta.created',
          'title',
        ),
        fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'),
        fc.oneof(
          fc.string().map((text) => JSON.stringify(text)),
          fc.constantFrom('true', 'null', '12', '"7"'),
        ),
      )
      .map((parts) => parts.join(' '));
    const filter = fc.oneof(
      fc.array(word, { maxLength: 12 }).map((words) => words.join(' ')),
      fc.array(condition, { minLength: 1, maxLength: 3 }).map((conditions) => conditions.join(' or ')),
      fc.string(),
    );
    await tryRandomly(
      fc.asyncProperty(filter, fc.constantFrom('Users', 'Groups'), async (text, list) => {
        const { status } = await scim('POST', `/${list}/.search`, {
          schemas: [SEARCH],
          filter: text,
          count: 1,
        });
        expect([200, 400]).toContain(status);
      }),
      200,
    );
  });
});

describe('errors have the form of SCIM', () => {
  const error = (status: number, other: object = {}) => ({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    detail: expect.any(String),
    ...other,
  });

  test.each<[number, string, string, unknown, object]>([
    [404, 'GET', '/Users/nobody', undefined, {}],
    [404, 'GET', '/Users/9007199254740991', undefined, {}],
    [404, 'GET', '/Groups/0', undefined, {}],
    [404, 'GET', '/Nothing', undefined, {}],
    [404, 'GET', '/Schemas/none', undefined, {}],
    [405, 'PATCH', '/Schemas', undefined, {}],
    [400, 'POST', '/Users', '{', { scimType: 'invalidSyntax' }],
    [400, 'POST', '/Users', {}, { scimType: 'invalidValue' }],
    [400, 'POST', '/Users', { schemas: [USER], userName: 'no-email' }, { scimType: 'invalidValue' }],
    [
      400,
      'POST',
      '/Groups',
      { schemas: [GROUP], displayName: 'x', members: [{ value: 'nobody' }] },
      { scimType: 'invalidValue' },
    ],
    [413, 'POST', '/Users', { userName: 'x'.repeat(300_000) }, {}],
    [501, 'POST', '/Bulk', { Operations: [] }, {}],
    [501, 'POST', '/.search', { count: 1 }, {}],
  ])('%i %s %s', async (status, method, path, body, other) => {
    const reply = await scim(method, path, body);
    expect([reply.status, reply.body]).toEqual([status, error(status, other)]);
    expect(reply.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
  });

  test('401 without a credential, and 403 for who is not an admin', async () => {
    const wrong = await scimClient(world, 'Bearer sk-wrong')('GET', '/Users');
    expect([wrong.status, wrong.body]).toEqual([401, error(401)]);
    const { apiKey } = await world.person({ roles: ['Developer'] });
    const refused = await scimClient(world, `Bearer ${apiKey}`)('GET', '/Users');
    expect([refused.status, refused.body]).toEqual([403, error(403)]);
  });

  test('a PATCH of 10,000 operations is refused, and changes nothing', async () => {
    const { id, title } = await createUser(scim, { title: 'before' });
    const operations = Array.from({ length: 10_000 }, () => ({ op: 'add', path: 'title', value: 'x' }));
    const { status, body } = await scim('PATCH', `/Groups/1`, patchOf(...operations));
    expect([status, body.detail]).toEqual([400, expect.stringContaining('at most 1000')]);
    const few = operations.slice(0, 1001);
    const user = await scim('PATCH', `/Users/${id}`, patchOf(...few));
    expect([user.status, user.body.detail]).toEqual([400, expect.stringContaining('at most 1000')]);
    expect((await scim('GET', `/Users/${id}`)).body.title).toBe(title);
  });

  test('a PATCH that adds 60,000 emails and searches them 900 times is refused, and changes nothing', async () => {
    const { id, title } = await createUser(scim, { title: 'before' });
    const { status, body } = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOf(
        { op: 'replace', path: 'title', value: 'after' },
        { op: 'add', path: 'emails', value: Array.from({ length: 60_000 }, () => ({})) },
        ...Array.from({ length: 900 }, () => ({ op: 'remove', path: 'emails[a eq 1]' })),
      ),
    );
    expect([status, body.detail]).toEqual([400, expect.stringContaining('at most 100')]);
    expect((await scim('GET', `/Users/${id}`)).body.title).toBe(title);
  });

  test('a PATCH names a limited number of members in all its operations together', async () => {
    const { body: group } = await scim('POST', '/Groups', { schemas: [GROUP], displayName: unique('group') });
    const members = (from: number) =>
      Array.from({ length: 6000 }, (_, i) => ({ value: String(1_000_000 + from + i) }));
    const { status, body } = await scim(
      'PATCH',
      `/Groups/${group.id}`,
      patchOf(
        { op: 'remove', path: 'members', value: members(0) },
        { op: 'remove', path: 'members', value: members(6000) },
      ),
    );
    expect([status, body.detail]).toEqual([400, expect.stringContaining('at most 10000')]);
  });

  const emailed = unique('emailed');
  test.each<[string, object, string]>([
    ['remove emails', { op: 'remove', path: 'emails' }, 'mutability'],
    ['remove the only email', { op: 'remove', path: 'emails[type eq "work"]' }, 'mutability'],
    ['replace emails by none', { op: 'replace', path: 'emails', value: [] }, 'mutability'],
    ['a path that is no attribute', { op: 'replace', path: 'actve', value: false }, 'invalidPath'],
    ['remove active', { op: 'remove', path: 'active' }, 'mutability'],
    [
      'replace an email that is not there',
      { op: 'replace', path: 'emails[type eq "other"].value', value: `${emailed}@example.net` },
      'noTarget',
    ],
  ])('a PATCH that cannot be made is no 200: %s', async (_, operation, scimType) => {
    const user = await createUser(scim, { userName: `${unique(emailed)}@example.com` });
    const { status, body } = await scim('PATCH', `/Users/${user.id}`, patchOf(operation));
    expect([status, body.scimType]).toEqual([400, scimType]);
    expect((await scim('GET', `/Users/${user.id}`)).body).toEqual(user);
  });

  test('messages use the words of SCIM', async () => {
    const userName = `${unique('taken')}@example.com`;
    await createUser(scim, { userName, emails: undefined });
    const again = await scim('POST', '/Users', { schemas: [USER], userName });
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining('`userName`')]);
    const noEmail = await scim('POST', '/Users', { schemas: [USER], userName: 'bjensen-without' });
    expect([noEmail.status, noEmail.body.detail]).toEqual([
      400,
      expect.stringMatching(/^emails: is required/),
    ]);
    const mixed = await scim('POST', '/Users', {
      schemas: [USER],
      userName: 'p\u0430ul',
      emails: [{ value: 'paul@example.com' }],
    });
    expect([mixed.status, mixed.body.detail]).toEqual([
      400,
      expect.stringMatching(/^userName: must not mix/),
    ]);
    const { id: deploymentId } = await world.deployment();
    const { userId, apiKey, client } = await world.person({ roles: ['Admin'] });
    await client.createReport({ deploymentId, body: {} });
    const own = await scimClient(world, `Bearer ${apiKey}`)('DELETE', `/Users/${userId}`);
    expect([own.status, own.body.detail]).toEqual([409, expect.not.stringContaining('newOwnerId')]);
  });

  test.each(['/Schemas', '/ResourceTypes', '/ServiceProviderConfig'])('%s takes no filter', async (path) => {
    const { status, body } = await scim('GET', `${path}?filter=id%20pr`);
    expect([status, body]).toEqual([403, error(403)]);
  });

  test('a PATCH whose last operation fails changes nothing', async () => {
    const { id } = await createUser(scim, { title: 'before' });
    const { status } = await scim(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'title', value: 'x' }, { op: 'replace', path: 'userName', value: '' }),
    );
    expect(status).toBe(400);
    expect((await scim('GET', `/Users/${id}`)).body.title).toBe('before');
  });
});

describe('versions', () => {
  test('of two writers with the same version one is refused', async () => {
    const { id, meta } = await createUser(scim);
    const outcomes = await Promise.all(
      ['a', 'b'].map((value) =>
        scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'title', value }), {
          'if-match': meta.version,
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 412]);
  });

  test('a reader with the current version gets a 304', async () => {
    const { id } = await createUser(scim);
    const read = await scim('GET', `/Users/${id}`);
    expect(read.headers.get('etag')).toBe(read.body.meta.version);
    const known = { 'if-none-match': read.body.meta.version };
    expect((await scim('GET', `/Users/${id}`, undefined, known)).status).toBe(304);
    // As a proxy sends it that has compressed the reply.
    const weak = { 'if-none-match': `"other", W/${read.body.meta.version}` };
    const again = await scim('GET', `/Users/${id}`, undefined, weak);
    expect([again.status, again.headers.get('etag'), again.body]).toEqual([
      304,
      read.body.meta.version,
      undefined,
    ]);
    await scim('PATCH', `/Users/${id}`, patchOf({ op: 'add', path: 'title', value: 'new' }));
    expect((await scim('GET', `/Users/${id}`, undefined, known)).status).toBe(200);
  });

  test('the version of a group changes with its members', async () => {
    const { id: userId } = await createUser(scim);
    const { body: group } = await scim('POST', '/Groups', { schemas: [GROUP], displayName: unique('group') });
    const known = { 'if-match': group.meta.version };
    const add = patchOf({ op: 'add', path: 'members', value: [{ value: userId }] });
    expect((await scim('PATCH', `/Groups/${group.id}`, add, known)).status).toBe(204);
    expect((await scim('DELETE', `/Groups/${group.id}`, undefined, known)).status).toBe(412);
  });
});

test('of parallel calls that want one user name exactly one gets it', async () => {
  const userName = `${unique('same')}@example.com`;
  const outcomes = await Promise.all(
    [userName, userName.toUpperCase(), userName].map((name) =>
      scim('POST', '/Users', { schemas: [USER], userName: name }),
    ),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  const [refused] = outcomes.filter(({ status }) => status === 409);
  expect(refused!.body.scimType).toBe('uniqueness');
});

describe('pages', () => {
  const title = unique('Paged');
  const ids: string[] = [];
  beforeAll(async () => {
    for (const letter of ['c', 'a', 'b']) {
      const userName = unique(letter);
      const emails = [{ value: `${userName}@example.com` }];
      ids.push((await createUser(scim, { title, userName, emails })).id);
    }
  });
  const page = async (query: string) =>
    (await scim('GET', `${filtered('Users', `title eq "${title}"`)}&${query}`)).body;

  test('have a start, a size and the number of all', async () => {
    expect(await page('startIndex=2&count=1')).toMatchObject({
      totalResults: 3,
      startIndex: 2,
      itemsPerPage: 1,
      Resources: [{ id: ids[1] }],
    });
    expect(await page('startIndex=-5&count=-1')).toMatchObject({
      totalResults: 3,
      startIndex: 1,
      Resources: [],
    });
    expect(await page('startIndex=9')).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] });
  });

  test('are sorted by an attribute', async () => {
    const order = async (query: string) => (await page(query)).Resources.map(({ id }: { id: string }) => id);
    for (const name of ['userName', 'emails.value'])
      expect(await order(`sortBy=${name}`)).toEqual([ids[1], ids[2], ids[0]]);
    for (const name of ['emails.primary', 'active', 'meta.created', 'schemas', 'nickName'])
      expect(await order(`sortBy=${name}`)).toEqual(ids);
    expect(await order('sortBy=id&sortOrder=descending')).toEqual([...ids].reverse());
    expect((await scim('GET', '/Groups?sortBy=members')).status).toBe(400);
  });

  test('show only the attributes that were asked for', async () => {
    const [first] = (await page('attributes=userName,emails.value,meta.location')).Resources;
    expect(Object.keys(first).sort()).toEqual(['emails', 'id', 'meta', 'schemas', 'userName']);
    expect(Object.keys(first.emails[0])).toEqual(['value']);
    const [other] = (await page('excludedAttributes=emails,meta.version')).Resources;
    expect(other).not.toHaveProperty('emails');
    expect(Object.keys(other.meta)).not.toContain('version');
  });

  test('are also answered to a search by POST', async () => {
    const { body } = await scim('POST', '/Users/.search', {
      schemas: [SEARCH],
      filter: `title eq "${title}"`,
      attributes: ['userName'],
      count: 2,
    });
    expect(body).toMatchObject({ totalResults: 3, itemsPerPage: 2 });
  });
});

test('the content of a deleted user goes to the caller', async () => {
  const { id: deploymentId } = await world.deployment();
  const { userId, client } = await world.person({ roles: ['Explorer'] });
  const report = await client.createReport({ deploymentId, body: {} });
  expect((await scim('DELETE', `/Users/${userId}`)).status).toBe(204);
  expect((await scim('GET', `/Users/${userId}`)).status).toBe(404);
  const { id } = await world.admin.getMe();
  const { userId: owner } = await world.admin.getReport({ deploymentId, reportId: report.id });
  expect(owner).toBe(id);
});

test('provisioning a user drops nothing from caches that concerns others', async () => {
  const listener = new pg.Client(world.databaseUrl);
  await listener.connect();
  const heard: (string | undefined)[] = [];
  listener.on('notification', ({ payload }) => heard.push(payload));
  await listener.query('listen oriel_credentials');
  const { id } = await createUser(scim, { displayName: 'New', title: 'x' });
  await scim('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'title', value: 'y' }));
  await listener.query("select pg_notify('oriel_credentials', 'end of test')");
  await expect.poll(() => heard).toContain('end of test');
  await listener.end();
  expect(heard).toContain(`user:${id}`);
  // Jobs of other tests may name other users, but nothing may name everybody.
  expect(heard.filter((payload) => !/^user:\d+$/.test(payload!))).toEqual(['end of test']);
});

test('a request that changes nothing writes nothing', async () => {
  const user = await createUser(scim, { title: 'same', name: { familyName: 'Same' } });
  const { body } = await scim('PUT', `/Users/${user.id}`, user);
  expect(body).toEqual(user);
});

test('schemas, types and configuration are described', async () => {
  expect((await scim('GET', '/ServiceProviderConfig')).body).toMatchObject({
    patch: { supported: true },
    bulk: { supported: false },
    etag: { supported: true },
  });
  const { body: schemas } = await scim('GET', '/Schemas');
  expect(schemas.Resources.map(({ id }: { id: string }) => id)).toEqual([USER, GROUP]);
  expect((await scim('GET', `/Schemas/${USER}`)).body).toEqual(schemas.Resources[0]);
  const { body: types } = await scim('GET', '/ResourceTypes');
  expect((await scim('GET', '/ResourceTypes/Group')).body).toEqual(types.Resources[1]);
});
