/** Schedules of dashboards, their recipients, and who may know of which. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createShop } from '../../../test/shops.ts';
import { signedIn } from '../../../test/sign-in.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

let world: World;
let deploymentId: number;
let workbookId: number;
let dashboardId: number;
let publicId: string;
const tenant = unique('acme').replaceAll('_', '-');
const other = unique('globex').replaceAll('_', '-');
const position = { x: 0, y: 0, w: 4, h: 4 };
const WIDGETS = [
  { id: 'status', type: 'FILTER' as const, position, config: { member: 'orders.status' } },
  {
    id: 'grain',
    type: 'TIME_GRAIN' as const,
    position,
    config: { member: 'orders.ordered_at', grains: ['day', 'month'] },
  },
];
beforeAll(async () => {
  world = await createOwnWorld();
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  // With the members that the dashboard names: the build of an empty data model can end before it is published.
  deploymentId = await createShop(world);
  workbookId = (await world.admin.createWorkbook({ deploymentId, body: { name: 'Sales' } })).id;
  ({ id: dashboardId, publicId } = await world.admin.publishDashboard({
    deploymentId,
    workbookId,
    body: { config: { widgets: WIDGETS }, title: 'Sales today', allowEmbed: true },
  }));
  await world.admin.updateEmbedAccess({
    deploymentId,
    workbookId,
    body: { allEmbedUsers: true, action: 'read' },
  });
});
afterAll(() => world.stop());

type Client = World['admin'];
type Body = Parameters<Client['createNotification']>[0]['body'];
type Recipients = Parameters<Client['addRecipients']>[0]['body']['recipients'];
const create = (body: Partial<Body> = {}, by: Client = world.admin) =>
  by.createNotification({
    deploymentId,
    body: { dashboardPublicId: publicId, scheduleType: 'DAILY', hour: 9, ...body },
  });
const add = (id: number, recipients: Recipients, by: Client = world.admin) =>
  by.addRecipients({ deploymentId, id, body: { recipients } });
const all = async (id: number, by: Client = world.admin) =>
  (await by.getRecipients({ deploymentId, id })).items;
/** A person with these actions, who can edit workbooks. */
async function editor(actions: readonly string[]) {
  const role = await world.admin.createRole({
    body: { name: unique('role'), actions: ['DeploymentRead', 'WorkbookEdit', ...actions] as never },
  });
  return world.person({ roles: [role.name] });
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    ({ code }: { code: string }) => code,
  );

test('a schedule is made, shown in words, changed, copied and deleted', async () => {
  const made = await create({
    scheduleType: 'WEEKLY',
    dayOfWeek: 1,
    hour: 0,
    minute: 15,
    timezone: 'Europe/Berlin',
    filters: [{ member: 'orders.status', operator: 'equals', value: ['new'] }],
    timeGrains: [{ member: 'orders.ordered_at', grain: 'month' }],
  });
  expect(made).toMatchObject({
    deploymentId,
    dashboardId,
    dashboardPublicId: publicId,
    name: 'Sales today',
    isEnabled: true,
    notificationEnabled: true,
    notificationFormat: 'png',
    cronExpression: '15 0 * * 1',
    humanReadableSchedule: 'At 00:15, only on Monday',
    timezone: 'Europe/Berlin',
    filters: [{ member: 'orders.status', operator: 'equals', value: ['new'] }],
    timeGrains: [{ member: 'orders.ordered_at', grain: 'month' }],
    canEdit: true,
    isSubscribed: false,
  });
  // Monday in Berlin is Sunday in UTC.
  expect(new Date(made.nextRunAt!).getUTCDay()).toBe(0);
  const { id } = made;
  const update = (body: Parameters<Client['updateNotification']>[0]['body']) =>
    world.admin.updateNotification({ deploymentId, id, body });
  const daily = await update({ scheduleType: 'DAILY', hour: 7, notificationFormat: 'pdf', filters: null });
  expect(daily).toMatchObject({ cronExpression: '0 7 * * *', notificationFormat: 'pdf', filters: null });
  expect(daily.timeGrains).toHaveLength(1);
  expect(await update({ isEnabled: false })).toMatchObject({ isEnabled: false, nextRunAt: null });
  await add(id, [{ type: 'SLACK', channelId: 'C0123456789' }]);
  const copy = await world.admin.duplicateNotification({ deploymentId, id });
  expect(copy).toMatchObject({ isEnabled: false, cronExpression: '0 7 * * *' });
  expect(await all(copy.id)).toMatchObject([{ type: 'SLACK', channelId: 'C0123456789' }]);
  await world.admin.deleteNotification({ deploymentId, id });
  expect(await codeOf(world.admin.getNotification({ deploymentId, id }))).toBe('notification_not_found');
});

