/**
 * Compares the generation of embed sessions with a model of the rules. For random calls in random order, the dry run and
 * the reply must match the model, and the stored data must be the data of the model.
 */
import { OrielError } from '@oriel/client';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tryRandomly } from './random-runs.ts';
import {
  type AttributeType,
  type Catalogue,
  defaultOf,
  type Effects,
  type Holdings,
  type Request,
  SessionModel,
  type Value,
} from './session-model.ts';
import { createOwnWorld, type Person, type World } from './world.ts';

const MAX_EXTERNAL_USERS = 6;
const NO_DEPLOYMENT = 1_000_000;

let world: World;
let scoped: Person;
/** Only the first deployment is within the scope of the scoped key. */
let deploymentIds: number[];
let internalUser: { id: number; username: string; email: string };

/** Names of properties that every JavaScript object has. */
const GROUPS = ['g1', 'g2', 'g3', '__proto__'];
const ATTRIBUTES: [string, AttributeType, string | null][] = [
  ['s', 'string', 'by default'],
  ['n', 'number', null],
  ['b', 'boolean', null],
  ['sa', 'string_array', '["by","default"]'],
  ['na', 'number_array', null],
  ['__proto__', 'string', null],
  ['constructor', 'number', '7'],
];

beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_MAX_EXTERNAL_USERS: String(MAX_EXTERNAL_USERS) } });
  const { pool } = world.server.db;
  await pool.query('update tenant_settings set use_creator_mode = true');
  for (const name of GROUPS) await world.admin.createUserGroup({ body: { name } });
  for (const attribute of ATTRIBUTES)
    await pool.query(
      'insert into user_attributes (name, type, default_value) values ($1, $2, $3)',
      attribute,
    );
  deploymentIds = [(await world.deployment()).id, (await world.deployment()).id];
  scoped = await world.person({ deploymentIds: deploymentIds.slice(0, 1) });
  const create = (username: string) =>
    world.admin.createUser({ body: { username, email: `${username}@example.com`, firstName: 'Ina' } });
  internalUser = (await create('ina')) as typeof internalUser;
  const { items } = await world.admin.listUserGroups();
  await world.admin.addUserGroupMembers({ id: items[0]!.id, body: { userIds: [internalUser.id] } });
  const { id } = await create('gone');
  await world.admin.updateUser({ id, body: { isDeactivated: true } });
});
afterAll(() => world.stop());

async function forgetEverybody() {
  const { pool } = world.server.db;
  for (const table of ['users', 'user_groups', 'user_attributes'])
    await pool.query(`delete from ${table} where embed_tenant is not null`);
  await pool.query('delete from embed_tenants');
}

const account = (): SessionModel['account'] => ({
  tenantName: 'oriel',
  maxExternalUsers: MAX_EXTERNAL_USERS,
  deploymentIds: new Set(deploymentIds),
  internalUsers: new Set(['ina']),
  catalogue: {
    groups: new Map(GROUPS.map((name) => [name, null])),
    attributes: new Map(
      ATTRIBUTES.map(([name, type, defaultValue]) => [
        name,
        { type, displayName: null, defaultValue, description: null },
      ]),
    ),
  },
});

const text = fc.constantFrom('', 'text', 'ä "quoted" \\ back', '😀', 'null', '5');
const number = fc.constantFrom(0, 1, -1.5, 0.1, 1e15, 5e-324, Number.MAX_SAFE_INTEGER);
const VALUES: Record<AttributeType, fc.Arbitrary<Value>> = {
  string: text,
  number,
  boolean: fc.boolean(),
  string_array: fc.array(text, { maxLength: 3 }),
  number_array: fc.array(number, { maxLength: 3 }),
};
const anyValue = fc.oneof(...Object.values(VALUES), fc.constant<Value>([1, 'mixed'] as unknown as string[]));
const valueFor = (type: AttributeType) =>
  fc.oneof(
    { weight: 10, arbitrary: VALUES[type] },
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: anyValue },
  );

const given = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) =>
  fc.oneof({ weight: freq, arbitrary }, { weight: 1, arbitrary: fc.constantFrom(undefined, null) });
const seldom = <T>(arbitrary: fc.Arbitrary<T>, ...wrong: T[]) =>
  fc.oneof({ weight: 30, arbitrary }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
/** Mostly without repeated names. */
const named = <T extends { name: string }>(item: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.uniqueArray(item, { maxLength: 4, selector: ({ name }) => name }) },
    { weight: 1, arbitrary: fc.array(item, { maxLength: 4 }) },
  );

