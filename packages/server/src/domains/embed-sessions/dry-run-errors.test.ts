/** A dry run reports every error, not only the first. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createEmbedding,
  createOwnEmbedding,
  type Embedding,
  type SessionOptions,
} from '../../../test/embedding.ts';
import { unique } from '../../../test/world.ts';

let embedding: Embedding;
beforeAll(async () => {
  embedding = await createEmbedding();
});
afterAll(() => embedding.stop());

const UNKNOWN = 999_999_999;
const codes = async (options: SessionOptions) =>
  (await embedding.rehearse(options)).errors!.map(({ code, path }) => [code, path]);

/** A tenant with groups and attributes, and a viewer in it. */
async function furnished() {
  const viewer = { embedTenantName: embedding.tenant(), externalId: unique('ada'), creatorMode: true };
  await embedding.mint({
    ...viewer,
    groupDefinitions: [{ name: 'editors' }],
    userAttributeDefinitions: [
      { name: 'region', type: 'string' },
      { name: 'tier', type: 'number' },
      { name: 'zones', type: 'string_array' },
    ],
  });
  return viewer;
}

describe('a dry run reports every error at once', () => {
  test('about groups and attributes', async () => {
    const viewer = await furnished();
    const options = {
      ...viewer,
      userAttributeDefinitions: [
        { name: 'fine', type: 'number' },
        { name: 'region', type: 'number' },
        { name: 'zones', type: 'string' },
      ],
      groups: ['nobody', 'editors'],
      tenantGroups: ['editors', 'strangers'],
      userAttributes: [
        { name: 'unknown', value: 1 },
        { name: 'tier', value: 'high' },
        { name: 'missing', value: 1 },
        { name: 'zones', value: [1] },
      ],
    };
    const rehearsed = await embedding.rehearse(options);
    expect(rehearsed.ok).toBe(false);
    expect(rehearsed.errors.map(({ code, path }) => [code, path])).toEqual([
      ['attribute_type_conflict', 'userAttributeDefinitions[1].type'],
      ['attribute_type_conflict', 'userAttributeDefinitions[2].type'],
      ['groups_not_found', 'groups'],
      ['groups_not_found', 'tenantGroups'],
      ['user_attributes_not_found', 'userAttributes[0].name'],
      ['user_attributes_not_found', 'userAttributes[2].name'],
      ['attribute_value_mismatch', 'userAttributes[1].value'],
      ['attribute_value_mismatch', 'userAttributes[3].value'],
    ]);
    expect(rehearsed.errors).toContainEqual({
      code: 'groups_not_found',
      message: 'Groups with names nobody not found',
      path: 'groups',
    });
    const [first] = rehearsed.errors;
    expect(await embedding.refusal(options)).toMatchObject({ code: first!.code, message: first!.message });
  });

  test('about the request, the deployment, groups and attributes together', async () => {
    const viewer = await furnished();
    const options = {
      ...viewer,
      deploymentId: UNKNOWN,
      securityContext: { k: 'x'.repeat(70_000) },
      userAttributeDefinitions: [
        { name: 'new', type: 'number', defaultValue: 'five' },
        { name: 'new', type: 'number' },
        { name: 'region', type: 'number' },
      ],
      groupDefinitions: [{ name: 'a' }, { name: 'a' }],
      userAttributes: [
        { name: 'tier', value: 1 },
        { name: 'tier', value: 2 },
        { name: 'unknown', value: 2 },
      ],
      groups: ['nobody'],
    };
    expect(await codes(options)).toEqual([
      ['duplicate_attribute_name', 'userAttributes[1].name'],
      ['duplicate_definition_name', 'groupDefinitions[1].name'],
      ['duplicate_definition_name', 'userAttributeDefinitions[1].name'],
      ['invalid_default_value', 'userAttributeDefinitions[0].defaultValue'],
      ['security_context_too_large', 'securityContext'],
      ['deployment_not_found', ''],
      ['attribute_type_conflict', 'userAttributeDefinitions[2].type'],
      ['groups_not_found', 'groups'],
      ['user_attributes_not_found', 'userAttributes[2].name'],
    ]);
  });

  test('if there are only duplicates', async () => {
    const viewer = await furnished();
    const twice = [
      { name: 'region', value: 'A' },
      { name: 'region', value: 'B' },
    ];
    expect(await codes({ ...viewer, userAttributes: twice })).toEqual([
      ['duplicate_attribute_name', 'userAttributes[1].name'],
    ]);
  });

  test('about the user, without the checks that depend on the user', async () => {
    expect(await codes({ externalId: null, groups: ['nobody'] })).toEqual([['identity_required', '']]);
    expect(await codes({ externalId: 'Ada', groups: ['nobody'], tenantGroups: [] })).toEqual([
      ['invalid_external_id', 'externalId'],
      ['creator_mode_required', 'tenantGroups'],
    ]);
    expect(await codes({ internalId: 'nobody', groups: [], userProfile: {}, deploymentId: UNKNOWN })).toEqual(
      [
        ['not_allowed_with_internal_id', 'groups'],
        ['not_allowed_with_internal_id', 'userProfile'],
        ['deployment_not_found', ''],
        ['user_not_found', ''],
      ],
    );
    expect(await codes({ creatorMode: true, groupDefinitions: [], tenantGroupDefinitions: [] })).toEqual([
      ['embed_tenant_required', 'groupDefinitions'],
      ['embed_tenant_required', 'tenantGroupDefinitions'],
    ]);
  });

  test('about plan, flag and limit together with groups and attributes', async () => {
    const poor = await createOwnEmbedding({ ORIEL_PLAN: 'starter', ORIEL_MAX_EXTERNAL_USERS: '1' });
    try {
      await poor.rows('update tenant_settings set use_creator_mode = false');
      await poor.rows(`insert into embed_tenants (name) values ('someone')`);
      await poor.rows(
        `insert into users (embed_tenant, external_id, username) values ('someone', 'first', 'first')`,
      );
      const found = async () =>
        (await poor.rehearse({ creatorMode: true, groups: ['nobody'] })).errors!.map(({ code }) => code);
      await expect
        .poll(found)
        .toEqual([
          'plan_required',
          'creator_mode_disabled',
          'groups_not_found',
          'external_user_limit_reached',
        ]);
    } finally {
      await poor.stop();
    }
  });

  test('but nothing about a deployment outside the scope of the key', async () => {
    const { id } = await embedding.world.deployment();
    const { client } = await embedding.world.person({ deploymentIds: [id] });
    const body = embedding.request({ groups: ['nobody'] });
    expect((await client.dryRunSession({ body })).errors).toEqual([
      { code: 'outside_key_scope', message: expect.any(String), path: '' },
    ]);
  });
});