test('a page holds at most 200 schedules, and the next one goes on after it', async () => {
  const { id } = await create({ name: 'many' });
  await world.server.db.pool.query(
    `insert into notifications (dashboard_id, user_id, name, schedule_type, hour, minute, timezone, is_enabled,
       notification_enabled, notification_format, allow_subscribe)
     select dashboard_id, user_id, name, schedule_type, hour, minute, timezone, false, false, notification_format, false
     from notifications, generate_series(1, 200) where id = $1`,
    [id],
  );
  const list = (query: object) => world.admin.getNotifications({ deploymentId, dashboardId, ...query });
  const first = await list({ first: 1000 });
  expect([first.items.length, first.pageInfo!.hasNextPage]).toEqual([200, true]);
  const second = await list({ first: 200, after: first.pageInfo!.endCursor! });
  expect(second.items.length).toBeGreaterThan(0);
  const ids = [...first.items, ...second.items].map((item) => item.id);
  expect(new Set(ids).size).toBe(ids.length);
  await world.server.db.pool.query("delete from notifications where name = 'many'");
});

test('what is wrong with a schedule is a 400 that says so', async () => {
  const { id: emptyId } = await world.admin.createWorkbook({ deploymentId, body: {} });
  await world.admin.updateEmbedAccess({ deploymentId, workbookId: emptyId, body: { allowEmbed: true } });
  const rows = await world.server.db.pool.query('select id from dashboards where workbook_id = $1', [
    emptyId,
  ]);
  const unpublished = Number(rows.rows[0].id);
  // Only browsers can show it, so nobody could be sent a picture.
  const { id: appId } = await world.admin.createWorkbook({ deploymentId, body: {} });
  const app = await world.admin.publishDashboard({
    deploymentId,
    workbookId: appId,
    body: { config: { kind: 'APP', app: { html: '<p>Hello</p>' } } },
  });
  const cases: [Partial<Body>, string][] = [
    [{ dashboardId }, 'dashboard_id_required'],
    [{ dashboardPublicId: null }, 'dashboard_id_required'],
    [{ dashboardPublicId: 'NoSuchThing0' }, 'dashboard_not_found'],
    [{ dashboardPublicId: null, dashboardId: unpublished }, 'not_published'],
    [{ scheduleType: 'HOURLY' }, 'invalid_schedule'],
    [{ scheduleType: 'CUSTOM', hour: null, customCron: '0 0 30 2 *' }, 'invalid_schedule'],
    [{ scheduleType: 'CUSTOM', hour: null, customCron: '*/1 * * * * *' }, 'invalid_schedule'],
    [{ timezone: 'Mars/Olympus' }, 'invalid_schedule'],
    [{ dashboardPublicId: null, dashboardId: app.id }, 'invalid_request'],
    [{ filters: [{ member: 'orders.region', value: 'EU' }] }, 'control_not_found'],
    ...(
      [
        { operator: 'custom', value: 'new' },
        { operator: 'greater_than' },
        { operator: 'equals', value: [] },
        { operator: 'equals', value: ['new', null] },
        { operator: 'between', value: null },
      ] as const
    ).map((filter): [Partial<Body>, string] => [
      { filters: [{ member: 'orders.status', ...filter } as never] },
      'control_not_found',
    ]),
    [{ filters: ['new', 'old'].map((value) => ({ member: 'orders.status', value })) }, 'control_not_found'],
    [{ timeGrains: [{ member: 'orders.ordered_at', grain: 'week' }] }, 'control_not_found'],
  ];
  for (const [body, code] of cases) expect([body, await codeOf(create(body))]).toEqual([body, code]);
  const cleared = await create({ filters: [{ member: 'orders.status', operator: 'equals', value: null }] });
  expect(cleared.filters).toMatchObject([{ value: null }]);
});

