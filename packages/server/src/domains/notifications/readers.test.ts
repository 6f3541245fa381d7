/** What each reader of a notification gets: the rows and the alerts that are theirs, for as long as they may have them. */
import { expect, test } from 'vitest';
import { answer } from '../../../test/mail-server.ts';
import {
  add,
  answers,
  type Body,
  create,
  dashboardId,
  deliveriesOf,
  deploymentId,
  ended,
  figuresOf,
  hookUrl,
  mails,
  numbersIn,
  PATIENTLY,
  type Person,
  publish,
  type Recipients,
  retryNow,
  runNow,
  runs,
  sql,
  tenant,
  useNotifiedSales,
  userAttributeId,
  workbookId,
  world,
} from '../../../test/notified-sales.ts';
import { unique } from '../../../test/world.ts';

useNotifiedSales();

test('a reader whose rights change while others are served gets the rows of their new rights', async () => {
  const { id } = await create();
  const name = (who: string) => `${who}-${id}`;
  let release = () => {};
  answers.set(`${name('first')}@example.com`, new Promise((resolve) => (release = () => resolve(undefined))));
  const provision = (who: string, region: string): Recipients[number] => ({
    type: 'EMBED_USER',
    embedTenantName: tenant,
    externalId: name(who),
    email: `${name(who)}@example.com`,
    userAttributes: [{ name: 'region', value: region }],
  });
  await add(id, [provision('first', 'EU'), provision('stays', 'US'), provision('moves', 'US')]);
  const before = mails.sessions();
  await world.admin.runNotification({ deploymentId, id });
  await expect.poll(() => mails.sessions(), PATIENTLY).toBe(before + 1);
  await add(id, [provision('moves', 'APAC')]);
  release();
  await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
  await retryNow(id);
  await ended(id);
  expect((await runs(id))[0]).toMatchObject({ state: 'done', sent: 3 });
  const figures = (who: string) =>
    mails.messages
      .filter(({ to }) => to.includes(`${name(who)}@example.com`))
      .map(({ parsed }) => numbersIn(parsed.text!)[0]);
  expect([figures('first'), figures('stays'), figures('moves')]).toEqual([
    [figuresOf('EU').figure],
    [figuresOf('US').figure],
    [figuresOf('APAC').figure],
  ]);
});

test('whoever lost access, was deactivated or left gets nothing, and the run says why', async () => {
  const { id } = await create();
  const lost = unique('lost').replaceAll('_', '-');
  const people = await Promise.all(Array.from({ length: 4 }, () => world.person()));
  const [ann, bob, cyd, dan] = people as [Person, Person, Person, Person];
  for (const { userId } of people)
    await world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: 'WorkbookRead' },
    });
  const group = await world.admin.createUserGroup({ body: { name: unique('group') } });
  await world.admin.addUserGroupMembers({
    id: group.id,
    body: { userIds: [cyd.userId, ann.userId, dan.userId] },
  });
  await add(id, [
    { type: 'USER', userId: ann.userId },
    { type: 'USER', userId: bob.userId },
    { type: 'GROUP', groupId: group.id },
    { type: 'SLACK', channelId: 'C0123456789' },
    { type: 'EMBED_USER', embedTenantName: tenant, externalId: 'mute', email: 'mute@example.com' },
    { type: 'EMBED_USER', embedTenantName: lost, externalId: 'lost', email: 'l@example.com' },
  ]);
  await sql("update users set email = null where external_id = 'mute'");
  await world.admin.deleteEmbedTenant({ embedTenantName: lost });
  await world.admin.setUserPolicy({
    body: { resourceType: 'Workbook', resourceId: workbookId, userId: ann.userId },
  });
  await world.admin.updateUser({ id: bob.userId, body: { isDeactivated: true } });
  await cyd.client.unsubscribeFromNotification({ deploymentId, id });
  await world.admin.runNotification({ deploymentId, id });
  await ended(id);
  const [run] = await runs(id);
  const all = (await deliveriesOf(id, run!.id)).map(({ userId, status, reason }) => [
    people.find((person) => person.userId === userId) ?? null,
    status,
    reason,
  ]);
  // Until a job has removed the tenant, the run says that its user was deleted.
  const outcomes = all.filter(([, , reason]) => reason !== 'They were deleted.');
  expect(mails.messages.filter(({ to }) => to.includes('l@example.com'))).toEqual([]);
  expect(outcomes).toEqual([
    [ann, 'skipped', 'They may not see the dashboard.'],
    [bob, 'skipped', 'They were deactivated.'],
    // A member of the group. A member who unsubscribed is not brought back by it.
    [dan, 'sent', null],
    [null, 'failed', 'This server has no token for Slack: set ORIEL_SLACK_TOKEN.'],
    [null, 'skipped', 'They have no email address.'],
  ]);
});