const userAttributes = named(
  fc
    .constantFrom(...ATTRIBUTES)
    .chain(([name, type]) =>
      fc.record({ name: seldom(fc.constant(name), 'unknown'), value: valueFor(type) }),
    ),
);
const TENANT_GROUPS = ['g1', 'g2', 't1', '__proto__'];
const groupDefinitions = named(
  fc.record({ name: fc.constantFrom(...TENANT_GROUPS), description: given(text) }),
);
const attributeDefinitions = named(
  fc.constantFrom(...ATTRIBUTES.filter(([, type]) => type !== 'boolean')).chain(([name, type]) =>
    fc.record({
      name: fc.constant(name),
      type: seldom(fc.constant(type), 'number', 'string_array'),
      displayName: given(text),
      defaultValue: given(
        seldom(
          type === 'string' ? text : VALUES[type].map((value) => JSON.stringify(value)),
          '',
          '[1,"a"]',
          '{',
        ),
        1,
      ),
      description: given(text),
    }),
  ),
);
const groupsOf = (names: string[]) =>
  fc.array(seldom(fc.constantFrom(...names), 'unknown'), { maxLength: 3 });

const common = {
  deployment: seldom(fc.constantFrom(0, 0, 0, 1), 2),
  withScopedKey: fc.nat({ max: 9 }).map((n) => n === 0),
  embedTenantName: given(fc.constantFrom('oriel', 'tenant-a', 'tenant-a', 'tenant-b'), 9),
  settings: given(fc.record({ showDashboardChat: given(fc.boolean()) }), 1),
};
const external = {
  ...common,
  externalId: seldom(
    fc.constantFrom<(string | null)[]>('ada', 'ada', 'ada', 'bob', 'cleo 3', '__proto__'),
    'Ada',
    ' ada',
    'ada ',
    null,
  ),
  email: given(fc.constantFrom('a@example.com', 'b@example.com'), 1),
  userProfile: given(
    fc.record({
      displayName: given(text),
      picture: given(fc.constantFrom('https://example.com/1.png', 'http://example.com/2')),
    }),
    1,
  ),
  userAttributes: given(userAttributes),
  securityContext: given(fc.constantFrom({}, { a: [{ b: null }] }), 1),
  embedTenantProfile: given(fc.record({ displayName: given(text) }), 1),
};
const readOnly = fc.record({
  ...external,
  groups: given(groupsOf(GROUPS)),
  creatorMode: fc.constantFrom(undefined, null, false),
});
const creator = fc.record({
  ...external,
  creatorMode: seldom(fc.constant(true), false),
  groups: given(groupsOf(TENANT_GROUPS)),
  tenantGroups: given(groupsOf(TENANT_GROUPS), 1),
  groupDefinitions: given(groupDefinitions),
  tenantGroupDefinitions: given(groupDefinitions),
  userAttributeDefinitions: given(attributeDefinitions),
});
const internal = fc.record({
  ...common,
  internalId: fc.constantFrom('ina', 'ina', 'ina', 'gone', 'nobody'),
  creatorMode: fc.constantFrom(undefined, true),
  email: given(fc.constant('other@example.com')),
  groups: seldom(fc.constant(undefined), []),
  userProfile: seldom(fc.constant(undefined), {}),
  externalId: seldom<string | undefined>(fc.constant(undefined), 'ada'),
});
const commands = fc.oneof(
  { weight: 5, arbitrary: readOnly },
  { weight: 8, arbitrary: creator },
  { weight: 1, arbitrary: internal },
);
type Command = typeof commands extends fc.Arbitrary<infer T> ? T : never;

const VALUE_OF: Record<AttributeType, Value> = {
  string: 'start',
  number: 1,
  boolean: true,
  string_array: ['start'],
  number_array: [1],
};
const DEFINED = ATTRIBUTES.filter(([, type]) => type !== 'boolean');
const ADA = { deployment: 0, withScopedKey: false, externalId: 'ada', embedTenantName: 'tenant-a' };
/** Every run starts with a tenant that has all definitions, and a viewer who has some groups and values of each kind. */
const START = [
  {
    ...ADA,
    userProfile: { displayName: 'Ada', picture: 'https://example.com/ada.png' },
    groups: GROUPS.slice(0, 2),
    userAttributes: ATTRIBUTES.map(([name, type]) => ({ name, value: VALUE_OF[type] })),
  },
  {
    ...ADA,
    creatorMode: true,
    groupDefinitions: TENANT_GROUPS.map((name) => ({ name })),
    tenantGroupDefinitions: TENANT_GROUPS.map((name) => ({ name, description: 'described' })),
    userAttributeDefinitions: DEFINED.map(([name, type, defaultValue]) => ({ name, type, defaultValue })),
    groups: TENANT_GROUPS.slice(0, 2),
    tenantGroups: TENANT_GROUPS.slice(1, 3),
    userAttributes: DEFINED.map(([name, type]) => ({ name, value: VALUE_OF[type] })),
  },
] as unknown as Command[];

