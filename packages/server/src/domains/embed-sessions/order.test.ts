/** The order of checks decides which of two errors is reported. Also tests plans and limits. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOwnEmbedding, type Embedding, type SessionOptions } from '../../../test/embedding.ts';
import { ADMIN_KEY, unique } from '../../../test/world.ts';

const UNKNOWN = 999_999_999;
const PATH = '/api/v1/embed/generate-session';

describe('if there are two errors, the first in the order of checks is reported', () => {
  let embedding: Embedding;
  const tenant = unique('tenant');
  beforeAll(async () => {
    embedding = await createOwnEmbedding({ ORIEL_MAX_EXTERNAL_USERS: '1' });
    await embedding.mint({
      externalId: 'known',
      embedTenantName: tenant,
      creatorMode: true,
      userAttributeDefinitions: [{ name: 'region', type: 'string' }],
    });
  });
  afterAll(() => embedding.stop());

  const creatorMode = async (isOn: boolean) => {
    await embedding.rows('update tenant_settings set use_creator_mode = $1', [isOn]);
    const works = async () => (await embedding.rehearse({ externalId: 'known', creatorMode: true })).errors;
    await expect
      .poll(async () => (await works())?.some(({ code }) => code === 'creator_mode_disabled'))
      .toBe(!isOn);
  };
  const inTenant = (options: SessionOptions): SessionOptions => ({
    embedTenantName: tenant,
    creatorMode: true,
    ...options,
  });

  test('a bad credential comes before a bad body', async () => {
    for (const body of ['{', '{}', JSON.stringify({ ...embedding.request(), nonsense: 1 })]) {
      const headers = { 'content-type': 'application/json' };
      const response = await embedding.world.raw('POST', PATH, { apiKey: 'sk-unknown', headers, body });
      expect(response.status).toBe(401);
    }
  });

  test('a bad body comes before the scope of the key', async () => {
    const { id } = await embedding.world.deployment();
    const { apiKey } = await embedding.world.person({ deploymentIds: [id] });
    expect((await embedding.refusal({ email: 'x' }, apiKey)).code).toBe('invalid_request');
    expect((await embedding.refusal({ externalId: null }, apiKey)).code).toBe('identity_required');
  });

  test('the scope of the key comes before the deployment', async () => {
    const { id } = await embedding.world.deployment();
    const { apiKey } = await embedding.world.person({ deploymentIds: [id] });
    const options = { deploymentId: UNKNOWN, internalId: 'nobody' };
    expect((await embedding.refusal(options, apiKey)).code).toBe('outside_key_scope');
  });

  test('the deployment comes before the internal user', async () => {
    const options = { deploymentId: UNKNOWN, internalId: 'nobody' };
    expect((await embedding.refusal(options)).code).toBe('deployment_not_found');
  });

  test('the internal user comes before the flag for creator mode, and the flag before definitions', async () => {
    await creatorMode(false);
    const insider = { internalId: 'nobody', creatorMode: true };
    const { username } = await embedding.world.admin.getMe();
    const { apiKey } = await embedding.world.person();
    expect((await embedding.refusal({ ...insider, internalId: username }, apiKey)).code).toBe('forbidden');
    expect((await embedding.refusal(insider)).code).toBe('user_not_found');
    expect((await embedding.refusal({ ...insider, deploymentId: UNKNOWN })).code).toBe(
      'deployment_not_found',
    );
    const userAttributeDefinitions = [{ name: 'region', type: 'number' }];
    expect(await embedding.refusal(inTenant({ userAttributeDefinitions }))).toMatchObject({
      status: 403,
      code: 'creator_mode_disabled',
    });
    await creatorMode(true);
    expect((await embedding.refusal(inTenant({ userAttributeDefinitions }))).code).toBe(
      'attribute_type_conflict',
    );
  });

  test('definitions come before groups, groups before attributes, and attributes before the limit on users', async () => {
    const wrong = {
      userAttributeDefinitions: [{ name: 'region', type: 'number' }],
      groups: ['nobody'],
      userAttributes: [{ name: 'unknown', value: 1 }],
    };
    expect((await embedding.refusal(inTenant(wrong))).code).toBe('attribute_type_conflict');
    const { userAttributeDefinitions: _, ...without } = wrong;
    expect((await embedding.refusal(inTenant(without))).code).toBe('groups_not_found');
    const { userAttributes } = wrong;
    expect((await embedding.refusal(inTenant({ userAttributes }))).code).toBe('user_attributes_not_found');
    expect((await embedding.refusal(inTenant({}))).code).toBe('external_user_limit_reached');
  });

  test('among errors in the body, the identity comes first', async () => {
    const wrong = { groupDefinitions: [{ name: 'a' }, { name: 'a' }], userAttributes: [] };
    expect((await embedding.refusal({ ...wrong, externalId: 'Ada' })).code).toBe('invalid_external_id');
    expect((await embedding.refusal(wrong)).code).toBe('creator_mode_required');
  });
});

describe('plans', () => {
  /** Adds an embed user to a schedule, which makes them as minting does. */
  async function addEmbedUser({ world, deploymentId }: Embedding) {
    const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: {} });
    const config = { widgets: [] };
    const { publicId: dashboardPublicId } = await world.admin.publishDashboard({
      ...{ deploymentId, workbookId, body: { config, allowEmbed: true } },
    });
    const schedule = { dashboardPublicId, scheduleType: 'DAILY', hour: 6 } as const;
    const { id } = await world.admin.createNotification({ deploymentId, body: schedule });
    const recipients = [{ type: 'EMBED_USER' as const, externalId: 'ada' }];
    return world.admin.addRecipients({ deploymentId, id, body: { recipients } });
  }

  test.each(['free', 'starter'])(
    '%s does not include embedding, which is reported before the scope of the key',
    async (plan) => {
      const embedding = await createOwnEmbedding({ ORIEL_PLAN: plan });
      try {
        expect(await embedding.refusal({})).toMatchObject({ status: 403, code: 'plan_required' });
        expect((await embedding.refusal({ deploymentId: UNKNOWN })).code).toBe('plan_required');
        const { id } = await embedding.world.deployment();
        const { apiKey } = await embedding.world.person({ deploymentIds: [id] });
        expect((await embedding.refusal({}, apiKey)).code).toBe('plan_required');
        expect((await embedding.refusal({ externalId: null })).code).toBe('identity_required');
        expect((await embedding.refusal({ email: 'x' })).code).toBe('invalid_request');
        await expect(addEmbedUser(embedding)).rejects.toMatchObject({ status: 403, code: 'plan_required' });
        expect(await embedding.rows('select from users where embed_tenant is not null')).toEqual([]);
      } finally {
        await embedding.stop();
      }
    },
  );

  test.each(['premium', 'enterprise'])('%s includes embedding', async (plan) => {
    const embedding = await createOwnEmbedding({ ORIEL_PLAN: plan, ORIEL_TENANT: 'acme-inc' });
    try {
      expect((await embedding.see()).embedTenantName).toBe('acme-inc');
    } finally {
      await embedding.stop();
    }
  });
});