test('an address without an account gets the view of the owner, while the settings let schedules reach anybody', async () => {
  const { id } = await create();
  const address = `stranger-${id}@example.org`;
  const { id: userId } = await world.admin.getMe();
  await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value: 'US' } });
  await world.admin.updateTenantSettings({ body: { notificationRecipients: 'anybody' } });
  try {
    await add(id, [{ type: 'USER', email: address }]);
    await runNow(id);
    await ended(id);
    const { parsed } = mails.messages.find(({ to }) => to.includes(address))!;
    expect(numbersIn(parsed.text!)[0]).toBe(figuresOf('US').figure);
  } finally {
    await world.admin.updateTenantSettings({ body: { notificationRecipients: 'known' } });
  }
  await runNow(id);
  await ended(id, 2);
  expect(await deliveriesOf(id, (await runs(id))[0]!.id)).toMatchObject([
    { status: 'skipped', reason: 'The settings of the account do not let schedules reach this address.' },
  ]);
});

test('others get the view of the owner only of what the owner published, or agreed to by saving the schedule', async () => {
  const { widgets } = (await world.admin.getWorkbook({ deploymentId, workbookId })).dashboardPublished!;
  const [owner, editor] = [await world.person({ roles: ['Admin'] }), await world.person()];
  const { id: own } = await owner.client.createWorkbook({ deploymentId, body: { name: 'Ours' } });
  const role = await world.admin.createRole({
    body: {
      name: unique('editor'),
      actions: ['DeploymentRead', 'WorkbookEdit', 'ReportRead', 'AlertsUpdate'],
    },
  });
  await world.admin.updateUser({ id: editor.userId, body: { roles: [role.name] } });
  for (const { userId } of [owner, editor])
    await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value: 'US' } });
  const publishBy = ({ client }: Person) =>
    client.publishDashboard({ deploymentId, workbookId: own, body: { config: { widgets: widgets! } } });
  await publishBy(owner);
  const { publicId: dashboardPublicId } = await world.admin
    .getWorkbook({ deploymentId, workbookId: own })
    .then(({ publishedDashboard }) => publishedDashboard!);
  const { id } = await owner.client.createNotification({
    deploymentId,
    body: { dashboardPublicId, scheduleType: 'DAILY', hour: 9 },
  });
  const address = `outside-${id}@example.org`;
  let count = 0;
  const statuses = async () => {
    await runNow(id);
    await ended(id, ++count);
    const deliveries = await deliveriesOf(id, (await runs(id))[0]!.id);
    return deliveries.map(({ status, reason }) => reason ?? status);
  };
  const save = ({ client }: Pick<Person, 'client'>) =>
    client.updateNotification({ deploymentId, id, body: { name: `Saved ${count}` } });
  const published = expect.stringMatching(/^Somebody else has published the dashboard/);
  await world.admin.updateTenantSettings({ body: { notificationRecipients: 'anybody' } });
  try {
    await owner.client.addRecipients({
      deploymentId,
      id,
      body: {
        recipients: [
          { type: 'USER', email: address },
          { type: 'USER', userId: editor.userId },
        ],
      },
    });
    expect(await statuses()).toEqual(['sent', 'sent']);
    // What an editor adds is not sent with the rows of the owner, whatever the editor saves. They get their own.
    await publishBy(editor);
    expect(await statuses()).toEqual([published, 'sent']);
    await save(editor);
    expect(await statuses()).toEqual([published, 'sent']);
    // An owner who only switches it on agrees to nothing.
    await owner.client.updateNotification({ deploymentId, id, body: { isEnabled: true } });
    expect(await statuses()).toEqual([published, 'sent']);
    await save(owner);
    expect(await statuses()).toEqual(['sent', 'sent']);
    await publishBy(editor);
    expect(await statuses()).toEqual([published, 'sent']);
    await publishBy(owner);
    expect(await statuses()).toEqual(['sent', 'sent']);
    // An owner who inherits a schedule has not agreed to anything.
    const heir = await world.person({ roles: ['Admin'] });
    await world.admin.deleteUser({ id: owner.userId, newOwnerId: heir.userId });
    expect(await statuses()).toEqual([expect.stringMatching(/^The schedule has a new owner/), 'sent']);
    await save(heir);
    expect(await statuses()).toEqual(['sent', 'sent']);
  } finally {
    await world.admin.updateTenantSettings({ body: { notificationRecipients: 'known' } });
  }
});

