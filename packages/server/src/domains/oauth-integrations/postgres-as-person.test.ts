/**
 * People who query a real PostgreSQL with their own access. PostgreSQL checks passwords here: a double of the service makes
 * each access token the password of the person's role.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type MailServer, startMailServer } from '../../../test/mail-server.ts';
import {
  type ConnectingUser,
  connectingPerson,
  connectingRole,
  endAccess,
  integrationOf,
} from '../../../test/oauth.ts';
import { type PersonTokens, startPersonTokens } from '../../../test/person-tokens.ts';
import { deployModel } from '../../../test/shops.ts';
import { createSourceDatabase, type SourceDatabase, variablesOf } from '../../../test/source-database.ts';
import { createOwnWorld, unique, type World } from '../../../test/world.ts';

const MODEL = `cubes:
  - name: who
    sql: "select current_user::text as name, secret from secrets"
    dimensions:
      - { name: name, sql: name, type: string }
      - { name: secret, sql: secret, type: string }
    access_policy: [{ group: "*" }]
`;
const QUERY = { dimensions: ['who.name', 'who.secret'] };

let world: World;
let mails: MailServer;
let database: SourceDatabase;
let service: PersonTokens;
let deploymentId: number;
let integrationId: number;
let host: string;
let role: string;
const roles: string[] = [];
beforeAll(async () => {
  // Its own: integrations of two services cannot share a redirect address.
  mails = await startMailServer();
  world = await createOwnWorld({
    env: {
      ORIEL_ALLOW_PRIVATE_REMOTES: 'true',
      ORIEL_SMTP_URL: mails.url,
      ORIEL_MAIL_FROM: 'Acme <no-reply@example.com>',
    },
  });
  database = await createSourceDatabase(`
    create table secrets (owner text, secret text);
    alter table secrets enable row level security;
    create policy own on secrets using (owner = current_user);`);
  await database.administer(
    `insert into secrets values ('${database.source.user}', 'of the source itself'); grant usage on schema public to public`,
  );
  service = await startPersonTokens(database);
  host = `${database.source.host}:${database.source.port}`;
  ({ id: integrationId } = await world.admin.createOAuthIntegration({ body: integration() }));
  role = await connectingRole(world, 'DeploymentRead', 'AIBIView');
  ({ id: deploymentId } = await world.deployment());
  await set({ DB_OAUTH: String(integrationId), DB_OAUTH_USER: '{username}' });
  await deployModel(world, deploymentId, { 'model/cubes/who.yml': MODEL });
});
afterAll(async () => {
  await Promise.all([world?.stop(), service?.stop(), mails?.stop()]);
  for (const name of roles) await database.administer(`drop owned by ${name}; drop role ${name}`);
  await database?.stop();
});
beforeEach(async () => {
  Object.assign(service, { expiresIn: 3600, isInForce: true });
  await set({ DB_OAUTH_OTHERS: 'false' });
});

const integration = (hosts = [host]) => integrationOf(world, service.issuer, { config: { hosts } });

const set = (more: Record<string, string>) =>
  world.admin.setEnvVariables({
    deploymentId,
    body: {
      env_variables: [
        ...variablesOf(database.source),
        ...Object.entries(more).map(([name, value]) => ({ name, value })),
      ],
    },
  });

interface Member extends ConnectingUser {
  secret: string;
}

/** A person who has a role in the database, of the same name, and one row there. */
async function newPerson({ isConnected = true } = {}): Promise<Member> {
  const person = await connectingPerson(world, [role]);
  const name = `"${person.username}"`;
  const secret = unique('secret of');
  await database.administer(
    `create role ${name} login; grant select on secrets to ${name}; insert into secrets values ('${person.username}', '${secret}')`,
  );
  roles.push(name);
  if (isConnected) await connect(person);
  return { ...person, secret };
}

async function connect(person: ConnectingUser) {
  service.next(`"${person.username}"`);
  const { authorizationUrl } = await person.client.initiateOAuthFlow({ integrationId });
  const { headers } = await fetch(authorizationUrl, { redirect: 'manual' });
  const { pathname, search } = new URL(headers.get('location')!);
  expect((await person.browser.get(pathname + search)).status).toBe(303);
}