test('recipients are created, updated or unchanged, and each is named once', async () => {
  const { id } = await create();
  const [ann, bob] = [await world.person(), await world.person()];
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  const hook = await world.admin.createWebhook({
    body: { url: 'https://hooks.example.com/', events: ['role.created'] },
  });
  const { email } = await world.admin.getUser({ id: bob.userId });
  const recipients: Recipients = [
    { type: 'USER', userId: ann.userId },
    { type: 'USER', email },
    { type: 'SLACK', channelId: 'C0123456789', channelName: 'sales' },
    { type: 'GROUP', groupId: group.id },
    { type: 'WEBHOOK', webhookId: hook.id },
    { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'eve', email: 'eve@example.com' },
  ];
  const first = await add(id, recipients);
  expect(first.createdRecipients).toMatchObject([
    { type: 'USER', userId: ann.userId },
    { type: 'USER', userId: bob.userId, email },
    { type: 'SLACK', channelName: 'sales' },
    { type: 'GROUP', groupName: group.name },
    { type: 'WEBHOOK', webhookId: hook.id },
    { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'eve', email: 'eve@example.com' },
  ]);
  const again = await add(id, [
    ...recipients.slice(0, 2),
    { type: 'SLACK', channelId: 'C0123456789', channelName: 'sales-eu' },
    { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'eve', email: 'eve@example.org' },
    { type: 'EMBED_USER', embedTenantName: other, externalId: 'eve' },
  ]);
  expect(again.createdRecipients).toMatchObject([{ embedTenantName: other, externalId: 'eve' }]);
  expect(again.updatedRecipients).toMatchObject([{ channelName: 'sales-eu' }, { email: 'eve@example.org' }]);
  expect(again.unchangedRecipients).toHaveLength(2);

  const found = async (query: object) =>
    (await world.admin.getNotifications({ deploymentId, ...query })).items.map((item) => item.id);
  expect(await found({ recipientUserId: ann.userId })).toEqual([id]);
  expect(await found({ recipientEmail: 'EVE@example.org' })).toEqual([id]);
  expect(await found({ recipientEmbedTenantName: other, recipientExternalId: 'eve' })).toEqual([id]);
  expect(await found({ recipientEmbedTenantName: other, recipientExternalId: 'ann' })).toEqual([]);
  expect(await found({ recipientExternalId: 'eve' })).toEqual([]);
  expect(await found({ dashboardId, dashboardPublicId: publicId })).toContain(id);
  expect(await found({ dashboardId: dashboardId + 999 })).toEqual([]);

  const removed = [
    { type: 'USER', id: ann.userId },
    { type: 'SLACK', id: 'C0123456789' },
    { type: 'EMBED_USER', id: 'eve', embedTenantName: tenant },
    { type: 'GROUP', id: String(group.id) },
    { type: 'USER', id: 999_999_999 },
  ] as const;
  await world.admin.removeRecipients({ deploymentId, id, body: { recipients: [...removed] } });
  expect((await all(id)).map((one) => [one.type, one.externalId])).toEqual([
    ['USER', null],
    ['WEBHOOK', null],
    ['EMBED_USER', 'eve'],
  ]);
});