describe('creator mode', () => {
  test('is refused while the flag of the account is off, with or without definitions', async () => {
    const embedding = await createOwnEmbedding();
    try {
      await embedding.rows('update tenant_settings set use_creator_mode = false');
      const off = { status: 403, code: 'creator_mode_disabled' };
      const options = { creatorMode: true, embedTenantName: embedding.tenant() };
      await expect.poll(() => embedding.refusal(options)).toMatchObject(off);
      const groupDefinitions = [{ name: 'editors' }];
      expect(await embedding.refusal({ ...options, groupDefinitions })).toMatchObject(off);
      expect(await embedding.rows('select from user_groups where embed_tenant is not null')).toEqual([]);
      expect((await embedding.see({ ...options, creatorMode: false })).creatorMode).toBe(false);
    } finally {
      await embedding.stop();
    }
  });
});

describe('the limit on external users', () => {
  const FULL = { status: 403, code: 'external_user_limit_reached' };
  let embedding: Embedding;
  beforeAll(async () => {
    embedding = await createOwnEmbedding({ ORIEL_MAX_EXTERNAL_USERS: '3' });
  });
  afterAll(() => embedding.stop());

  test('is exact when many users are created in parallel, across embed tenants and servers', async () => {
    const other = await embedding.world.anotherServer();
    const tenants = [embedding.tenant(), embedding.tenant()];
    const attempts = Array.from({ length: 12 }, (_, i) =>
      fetch(`${i % 2 ? other.url : embedding.world.url}${PATH}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Api-Key ${ADMIN_KEY}`,
        },
        body: JSON.stringify(
          embedding.request({ externalId: `viewer-${i}`, embedTenantName: tenants[i % 2] }),
        ),
      }).then(({ status }) => status),
    );
    const statuses = (await Promise.all(attempts)).sort();
    expect(statuses).toEqual([200, 200, 200, ...Array(9).fill(403)]);
  });

  test('refuses new users, but not known users and people', async () => {
    const [known] = await embedding.rows(
      'select external_id, embed_tenant from users where embed_tenant is not null',
    );
    expect(await embedding.refusal({ embedTenantName: embedding.tenant() })).toMatchObject(FULL);
    const viewer = { externalId: known.external_id, embedTenantName: known.embed_tenant };
    expect((await embedding.see({ ...viewer, email: 'still@example.com' })).user.email).toBe(
      'still@example.com',
    );
    expect(await embedding.mint({ internalId: (await embedding.world.admin.getMe()).username })).toBeTruthy();
  });

  test('stores no tenant and no definition of a call that it refuses', async () => {
    const embedTenantName = embedding.tenant();
    const groupDefinitions = [{ name: 'editors' }];
    expect(await embedding.refusal({ embedTenantName, creatorMode: true, groupDefinitions })).toMatchObject(
      FULL,
    );
    expect(await embedding.rows('select from embed_tenants where name = $1', [embedTenantName])).toEqual([]);
    expect(
      await embedding.rows('select from user_groups where embed_tenant = $1', [embedTenantName]),
    ).toEqual([]);
  });

  test('allows a new user after another one is deleted', async () => {
    const [{ id }] = await embedding.rows('select id from users where embed_tenant is not null');
    await embedding.world.admin.deleteUser({ id: Number(id) });
    expect(await embedding.mint({})).toBeTruthy();
    expect(await embedding.refusal({})).toMatchObject(FULL);
  });
});