test('a creator gets nothing while creator mode is switched off', async () => {
  const { id } = await create();
  const externalId = `maker-${id}`;
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  const recipient = { embedTenantName: tenant, externalId, email: `${externalId}@example.com` };
  await add(id, [{ type: 'EMBED_USER', ...recipient }]);
  // As if a creator had added them to a schedule of their embed tenant.
  await sql('update notification_recipients set creator_mode = true where notification_id = $1', [id]);
  const outcome = async (count: number) => {
    await runNow(id);
    await ended(id, count);
    const [delivery] = await deliveriesOf(id, (await runs(id))[0]!.id);
    return [delivery!.status, delivery!.reason];
  };
  const OFF = ['skipped', 'Creator mode is switched off in the settings of the account.'];
  await world.admin.updateTenantSettings({ body: { useCreatorMode: false } });
  expect(await outcome(1)).toEqual(OFF);
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  expect(await outcome(2)).not.toEqual(OFF);
});

test('an alert is sent when its condition becomes true, not again while it stays true, and again after it was false', async () => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const region = async (value: string) => {
    const { id: userId } = await world.admin.getMe();
    await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value } });
  };
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', operator: 'above', value: 250 },
  } as Body);
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const outcomes: unknown[] = [];
  for (const [i, value] of ['EU', 'APAC', 'LATAM', 'US', 'MEA'].entries()) {
    await region(value);
    await world.admin.runNotification({ deploymentId, id });
    await ended(id, i + 1);
    const [delivery] = await deliveriesOf(id, (await runs(id))[0]!.id);
    const { status, reason } = delivery!;
    outcomes.push([value, status, reason]);
  }
  expect(outcomes).toEqual([
    ['EU', 'skipped', 'The condition is not met.'],
    ['APAC', 'sent', null],
    ['LATAM', 'skipped', 'The condition was met before, and still is.'],
    ['US', 'skipped', 'The condition is not met.'],
    ['MEA', 'sent', null],
  ]);
});

test.each([
  { operator: 'below', value: 150, told: { US: false, EU: true } },
  { operator: 'no_data', told: { EU: false, nowhere: true, MEA: false } },
  // By 100 %, by nothing, by -50 %.
  { operator: 'changed_by_percent', value: 50, told: { EU: false, US: true, 'US ': false, 'EU ': true } },
] as const)('an alert is told when its value is $operator', async ({ told, ...condition }) => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', ...condition },
  } as Body);
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const { id: userId } = await world.admin.getMe();
  const outcomes: [string, boolean][] = [];
  for (const [i, region] of Object.keys(told).entries()) {
    const value = region.trim();
    await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value } });
    await runNow(id);
    await ended(id, i + 1);
    outcomes.push([region, (await runs(id))[0]!.sent === 1]);
  }
  expect(Object.fromEntries(outcomes)).toEqual(told);
});