const sorted = (names: Iterable<string>) => [...names].toSorted();

/** Each attribute of the catalogue, with the value that is used and its source. */
function effective(catalogue: Catalogue, holdings: Holdings, request: Request) {
  const inRequest = new Set(request.userAttributes?.map(({ name }) => name));
  return sorted(catalogue.attributes.keys()).map((name) => {
    const { type, defaultValue } = catalogue.attributes.get(name)!;
    const value = holdings.values.get(name);
    if (value !== undefined) return { name, value, source: inRequest.has(name) ? 'request' : 'stored' };
    if (defaultValue === null) return { name, value: null, source: 'none' };
    return { name, value: defaultOf(type, defaultValue), source: 'default' };
  });
}

class Run {
  private readonly model = new SessionModel(account());

  async execute({ deployment, withScopedKey, ...rest }: Command) {
    const request: Request = { deploymentId: deploymentIds[deployment] ?? NO_DEPLOYMENT, ...rest };
    const client = withScopedKey ? scoped.client : world.admin;
    const ask = () => client.generateSession({ body: request as never });
    const before = this.holdings(request);
    const rehearsal = await client.dryRunSession({ body: request as never });
    await this.compareState();
    const outcome = this.model.generate(request, withScopedKey ? new Set(deploymentIds.slice(0, 1)) : null);
    expect(rehearsal.ok, 'the dry run foresees it').toBe('effects' in outcome);
    if ('refusals' in outcome) {
      const refusals = [...outcome.refusals];
      const error = await ask().catch((refusal) => refusal);
      expect(error).toBeInstanceOf(OrielError);
      expect(refusals).toContain(error.code);
      expect(rehearsal.errors.map(({ code }) => code)).toEqual(expect.arrayContaining(refusals));
      await this.compareState();
      return;
    }
    this.compareRehearsal(rehearsal, request, before, outcome.effects);
    const { sessionId } = await ask();
    await this.compareState();
    await this.compareViewer(request, sessionId);
  }

  /** A copy for a later comparison. Internal users are in one group of the account. */
  private holdings(request: Request): Holdings {
    if (request.internalId == null) return structuredClone(this.model.holdingsOf(request));
    const inForce = request.creatorMode ? [] : GROUPS.slice(0, 1);
    return { groups: new Set(inForce), tenantGroups: new Set(), values: new Map() };
  }

  private compareRehearsal(rehearsal: object, request: Request, before: Holdings, effects: Effects) {
    const after = this.holdings(request);
    expect(rehearsal).toEqual({
      ok: true,
      errors: [],
      embedTenant: { name: this.model.tenantOf(request), created: effects.tenantCreated },
      user: {
        externalId: request.externalId ?? null,
        created: effects.userCreated,
        changed: effects.changed,
      },
      groups: { before: sorted(before.groups), after: sorted(after.groups) },
      tenantGroups: { before: sorted(before.tenantGroups), after: sorted(after.tenantGroups) },
      definitions: {
        created: inAnyOrder(effects.created),
        updated: inAnyOrder(effects.updated),
      },
      userAttributes: effective(this.model.catalogueOf(request), after, request),
    });
  }

