import { createOrielClient } from '@oriel/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ADMIN_KEY, createOwnWorld, type World } from '../../../test/world.ts';

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_PLAN: 'premium' } });
});
afterAll(() => world.stop());

const query = async (text: string) => (await world.server.db.pool.query(text)).rows;
beforeEach(async () => {
  await query('delete from tenant_settings');
  await query('insert into tenant_settings default values');
});

const settings = () => world.admin.getTenantSettings();
const change = (body: object) => world.admin.updateTenantSettings({ body });

const DEFAULTS = {
  auditLogEnabled: true,
  auditLogEnabledCurrent: true,
  auditLogRetentionDays: null,
  embedAllowedOrigins: [],
  embedWithoutPolicies: false,
  embedContentLimit: 100_000,
  embedNotificationLimit: 20,
  embedNotificationsPerHour: 1000,
  embedSql: true,
  hasSupportAccess: false,
  maintenanceWindowDay: 'Sunday',
  maintenanceWindowEnabled: false,
  maintenanceWindowTime: '03:00',
  notificationDomains: [],
  notificationLinkTemplate: null,
  notificationRecipients: 'known',
  oidcEnabled: false,
  plan: 'premium',
  useAIBIUserInterface: true,
  useCreatorMode: false,
};

const CHANGED = {
  auditLogRetentionDays: 90,
  embedAllowedOrigins: ['https://app.example.com', 'http://localhost:3000'],
  embedContentLimit: 7,
  embedNotificationLimit: 3,
  embedNotificationsPerHour: 30,
  embedSql: false,
  hasSupportAccess: true,
  maintenanceWindowDay: 'Wednesday',
  maintenanceWindowEnabled: true,
  maintenanceWindowTime: '23:59',
  notificationDomains: ['example.com'],
  notificationLinkTemplate: 'https://app.example.com/r/{dashboardPublicId}',
  notificationRecipients: 'domains',
  oidcEnabled: true,
  useAIBIUserInterface: false,
  useCreatorMode: true,
};

test('a new account has the defaults, its plan, and the time when its audit log began', async () => {
  const [installation] = await query('select created_at from installation');
  expect(await settings()).toEqual({
    ...DEFAULTS,
    auditLogEnabledTimestamp: Date.parse(installation.created_at),
  });
});

test('each setting can be changed alone, and the others stay', async () => {
  let expected = await settings();
  for (const [name, value] of Object.entries(CHANGED)) {
    expected = { ...expected, [name]: value };
    expect(await change({ [name]: value })).toEqual(expected);
    expect(await settings()).toEqual(expected);
  }
  expect(await change({})).toEqual(expected);
});

test('null changes nothing, except for the retention and the template of links, where it is a value', async () => {
  const before = await change(CHANGED);
  const nulls = Object.fromEntries(Object.keys(CHANGED).map((name) => [name, null]));
  expect(await change({ ...nulls, auditLogEnabled: null })).toEqual({
    ...before,
    auditLogRetentionDays: null,
    notificationLinkTemplate: null,
  });
});

test('origins are stored as browsers write them, each once, and can be cleared', async () => {
  const embedAllowedOrigins = ['HTTPS://App.Example.com:443', 'https://app.example.com', 'http://[::1]:80'];
  expect(await change({ embedAllowedOrigins })).toMatchObject({
    embedAllowedOrigins: ['https://app.example.com', 'http://[::1]'],
  });
  expect(await change({ embedAllowedOrigins: [] })).toMatchObject({ embedAllowedOrigins: [] });
  const many = Array.from({ length: 100 }, (_, i) => `https://customer-${i}.example.com`);
  expect(await change({ embedAllowedOrigins: many })).toMatchObject({ embedAllowedOrigins: many });
});

test('the audit log can be turned off and on, which is itself in the log, and nothing else is meanwhile', async () => {
  const entries = async () =>
    (await query('select operation from audit_log order by id')).map(({ operation }) => operation);
  const before = await entries();
  const { auditLogEnabledTimestamp: since } = await settings();
  const off = await change({ auditLogEnabled: false });
  expect(off).toMatchObject({ auditLogEnabled: false, auditLogEnabledCurrent: false });
  expect(off.auditLogEnabledTimestamp).toBeGreaterThan(since);
  const { id: deploymentId } = await world.deployment();
  await world.admin.generateSession({
    body: { deploymentId, externalId: 'a', embedTenantName: 'unaudited' },
  });
  await change({ auditLogRetentionDays: 30 });
  expect(await change({ auditLogEnabled: false })).toMatchObject({
    auditLogEnabledTimestamp: off.auditLogEnabledTimestamp,
  });
  await change({ auditLogEnabled: true, auditLogRetentionDays: null });
  await world.admin.deleteDeployment({ deploymentId });
  expect((await entries()).slice(before.length)).toEqual([
    'updateTenantSettings',
    'updateTenantSettings',
    'deleteDeployment',
  ]);
  expect(
    await query("select before, after from audit_log where after ? 'auditLogEnabled' order by id"),
  ).toEqual([
    { before: { auditLogEnabled: true }, after: { auditLogEnabled: false } },
    {
      before: { auditLogEnabled: false, auditLogRetentionDays: 30 },
      after: { auditLogEnabled: true, auditLogRetentionDays: null },
    },
  ]);
});