test('each reader has an alert of their own, which counts as told only once it was sent', async () => {
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', operator: 'above', value: 250 },
  } as Body);
  const address = (who: string) => `${who}-${id}@example.com`;
  const be = (who: string, region: string) =>
    add(id, [
      {
        type: 'EMBED_USER',
        embedTenantName: tenant,
        externalId: `${who}-${id}`,
        email: address(who),
        userAttributes: [{ name: 'region', value: region }],
      },
    ]);
  await be('low', 'EU');
  await be('high', 'MEA');
  let count = 0;
  const outcomes = async () =>
    (await deliveriesOf(id, (await runs(id))[0]!.id)).map(({ status, reason }) => [status, reason]);
  const run = async () => {
    await runNow(id);
    await ended(id, ++count);
    return outcomes();
  };
  const NOT_MET = ['skipped', 'The condition is not met.'];
  answers.set(address('high'), answer(451, 'try again later'));
  await runNow(id);
  await expect.poll(async () => (await runs(id))[0]!.phase, PATIENTLY).toBe('retrying');
  // What is true at the next attempt decides.
  answers.delete(address('high'));
  await be('high', 'EU');
  await retryNow(id);
  await ended(id, ++count);
  expect(await outcomes()).toEqual([NOT_MET, NOT_MET]);
  await be('high', 'MEA');
  answers.set(address('high'), answer(550, 'no such mailbox'));
  expect(await run()).toEqual([NOT_MET, ['failed', expect.stringContaining('no such mailbox')]]);
  answers.delete(address('high'));
  expect(await run()).toEqual([NOT_MET, ['sent', null]]);
  expect(await run()).toEqual([NOT_MET, ['skipped', 'The condition was met before, and still is.']]);
  expect(mails.messages.filter(({ to }) => to.includes(address('high')))).toHaveLength(1);
});

test('a percentage is of the last value that was told or judged, also when nothing was there in between', async () => {
  const hook = await world.admin.createWebhook({ body: { url: hookUrl, events: ['role.created'] } });
  const { id } = await create({
    condition: { widgetId: 'kpi', measure: 'sales.revenue', operator: 'changed_by_percent', value: 50 },
  } as Body);
  await add(id, [{ type: 'WEBHOOK', webhookId: hook.id }]);
  const { id: userId } = await world.admin.getMe();
  let count = 0;
  const at = async (value: string) => {
    await world.admin.upsertUserAttributeValue({ body: { userId, userAttributeId, value } });
    await runNow(id);
    await ended(id, ++count);
    const [delivery] = await deliveriesOf(id, (await runs(id))[0]!.id);
    return delivery!.status;
  };
  expect([await at('EU'), await at('nowhere'), await at('US')]).toEqual(['skipped', 'skipped', 'sent']);
  // What was not sent was not told, so it is compared with what was before.
  await world.admin.updateWebhook({ id: hook.id, body: { isEnabled: false } });
  expect([await at('US'), await at('LATAM')]).toEqual(['skipped', 'failed']);
  await world.admin.updateWebhook({ id: hook.id, body: { isEnabled: true } });
  expect([await at('LATAM'), await at('LATAM')]).toEqual(['sent', 'skipped']);
});