const rowsOf = async ({ client }: Pick<ConnectingUser, 'client'>, more: object = {}) => {
  const reply = await client.load({ deploymentId, body: { query: { ...QUERY, ...more } } });
  return (reply as { data: Record<string, string>[] }).data.map((row) => [
    row['who.name'],
    row['who.secret'],
  ]);
};

test('each person reads their own rows, and answers that are kept are shown to nobody else', async () => {
  const [ada, eve] = [await newPerson(), await newPerson()];
  for (let i = 0; i < 2; i++) {
    expect(await rowsOf(ada)).toEqual([[ada.username, ada.secret]]);
    expect(await rowsOf(eve)).toEqual([[eve.username, eve.secret]]);
  }
  // Kept for the person: the row that is added now is not seen until the answer is renewed.
  await database.administer(`insert into secrets values ('${ada.username}', 'new')`);
  expect(await rowsOf(ada)).toHaveLength(1);
  expect(await rowsOf(ada, { renewQuery: true })).toHaveLength(2);
  const together = await Promise.all(
    [ada, eve, ada, eve].map((person) => rowsOf(person, { renewQuery: true })),
  );
  expect(together.flat().map(([name]) => name)).toEqual([
    ada.username,
    ada.username,
    eve.username,
    ada.username,
    ada.username,
    eve.username,
  ]);
  // Connections of people end with their query.
  await expect
    .poll(async () => {
      const names = [ada, eve].map(({ username }) => `'${username}'`).join();
      return (await database.administer(`select usename from pg_stat_activity where usename in (${names})`))
        .rows;
    })
    .toEqual([]);
});

test('whoever is not connected is told where to connect, and never gets the rows of the source itself', async () => {
  const person = await newPerson({ isConnected: false });
  const required = {
    status: 403,
    code: 'oauth_connection_required',
    message: expect.stringContaining(`Connect at ${world.url}/account`),
  };
  // Not even if others may use the source's own user.
  await set({ DB_OAUTH_OTHERS: 'true' });
  await expect(rowsOf(person)).rejects.toMatchObject(required);
  await connect(person);
  expect(await rowsOf(person)).toEqual([[person.username, person.secret]]);
  // A kept answer ends with the connection.
  await person.client.revokeUserOAuthToken({ integrationId });
  await expect(rowsOf(person)).rejects.toMatchObject(required);
});

test('whoever loses the action loses the access', async () => {
  const person = await newPerson();
  await rowsOf(person);
  await world.admin.updateUser({ id: person.id, body: { roles: ['Viewer'] } });
  await expect(rowsOf(person)).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('OAuthIntegrationsIssueTokens'),
  });
});

test('embed viewers and environment tokens use the source itself only if the second setting allows it', async () => {
  const person = await newPerson();
  const embedded = await world.embedded({ deploymentId, externalId: unique('viewer') });
  const refused = { status: 403, code: 'oauth_person_required' };
  await expect(rowsOf(embedded)).rejects.toMatchObject(refused);
  const [environment] = (await world.admin.getDeploymentEnvironments({ deploymentId })).items;
  const { data } = await world.admin.createDeploymentEnvironmentToken({
    deploymentId,
    environmentId: environment!.id,
    body: { security_context: {}, expires_in: 600 },
  });
  const byToken = { client: world.bearer(data.token) };
  await expect(rowsOf(byToken)).rejects.toMatchObject(refused);
  await set({ DB_OAUTH_OTHERS: 'true' });
  const own = [[database.source.user, 'of the source itself']];
  expect(await rowsOf(embedded)).toEqual(own);
  expect(await rowsOf(byToken)).toEqual(own);
  expect(await rowsOf(person)).toEqual([[person.username, person.secret]]);
});