test('recipients that are unknown, twice the same, too many or out of reach change nothing', async () => {
  const { id } = await create();
  const { userId } = await world.person();
  const user = { type: 'USER', userId } as const;
  const eve = { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'eve' } as const;
  const cases: [Recipients, string][] = [
    [[user, user], 'duplicate_recipient'],
    [[eve, eve], 'duplicate_recipient'],
    [[user, { type: 'USER', userId: 999_999_999 }], 'invalid_reference'],
    [[user, { type: 'USER', email: 'stranger@example.com' }], 'recipient_not_allowed'],
    [[user, { ...eve, userAttributes: [{ name: 'no-such', value: 1 }] }], 'user_attributes_not_found'],
    [[user, { ...eve, groups: ['no-such'] }], 'groups_not_found'],
    [[user, { ...eve, externalId: 'Eve' }], 'invalid_external_id'],
    [[user, { type: 'GROUP', groupId: 999_999_999 }], 'invalid_reference'],
    [[user, { type: 'WEBHOOK', webhookId: 999_999_999 }], 'invalid_reference'],
    [[user, { type: 'SLACK' }], 'invalid_request'],
    [[{ ...user, channelId: 'C0123456789' }], 'invalid_request'],
    [[{ ...user, email: 'ann@example.com' }], 'invalid_request'],
    [Array.from({ length: 1001 }, () => user), 'invalid_request'],
    [[], 'invalid_request'],
  ];
  for (const [recipients, code] of cases)
    expect([recipients.at(-1), await codeOf(add(id, recipients))]).toEqual([recipients.at(-1), code]);
  expect(await all(id)).toEqual([]);

  await world.admin.updateTenantSettings({
    body: { notificationRecipients: 'domains', notificationDomains: ['partner.example'] },
  });
  try {
    expect(await codeOf(add(id, [user]))).toBe('recipient_not_allowed');
    const { createdRecipients } = await add(id, [{ type: 'USER', email: 'Zoe@Partner.example' }]);
    expect(createdRecipients).toMatchObject([{ type: 'USER', userId: null, email: 'Zoe@Partner.example' }]);
  } finally {
    await world.admin.updateTenantSettings({ body: { notificationRecipients: 'known' } });
  }
});