test('of an alert, only admins learn whether others get it', async () => {
  const actions = ['DeploymentRead', 'WorkbookEdit', 'AlertsRead', 'AlertsCreate', 'AlertsUpdate'] as never;
  const role = await world.admin.createRole({ body: { name: unique('role'), actions } });
  const editor = await world.person({ roles: [role.name] });
  const { email } = await world.admin.getUser({ id: editor.userId });
  const condition = { widgetId: 'kpi', measure: 'sales.revenue', operator: 'above' as const, value: 250 };
  const { id } = await editor.client.createNotification({
    deploymentId,
    body: { dashboardId, scheduleType: 'DAILY', hour: 9, condition },
  });
  const recipient = (who: string, region: string): Recipients[number] => ({
    type: 'EMBED_USER',
    embedTenantName: tenant,
    externalId: `${who}-${id}`,
    email: `${who}-${id}@example.com`,
    userAttributes: [{ name: 'region', value: region }],
  });
  await add(id, [recipient('high', 'MEA'), recipient('low', 'EU'), recipient('gone', 'MEA')]);
  answers.set(`gone-${id}@example.com`, answer(550, 'no such mailbox'));
  await editor.client.subscribeToNotification({ deploymentId, id });
  const seenBy = async (client: Person['client']) => {
    const [run] = (await client.listNotificationRuns({ deploymentId, id })).items;
    const { items } = await client.listNotificationDeliveries({ deploymentId, id, runId: run!.id });
    const problems = (await client.getRecipients({ deploymentId, id })).items.map(({ problem }) => problem);
    return {
      run: [run!.state, run!.reason, run!.sent, run!.skipped, run!.failed, run!.hidesOthers],
      statuses: items.map(({ status }) => status),
      problems: problems.filter((problem) => problem !== null),
    };
  };
  const FAILED = expect.stringContaining('no such mailbox');
  const ALL = {
    run: ['failed', FAILED, 1, 2, 1, false],
    statuses: ['sent', 'skipped', 'failed', 'skipped'],
    problems: [FAILED],
  };
  const OWN = { run: ['done', null, 0, 1, 0, true], statuses: ['skipped'], problems: [] };
  await editor.client.runNotification({ deploymentId, id });
  await ended(id);
  expect(await seenBy(world.admin)).toEqual(ALL);
  expect(await seenBy(editor.client)).toEqual(OWN);
  // An editor who removes the condition learns nothing of what it decided.
  await editor.client.updateNotification({ deploymentId, id, body: { condition: null } });
  expect(await seenBy(editor.client)).toEqual(OWN);
  const toldOwner = async () => {
    const open = "select id from jobs where kind = 'notifications.tell-owner' and state <> 'done'";
    await expect.poll(() => sql(open), PATIENTLY).toEqual([]);
    return mails.messages.filter(({ to, parsed }) => to[0] === email && /^Trouble/.test(parsed.subject!));
  };
  expect(await toldOwner()).toEqual([]);

  await sql('update notifications set owner_told_at = null where id = $1', [id]);
  await editor.client.runNotification({ deploymentId, id });
  await ended(id, 2);
  expect(await seenBy(editor.client)).toEqual({
    run: ['failed', FAILED, 3, 0, 1, false],
    statuses: ['sent', 'sent', 'failed', 'sent'],
    problems: [FAILED],
  });
  expect(await toldOwner()).toHaveLength(1);
});