test('a schedule reads for each person with their own token, and for others only with the source itself, if it may', async () => {
  const { id: workbookId } = await world.admin.createWorkbook({ deploymentId, body: {} });
  const report = await world.admin.createReport({
    deploymentId,
    body: {
      name: 'Secrets',
      jsonQuery: JSON.stringify(QUERY),
      meta: { chart: { kind: 'table', spec: {} } },
    },
  });
  const position = { x: 0, y: 0, w: 4, h: 4 };
  const widgets = [{ id: 'table', type: 'CHART' as const, position, config: { reportId: report.id } }];
  const { id: dashboardId } = await world.admin.publishDashboard({
    deploymentId,
    workbookId,
    body: { config: { widgets } },
  });
  // The owner is connected too, and what they may read goes to nobody else.
  const [owner, ada, eve] = [await newPerson(), await newPerson(), await newPerson({ isConnected: false })];
  for (const { id: userId } of [owner, ada, eve])
    await world.admin.setUserPolicy({
      body: { resourceType: 'Workbook', resourceId: workbookId, userId, action: 'WorkbookRead' },
    });
  await world.admin.updateUser({ id: owner.id, body: { roles: [role, 'Admin'] } });
  const { id } = await owner.client.createNotification({
    deploymentId,
    body: { dashboardId, scheduleType: 'DAILY', hour: 9 },
  });
  const hook = await world.admin.createWebhook({
    body: { url: 'http://127.0.0.1:9/nobody', events: ['role.deleted'] },
  });
  await world.admin.addRecipients({
    deploymentId,
    id,
    body: {
      recipients: [
        ...[ada, eve].map((person) => ({ type: 'USER' as const, userId: person.id })),
        { type: 'WEBHOOK', webhookId: hook.id },
      ],
    },
  });
  const outcomes = async () => {
    await world.admin.runNotification({ deploymentId, id });
    const list = async () => (await world.admin.listNotificationRuns({ deploymentId, id })).items;
    const isEnded = async () => (await list()).every(({ state }) => ['done', 'failed'].includes(state));
    await expect.poll(isEnded, { timeout: 120_000 }).toBe(true);
    const runId = (await list())[0]!.id;
    const { items } = await world.admin.listNotificationDeliveries({ deploymentId, id, runId });
    return items.map(({ userId, status, reason }) => ({ userId, status, reason }));
  };
  const notConnected = {
    userId: eve.id,
    status: 'failed',
    reason: expect.stringContaining(`Connect at ${world.url}/account`),
  };
  expect(await outcomes()).toEqual([
    { userId: ada.id, status: 'sent', reason: null },
    notConnected,
    { userId: null, status: 'failed', reason: expect.stringContaining('only by people of the account') },
  ]);
  await set({ DB_OAUTH_OTHERS: 'true' });
  expect(await outcomes()).toEqual([
    { userId: ada.id, status: 'sent', reason: null },
    notConnected,
    { userId: null, status: 'sent', reason: null },
  ]);
  const sent = mails.messages.map(({ parsed }) => parsed.text!).join();
  // The owner is told of the failures.
  const others = mails.messages.filter(({ to }) => to.join() !== owner.email);
  expect(others.map(({ to }) => to)).toEqual([[ada.email], [ada.email]]);
  expect(sent).toContain(ada.secret);
  for (const foreign of [owner.secret, eve.secret, 'of the source itself'])
    expect(sent).not.toContain(foreign);
});

test('a token that the source refuses is renewed once, and tried once more', async () => {
  const person = await newPerson();
  const forget = () => database.administer(`alter role "${person.username}" password 'another'`);
  await forget();
  const before = service.renewals;
  expect(await rowsOf(person)).toEqual([[person.username, person.secret]]);
  expect(service.renewals - before).toBe(1);
  // The new one is refused too. The service is not asked again for each query.
  await forget();
  service.isInForce = false;
  const refused = {
    status: 403,
    code: 'oauth_connection_required',
    message: expect.stringContaining('although it was just renewed'),
  };
  await expect(rowsOf(person, { renewQuery: true })).rejects.toMatchObject(refused);
  expect(service.renewals - before).toBe(1);
  await world.server.db.pool.query('update oauth_tokens set retry_at = null where user_id = $1', [person.id]);
  await expect(rowsOf(person, { renewQuery: true })).rejects.toMatchObject(refused);
  expect(service.renewals - before).toBe(2);
});