test.each<[string, object]>([
  ['a plan, which the operator sets', { plan: 'enterprise' }],
  ['the time of the audit log', { auditLogEnabledTimestamp: 0 }],
  ['a flag as text', { useCreatorMode: 'true' }],
  ['a flag as a number', { oidcEnabled: 1 }],
  ['an unknown day', { maintenanceWindowDay: 'Caturday' }],
  ['a day in small letters', { maintenanceWindowDay: 'sunday' }],
  ['an empty day', { maintenanceWindowDay: '' }],
  ['24 o’clock', { maintenanceWindowTime: '24:00' }],
  ['minute 60', { maintenanceWindowTime: '23:60' }],
  ['an hour of one digit', { maintenanceWindowTime: '3:00' }],
  ['a time with seconds', { maintenanceWindowTime: '03:00:00' }],
  ['a retention of 0 days', { auditLogRetentionDays: 0 }],
  ['a negative retention', { auditLogRetentionDays: -1 }],
  ['a retention of part of a day', { auditLogRetentionDays: 1.5 }],
  ['a retention of more than 36500 days', { auditLogRetentionDays: 36_501 }],
  ['a retention as text', { auditLogRetentionDays: '90' }],
  ['an origin that is not in a list', { embedAllowedOrigins: 'https://app.example.com' }],
  ['an origin with a path', { embedAllowedOrigins: ['https://app.example.com', 'https://x.example.com/y'] }],
  ['any origin', { embedAllowedOrigins: ['*'] }],
  ['null as an origin', { embedAllowedOrigins: [null] }],
  ['101 origins', { embedAllowedOrigins: Array(101).fill('https://app.example.com') }],
  [
    'a template that leads to a host of the reader',
    { notificationLinkTemplate: 'https://{embedTenantName}/' },
  ],
  ['an unknown placeholder', { notificationLinkTemplate: 'https://app.example.com/{secret}' }],
  ['an origin that is too long', { embedAllowedOrigins: [`https://${'x'.repeat(300)}.example.com`] }],
])('bad input changes nothing: %s', async (_, body) => {
  const before = await change(CHANGED);
  await expect(change({ hasSupportAccess: false, ...body })).rejects.toMatchObject({
    status: 400,
    code: 'invalid_request',
    issues: [{ path: expect.stringContaining(Object.keys(body)[0]!) }],
  });
  expect(await settings()).toEqual(before);
});

test('parallel changes of different settings are all kept', async () => {
  await Promise.all(Object.entries(CHANGED).map(([name, value]) => change({ [name]: value })));
  expect(await settings()).toMatchObject(CHANGED);
});

test('a change is in the audit log, with the old values', async () => {
  await change({ useCreatorMode: true });
  const entries = await query(
    "select operation, before, after from audit_log where resource_type = 'tenantSettings' order by id desc limit 1",
  );
  expect(entries).toMatchObject([
    {
      operation: 'updateTenantSettings',
      before: { useCreatorMode: false },
      after: { useCreatorMode: true },
    },
  ]);
});

test('every server returns a change as soon as it is made', async () => {
  const other = await world.anotherServer();
  const there = createOrielClient({ baseUrl: other.url, apiKey: ADMIN_KEY });
  for (const useCreatorMode of [true, false, true]) {
    await change({ useCreatorMode });
    expect(await there.getTenantSettings()).toMatchObject({ useCreatorMode });
  }
});

test('only admins can read and change them, and scoped keys cannot change them', async () => {
  const { client } = await world.person({ roles: ['Developer'] });
  const forbidden = { status: 403, code: 'forbidden' };
  await expect(client.getTenantSettings()).rejects.toMatchObject(forbidden);
  await expect(client.updateTenantSettings({ body: {} })).rejects.toMatchObject(forbidden);

  const { id } = await world.deployment();
  const scoped = (await world.person({ roles: ['Admin'], deploymentIds: [id] })).client;
  expect(await scoped.getTenantSettings()).toEqual(await settings());
  await expect(scoped.updateTenantSettings({ body: {} })).rejects.toMatchObject({
    status: 403,
    code: 'outside_key_scope',
  });
});