test('who subscribed in a session gets what their newest session lets them see, and nothing once that has ended', async () => {
  const { id: dealsId } = await world.admin.createWorkbook({ deploymentId, body: { name: 'Deals' } });
  const report = await world.admin.createReport({
    deploymentId,
    body: {
      name: 'Revenue',
      jsonQuery: JSON.stringify({ measures: ['deals.revenue'] }),
      meta: { chart: { kind: 'kpi', spec: { measure: 'deals.revenue' } } },
    },
  });
  const position = { x: 0, y: 0, w: 4, h: 4 };
  const kpi = { id: 'kpi', type: 'CHART' as const, position, config: { reportId: report.id } };
  const deals = await publish([kpi], dealsId);
  const access = { allEmbedUsers: true, action: 'read' } as const;
  await world.admin.updateEmbedAccess({ deploymentId, workbookId: dealsId, body: access });
  const { id } = await create({ dashboardId: deals.id, allowSubscribe: true });
  const plain = await create({ allowSubscribe: true });
  const userAttributes = [{ name: 'region', value: 'EU' }];
  const named = (who: string) => ({ embedTenantName: tenant, externalId: `${who}-${id}` });
  const session = (who: string, region?: string, given: object = {}) =>
    world.embedded({
      ...{ deploymentId, ...named(who), email: `${who}-${id}@example.com` },
      ...(region === undefined ? { userAttributes } : { securityContext: { region } }),
      ...given,
    });
  const counts = new Map<number, number>();
  /** The figure in the mail that each of them got, or why they got none. */
  async function outcome(of = id, run = () => runNow(of)) {
    const before = mails.messages.length;
    await run();
    counts.set(of, (counts.get(of) ?? 0) + 1);
    await ended(of, counts.get(of));
    const deliveries = await deliveriesOf(of, (await runs(of))[0]!.id);
    return deliveries.map(({ address, status, reason }) => {
      const mail = mails.messages.slice(before).find(({ to }) => to[0] === address);
      return status === 'sent' ? /Revenue: \d+/.exec(mail!.parsed.text!)![0] : reason;
    });
  }
  const revenueOf = (region: string) => figuresOf(region).figure;
  const REVOKED = 'Their last session was revoked.';
  const AGO = 'What they may see comes with a session, and they have had none for 8 days.';
  const revoke = (who: string) => world.admin.revokeEmbedSessions({ body: named(who) });
  /** As if everything that a viewer did had been this many days ago. */
  async function age(who: string, days: number) {
    const [{ id: userId }] = await sql('select id from users where external_id = $1', [`${who}-${id}`]);
    const past = (column: string) => `${column} = ${column} - make_interval(hours => $2)`;
    for (const change of [
      `embed_sessions set ${past('created_at')}, ${past('expires_at')}, ${past('exchanged_at')}`,
      `notification_recipients set ${past('session_at')}`,
      `embed_revocations set ${past('revoked_at')}`,
    ])
      await sql(`update ${change} where user_id = $1`, [userId, days * 24]);
    return userId as number;
  }

  const { client } = await session('val', 'EU');
  await client.subscribeToNotification({ deploymentId, id });
  expect(await outcome()).toEqual([revenueOf('EU')]);
  await session('val', 'US');
  expect(await outcome()).toEqual([revenueOf('US')]);
  await revoke('val');
  expect(await outcome()).toEqual([REVOKED]);
  await session('val', 'APAC');
  expect(await outcome()).toEqual([revenueOf('APAC')]);
  await age('val', 7);
  expect(await outcome()).toEqual([revenueOf('APAC')]);
  await age('val', 2);
  expect(await outcome()).toEqual([AGO]);
  const back = await session('val', 'LATAM');
  expect(await outcome()).toEqual([revenueOf('LATAM')]);

  // A context that others gave a recipient stays until others change it.
  await add(id, [
    {
      ...{ type: 'EMBED_USER', ...named('given'), email: `given-${id}@example.com` },
      securityContext: { region: 'MEA' },
    },
  ]);
  const given = await session('given', 'EU');
  await given.client.subscribeToNotification({ deploymentId, id });
  await given.client.unsubscribeFromNotification({ deploymentId, id });
  await given.client.subscribeToNotification({ deploymentId, id });
  await revoke('given');
  expect(await outcome()).toEqual([revenueOf('LATAM'), revenueOf('MEA')]);
  await add(id, [{ type: 'EMBED_USER', ...named('val') }]);
  await back.client.unsubscribeFromNotification({ deploymentId, id });
  await back.client.subscribeToNotification({ deploymentId, id });
  await revoke('val');
  expect(await outcome()).toEqual([REVOKED, revenueOf('MEA')]);
  await add(id, [{ type: 'EMBED_USER', ...named('val'), securityContext: { region: 'US' } }]);
  expect(await outcome()).toEqual([revenueOf('US'), revenueOf('MEA')]);

  // A reader whose rows depend on groups and attributes needs no current session, unless the last one was revoked.
  const calm = await session('calm');
  await calm.client.subscribeToNotification({ deploymentId, id: plain.id });
  const calmId = await age('calm', 30);
  await sql('delete from embed_sessions where user_id = $1', [calmId]);
  expect(await outcome(plain.id)).toEqual([revenueOf('EU')]);
  await revoke('calm');
  // Before the revocation is deleted, an hourly job notes it.
  await sql("update job_schedules set next_run_at = now() where name = 'notifications.renew-subscriptions'");
  const isNoted = () =>
    sql('select session_revoked from notification_recipients where user_id = $1', [calmId]);
  await expect.poll(isNoted, PATIENTLY).toEqual([{ session_revoked: true }]);
  await sql('delete from embed_revocations where user_id = $1', [calmId]);
  expect(await outcome(plain.id)).toEqual([REVOKED]);
  await session('calm');
  expect(await outcome(plain.id)).toEqual([revenueOf('EU')]);

  // A creator's preview shows what they see.
  await world.admin.updateTenantSettings({ body: { useCreatorMode: true } });
  const creator = await session('maker', 'MEA', { creatorMode: true });
  const own = await creator.client.createNotification({
    deploymentId,
    body: { dashboardId: deals.id, scheduleType: 'DAILY', hour: 9 },
  });
  const preview = () => creator.client.runNotification({ deploymentId, id: own.id, body: { preview: true } });
  expect(await outcome(own.id, preview)).toEqual([revenueOf('MEA')]);
  await world.admin.updateTenantSettings({ body: { useCreatorMode: false } });
});