test('a token that ends is renewed before, once for all queries of all servers', async () => {
  const person = await newPerson();
  const another = await world.anotherServer();
  const clients = [world, { ...world, url: another.url }];
  const { accessToken } = await world.client().login({
    body: { email: person.email, password: 'correct horse battery staple' },
  });
  await endAccess(world, person.id);
  const before = service.renewals;
  const asked = Array.from({ length: 12 }, (_, i) =>
    fetch(`${clients[i % 2]!.url}/query/api/v1/deployments/${deploymentId}/load`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${accessToken}` },
      body: JSON.stringify({ query: { ...QUERY, limit: i + 1 } }),
    }),
  );
  const replies = await Promise.all(asked);
  expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
  expect(service.renewals - before).toBe(1);
});

test('a connection that the person ends while it is renewed stays ended', async () => {
  const person = await newPerson();
  await endAccess(world, person.id);
  const renewal = service.hold();
  const answer = rowsOf(person);
  answer.catch(() => {});
  await renewal.begun;
  await person.client.revokeUserOAuthToken({ integrationId });
  renewal.release();
  await expect(answer).rejects.toMatchObject({ status: 403, code: 'oauth_connection_required' });
  expect(await person.client.listUserOAuthTokens()).toEqual([]);
});

test('a connection that the person makes again while it is renewed is used', async () => {
  const person = await newPerson();
  await endAccess(world, person.id);
  const renewal = service.hold();
  const answer = rowsOf(person);
  answer.catch(() => {});
  await renewal.begun;
  await connect(person);
  renewal.release();
  expect(await answer).toEqual([[person.username, person.secret]]);
});

test('new tokens are not lost if the database cannot store them for a moment', async () => {
  const person = await newPerson();
  await endAccess(world, person.id);
  const { pool } = world.server.db;
  await pool.query(`
    create function refuse_tokens() returns trigger language plpgsql as $$ begin raise exception 'not now'; end $$;
    create trigger not_now before update of access_token on oauth_tokens for each row execute function refuse_tokens()`);
  const before = service.renewals;
  const renewal = service.hold();
  const answer = rowsOf(person);
  answer.catch(() => {});
  await renewal.begun;
  renewal.release();
  // The first attempt is refused by then.
  await expect.poll(() => service.renewals).toBeGreaterThan(before);
  await new Promise((resolve) => setTimeout(resolve, 100));
  await pool.query('drop function refuse_tokens cascade');
  expect(await answer).toEqual([[person.username, person.secret]]);
});

test('tokens go only to sources that the integration names, whatever the variables say', async () => {
  const person = await newPerson();
  const { clientSecret: _kept, name: _name, ...shown } = integration(['elsewhere.example.com:5432']);
  const { name } = await world.admin.getOAuthIntegration({ id: integrationId });
  const update = (hosts: string[] | undefined) =>
    world.admin.updateOAuthIntegration({ id: integrationId, body: { ...shown, name, config: { hosts } } });
  for (const hosts of [['elsewhere.example.com:5432'], undefined]) {
    await update(hosts);
    await expect(rowsOf(person)).rejects.toMatchObject({
      status: 409,
      code: 'source_not_configured',
      message: expect.stringContaining(`does not name ${host}`),
    });
  }
  await update([host]);
  expect(await rowsOf(person)).toEqual([[person.username, person.secret]]);
});

test('tables are listed and the connection is tested as the person too', async () => {
  const developers = await world.admin.createRole({
    body: {
      name: unique('developers'),
      actions: [
        'DeploymentRead',
        'SchemaUpdate',
        'SchemaRead',
        'DataAssetsRead',
        'SqlRunnerRead',
        'DeploymentUpdate',
      ],
    },
  });
  const person = await newPerson({ isConnected: false });
  await world.admin.updateUser({ id: person.id, body: { roles: [role, developers.name] } });
  const source = { deploymentId, name: 'default' };
  await expect(person.client.testDataSource(source)).rejects.toMatchObject({
    code: 'oauth_connection_required',
  });
  await expect(person.client.listDataSourceTables(source)).rejects.toMatchObject({
    code: 'oauth_connection_required',
  });
  await connect(person);
  expect(await person.client.testDataSource(source)).toMatchObject({ isReachable: true });
  const { items } = await person.client.listDataSourceTables(source);
  expect(items.map(({ name }) => name)).toContain('secrets');
});