describe('who may', () => {
  test('people who see the dashboard see its schedules and subscribe, but see no other recipient', async () => {
    const { id } = await create();
    const ann = await world.person({ roles: ['Viewer'] });
    await add(id, [{ type: 'SLACK', channelId: 'C0123456789' }]);
    expect(await codeOf(ann.client.getNotification({ deploymentId, id }))).toBe('notification_not_found');
    const policy = { resourceType: 'Workbook', resourceId: workbookId, userId: ann.userId } as const;
    await world.admin.setUserPolicy({ body: { ...policy, action: 'WorkbookRead' } });
    expect(await ann.client.getNotification({ deploymentId, id })).toMatchObject({ canEdit: false });
    expect(await ann.client.subscribeToNotification({ deploymentId, id })).toMatchObject({
      isSubscribed: true,
    });
    expect(await all(id, ann.client)).toMatchObject([{ type: 'USER', userId: ann.userId }]);
    expect(await all(id)).toHaveLength(2);
    const update = () => ann.client.updateNotification({ deploymentId, id, body: { isEnabled: false } });
    expect(await codeOf(update())).toBe('forbidden');
    const out = await ann.client.unsubscribeFromNotification({ deploymentId, id });
    expect(out).toMatchObject({ isSubscribed: false });
    // A person who unsubscribed is not brought back by others.
    await add(id, [{ type: 'USER', userId: ann.userId }]);
    expect(await all(id, ann.client)).toMatchObject([{ isUnsubscribed: true }]);
    await world.admin.setUserPolicy({ body: policy });
    expect(await codeOf(ann.client.subscribeToNotification({ deploymentId, id }))).toBe(
      'notification_not_found',
    );
  });

  test('changing needs the action and edit on the workbook, and AlertsRead shows the recipients', async () => {
    const { id } = await create();
    await add(id, [{ type: 'SLACK', channelId: 'C0123456789' }]);
    const [blind, seeing] = [
      await editor(['AlertsUpdate']),
      await editor(['AlertsUpdate', 'AlertsRead', 'AlertsCreate']),
    ];
    for (const { client } of [blind, seeing])
      await client.updateNotification({ deploymentId, id, body: { hour: 8 } });
    expect(await all(id, blind.client)).toEqual([]);
    expect(await all(id, seeing.client)).toHaveLength(1);
    // Channels and addresses without an account get the rows of the owner.
    await world.admin.updateTenantSettings({ body: { notificationRecipients: 'anybody' } });
    try {
      const toOthers = [
        { type: 'SLACK', channelId: 'C9876543210' },
        { type: 'USER', email: `${unique('stranger')}@example.org` },
      ] as const;
      const filters = [{ member: 'orders.status', operator: 'equals' as const, value: ['new'] }];
      const change = () => seeing.client.updateNotification({ deploymentId, id, body: { filters } });
      const own = (await seeing.client.duplicateNotification({ deploymentId, id })).id;
      for (const recipient of toOthers) {
        expect(await codeOf(add(id, [recipient], seeing.client))).toBe('recipient_not_allowed');
        expect(await codeOf(add(own, [recipient], seeing.client))).toBe('accepted');
      }
      expect(await codeOf(change())).toBe('forbidden');
      const slack = { recipients: [{ type: 'SLACK' as const, id: 'C0123456789' }] };
      await seeing.client.removeRecipients({ deploymentId, id, body: slack });
      expect(await codeOf(change())).toBe('accepted');
    } finally {
      await world.admin.updateTenantSettings({ body: { notificationRecipients: 'known' } });
    }
    const role = await world.admin.createRole({
      body: {
        name: unique('role'),
        actions: ['DeploymentRead', 'WorkbookRead', 'AlertsCreate', 'AlertsDelete'],
      },
    });
    const reader = await world.person({ roles: [role.name] });
    expect(await codeOf(create({}, reader.client))).toBe('forbidden');
    expect(await codeOf(reader.client.deleteNotification({ deploymentId, id }))).toBe('forbidden');
  });

  test('only a key or an admin gives embed users groups and attributes', async () => {
    const { id } = await create();
    const name = unique('region');
    await world.admin.createUserAttribute({ body: { name, type: 'string' } });
    const eve = { type: 'EMBED_USER', embedTenantName: tenant, externalId: unique('eve') } as const;
    const recipient = { ...eve, userAttributes: [{ name, value: 'EU' }] };
    const role = await world.admin.createRole({
      body: { name: unique('role'), actions: ['DeploymentRead', 'WorkbookEdit', 'AlertsUpdate'] },
    });
    const { client } = await signedIn(world, { roles: [role.name] });
    expect(await codeOf(add(id, [recipient], client))).toBe('recipient_not_allowed');
    expect(await codeOf(add(id, [eve], client))).toBe('invalid_reference');
    await add(id, [recipient]);
    const { client: viewer } = await world.embedded({
      deploymentId,
      embedTenantName: tenant,
      externalId: eve.externalId,
    });
    expect((await viewer.getEmbedSession()).userAttributes).toMatchObject({ [name]: 'EU' });
    expect(await codeOf(add(id, [eve], client))).toBe('accepted');
  });

  test('embed users are added to the schedules of creators only while the account has creator mode', async () => {
    const embedTenantName = unique('initech').replaceAll('_', '-');
    const { client: creator } = await world.embedded({
      ...{ deploymentId, embedTenantName, externalId: 'cora', creatorMode: true },
    });
    const [theirs, ours] = [await create({}, creator), await create()];
    const added = ({ id }: { id: number }) =>
      codeOf(add(id, [{ type: 'EMBED_USER', embedTenantName, externalId: unique('val') }]));
    await world.admin.updateTenantSettings({ body: { useCreatorMode: false } });
    expect([await added(theirs), await added(ours)]).toEqual(['creator_mode_disabled', 'accepted']);
    await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
    expect([await added(theirs), await added(ours)]).toEqual(['accepted', 'accepted']);
  });

  test('embed viewers subscribe where it is allowed, and creators keep to their embed tenant', async () => {
    const { id } = await create();
    const open = await create({ allowSubscribe: true });
    const inTenant = (externalId: string, given: object = {}) =>
      world.embedded({ deploymentId, embedTenantName: tenant, externalId, ...given });
    const { client: viewer } = await inTenant('val', { securityContext: { plan: 'gold' } });
    const seen = await viewer.getNotifications({ deploymentId, dashboardPublicId: publicId });
    expect(seen.items.map((item) => item.id)).toContain(open.id);
    expect(seen.items.map((item) => item.id)).not.toContain(id);
    expect(await codeOf(viewer.subscribeToNotification({ deploymentId, id }))).toBe('notification_not_found');
    await viewer.subscribeToNotification({ deploymentId, id: open.id });
    expect(await all(open.id)).toMatchObject([
      { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'val' },
    ]);
    expect(await codeOf(create({}, viewer))).toBe('creator_mode_only');

    const { client: creator } = await inTenant('cora', { creatorMode: true });
    const custom = (customCron: string) =>
      codeOf(create({ scheduleType: 'CUSTOM', hour: null, customCron }, creator));
    expect([await custom('* * * * *'), await custom('0,50,59 3 * * *')]).toEqual([
      'invalid_schedule',
      'invalid_schedule',
    ]);
    const own = await create({}, creator);
    expect(own).toMatchObject({ embedTenantName: tenant, canEdit: true });
    expect(await codeOf(creator.updateNotification({ deploymentId, id: open.id, body: { hour: 1 } }))).toBe(
      'forbidden',
    );
    await add(own.id, [{ type: 'EMBED_USER', externalId: 'val' }], creator);
    const far = await world.embedded({
      deploymentId,
      embedTenantName: other,
      externalId: 'gus',
      creatorMode: true,
    });
    const { userId } = await world.person();
    for (const recipient of [
      { type: 'EMBED_USER', embedTenantName: other, externalId: 'gus' },
      { type: 'EMBED_USER', externalId: 'val', email: 'val@example.com' },
      { type: 'EMBED_USER', externalId: 'val', securityContext: { plan: 'gold' } },
      { type: 'USER', userId },
      { type: 'SLACK', channelId: 'C0123456789' },
    ] as const)
      expect([recipient, await codeOf(add(own.id, [recipient], creator))]).toEqual([
        recipient,
        'recipient_not_allowed',
      ]);
    const foreign = { type: 'EMBED_USER', embedTenantName: other, externalId: 'gus' } as const;
    expect(await codeOf(add(own.id, [foreign]))).toBe('invalid_reference');
    const developer = await world.person({ roles: ['Developer'] });
    for (const { client } of [far, developer])
      expect(await codeOf(client.getNotification({ deploymentId, id: own.id }))).toBe(
        'notification_not_found',
      );
    expect(await codeOf(far.client.deleteNotification({ deploymentId, id: own.id }))).toBe(
      'notification_not_found',
    );

    await world.admin.updateTenantSettings({ body: { embedNotificationLimit: 2 } });
    const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(create({}, creator))));
    expect(outcomes.toSorted()).toEqual([
      'accepted',
      'embed_notification_limit_reached',
      'embed_notification_limit_reached',
    ]);
    expect(await codeOf(create({}, far.client))).toBe('accepted');
  });
});