  private async compareViewer(request: Request, sessionId: string) {
    const { token } = await world.client().postTokenBySessionId({ body: { sessionId } });
    const response = await world.raw('GET', '/api/v1/embed/session', {
      headers: { authorization: `Bearer ${token}` },
    });
    const shown = (await response.json()) as { userAttributes: Record<string, Value> };
    const holdings = this.holdings(request);
    const user = this.model.users.get(this.model.userKey(request));
    const { id, username, email } = internalUser;
    expect({ ...shown, userAttributes: Object.entries(shown.userAttributes).toSorted() }).toEqual({
      deploymentId: request.deploymentId,
      embedTenantName: this.model.tenantOf(request),
      creatorMode: request.creatorMode ?? false,
      user:
        request.internalId == null
          ? {
              id: expect.any(Number),
              externalId: request.externalId,
              username: request.externalId,
              email: user!.email,
              displayName: user!.displayName,
              picture: user!.picture,
            }
          : { id, externalId: null, username, email, displayName: 'Ina', picture: null },
      groups: sorted(holdings.groups),
      tenantGroups: sorted(holdings.tenantGroups),
      userAttributes: effective(this.model.catalogueOf(request), holdings, request)
        .map(({ name, value }) => [name, value])
        .toSorted(),
      securityContext: request.securityContext ?? null,
      settings: { showDashboardChat: request.settings?.showDashboardChat ?? true },
      embedTheme: null,
      ...(request.creatorMode ? { launchpadTabs: null, defaultLaunchpadViewGroup: null } : {}),
      expiresAt: expect.any(String),
    });
  }

  /** Everything that calls can change, for all users. */
  private async compareState() {
    const { rows } = await world.server.db.pool.query(STATE);
    const holdingsOf = (scope: string, { groups, tenantGroups, values }: Holdings) => [
      ...[...groups].map((name) => [scope, 'groups', name]),
      ...[...tenantGroups].map((name) => [scope, 'tenantGroups', name]),
      ...[...values].map(([name, value]) => [scope, 'attributes', name, value]),
    ];
    const expected = [
      ['count', this.model.users.size],
      ...[...this.model.tenants].flatMap(([tenant, { displayName, ...catalogue }]) => [
        ['tenant', tenant, displayName],
        ...[...catalogue.groups].map(([name, description]) => ['groups', tenant, name, description]),
        ...[...catalogue.attributes].map(
          ([name, { type, displayName: shown, defaultValue, description }]) => [
            'attributes',
            tenant,
            name,
            type,
            shown,
            defaultValue,
            description,
          ],
        ),
      ]),
      ...[...this.model.users].flatMap(([key, user]) => {
        const tenant = key.slice(0, key.indexOf('/'));
        return [
          ['user', key, user.email, user.displayName, user.picture],
          ...[...holdingsOf('account', user.account), ...holdingsOf(tenant, user.own)].map((held) => [
            'held',
            key,
            ...held,
          ]),
        ];
      }),
    ];
    const lines = (list: unknown[]) => list.map((line) => JSON.stringify(line)).toSorted();
    expect(lines(rows[0].state)).toEqual(lines(expected));
  }
}

const inAnyOrder = (names: string[]) =>
  names.length ? expect.toSatisfy((list: string[]) => `${sorted(list)}` === `${sorted(names)}`) : [];

const STATE = `
  with line (line) as (
    select json_build_array('count', count) from external_user_count
    union all select json_build_array('tenant', name, display_name) from embed_tenants
    union all select json_build_array('groups', embed_tenant, name, description) from user_groups
      where embed_tenant is not null
    union all select json_build_array('attributes', embed_tenant, name, type, display_name, default_value, description)
      from user_attributes where embed_tenant is not null
    union all select json_build_array('user', embed_tenant || '/' || external_id, email, first_name, picture)
      from users where embed_tenant is not null
    union all select json_build_array('held', u.embed_tenant || '/' || u.external_id,
                                      coalesce(g.embed_tenant, 'account'), k.kind, g.name)
      from users u join user_group_members m on m.user_id = u.id join user_groups g on g.id = m.group_id
        join (values ('groups'), ('tenantGroups')) k (kind)
          on case k.kind when 'groups' then m.in_groups else m.in_tenant_groups end
      where u.embed_tenant is not null
    union all select json_build_array('held', u.embed_tenant || '/' || u.external_id,
                                      coalesce(a.embed_tenant, 'account'), 'attributes', a.name, v.value)
      from users u join user_attribute_values v on v.user_id = u.id join user_attributes a on a.id = v.attribute_id)
  select json_agg(line) as state from line`;

test('any calls in any order are answered and stored as the rules say', async () => {
  const sequences = fc.array(commands, { minLength: 1, maxLength: 25, size: 'max' });
  const property = fc.asyncProperty(sequences, async (sequence) => {
    await forgetEverybody();
    const run = new Run();
    for (const command of [...START, ...sequence]) await run.execute(command);
  });
  await tryRandomly(property, 15);
});
