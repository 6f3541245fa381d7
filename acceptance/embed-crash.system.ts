/** Minting during kill -9: confirmed sessions stay valid, and no viewer is stored incompletely. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrielClient, OrielError } from '@oriel/client';
import { afterEach, expect, test } from 'vitest';
import { databaseProcesses, kill, postmasterOf } from './database-processes.ts';
import {
  ADMIN_KEY,
  cleanUp,
  deploymentNamed,
  killServer,
  openDatabase,
  type RunningServer,
  startServer,
  until,
  usedDataDir,
} from './server-process.ts';

afterEach(cleanUp);

const settings = { ORIEL_ADMIN_API_KEY: ADMIN_KEY, ORIEL_LOG_LEVEL: 'warn' };
const CALLS = 1000;
const CALLERS = 8;
/** A request that takes longer counts as hanging, even on a busy machine. */
const ANSWER_WITHIN_MS = 120_000;
/** Servers start many times. */
const TIMEOUT_MS = 600_000;
const inTime = () => ({ signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });

interface ConfirmedSessions {
  /** Sessions that no client has tried to exchange. */
  sessionIds: string[];
  exchanged: { sessionId: string; token: string }[];
}

/** Each request is for a new viewer, and the number of the call is in everything that it creates. */
const requestOf = (k: number, deploymentId: number) => ({
  deploymentId,
  externalId: `viewer-${k}`,
  embedTenantName: `tenant-${k % 3}`,
  creatorMode: true,
  email: `viewer-${k}@example.com`,
  userProfile: { displayName: `viewer ${k}` },
  groupDefinitions: [{ name: `group ${k}` }, { name: 'everybody' }],
  tenantGroupDefinitions: [{ name: `tenant group ${k % 10}` }],
  userAttributeDefinitions: [
    { name: 'a', type: 'number' as const },
    { name: `a ${k}`, type: 'number_array' as const },
  ],
  groups: [`group ${k}`, 'everybody'],
  tenantGroups: [`tenant group ${k % 10}`],
  userAttributes: [
    { name: 'a', value: k },
    { name: `a ${k}`, value: [k] },
  ],
});

const stateOf = (k: number) => ({
  embedTenantName: `tenant-${k % 3}`,
  externalId: `viewer-${k}`,
  email: `viewer-${k}@example.com`,
  displayName: `viewer ${k}`,
  groups: [`groups everybody`, `groups group ${k}`, `tenantGroups tenant group ${k % 10}`],
  attributes: { a: k, [`a ${k}`]: [k] },
});

let counter = 0;

/** Repeats the call up to a thousand times, or until it is stopped. While the database is gone the answer is a 503. */
async function mintUntil(
  server: RunningServer,
  deploymentId: number,
  isOver: () => boolean,
  answered: ConfirmedSessions,
) {
  const admin = server.client(ADMIN_KEY);
  const last = counter + CALLS;
  const call = async (k: number) => {
    const { sessionId } = await admin.generateSession({ body: requestOf(k, deploymentId) }, inTime());
    if (k % 5) return answered.sessionIds.push(sessionId);
    const { token } = await server.client().postTokenBySessionId({ body: { sessionId } }, inTime());
    return answered.exchanged.push({ sessionId, token });
  };
  const caller = async () => {
    while (!isOver() && counter < last) {
      await call(++counter).catch((error) => {
        const isRefused = error instanceof OrielError && error.code === 'unavailable';
        const isCutOff = error instanceof TypeError && server.wasKilled;
        if (!isRefused && !isCutOff) throw new Error(`unexpected answer: ${server.stderr}`, { cause: error });
      });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

async function expectKept(server: RunningServer, { sessionIds, exchanged }: ConfirmedSessions) {
  const client = server.client();
  const lost: string[] = [];
  await inTurns(sessionIds, (sessionId) =>
    client.postTokenBySessionId({ body: { sessionId } }, inTime()).catch((error) => lost.push(error.code)),
  );
  expect(lost).toEqual([]);
  await inTurns(exchanged, async ({ token }) => {
    const viewer = createOrielClient({ baseUrl: server.url, token, retries: 0 });
    await expect(viewer.getEmbedSession({}, inTime())).resolves.toBeDefined();
  });
  for (const { sessionId } of exchanged.slice(0, 10)) {
    const again = client.postTokenBySessionId({ body: { sessionId } }, inTime());
    await expect(again).rejects.toMatchObject({ code: 'invalid_session' });
  }
}

async function inTurns<T>(items: T[], work: (item: T) => Promise<unknown>) {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: CALLERS }, worker));
}

/** Also checks viewers whose call was interrupted before the answer: they are stored completely or not at all. */
async function expectWholeViewers(dataDir: string, atLeast: number) {
  const database = await openDatabase(dataDir);
  try {
    const { rows: viewers } = await database.query(`
      select u.embed_tenant as "embedTenantName", u.external_id as "externalId", u.email, u.first_name as "displayName",
             array(select case when m.in_groups then 'groups ' else 'tenantGroups ' end || g.name
                   from user_group_members m join user_groups g on g.id = m.group_id
                   where m.user_id = u.id and g.embed_tenant = u.embed_tenant order by 1) as groups,
             (select json_object_agg(a.name, v.value) from user_attribute_values v
              join user_attributes a on a.id = v.attribute_id and a.embed_tenant = u.embed_tenant
              where v.user_id = u.id) as attributes
      from users u where u.embed_tenant is not null order by u.id`);
    expect(viewers).toEqual(viewers.map(({ externalId }) => stateOf(Number(externalId.split('-')[1]))));
    expect(viewers.length).toBeGreaterThanOrEqual(atLeast);
    // Every stored viewer had a session, and there is one group and one attribute of its own for each viewer.
    const { rows } = await database.query(`
      select (select count::int from external_user_count) as counted,
             (select count(distinct user_id)::int from embed_sessions) as "withSession",
             (select count(*)::int from user_groups where name like 'group %' and embed_tenant is not null) as groups,
             (select count(*)::int from user_attributes where name like 'a %' and embed_tenant is not null) as attributes`);
    const count = viewers.length;
    expect(rows[0]).toEqual({ counted: count, withSession: count, groups: count, attributes: count });
  } finally {
    await database.end();
  }
}

async function killBoth(server: RunningServer) {
  server.wasKilled = true;
  kill([server.pid, ...databaseProcesses(server.dataDir)]);
  await server.ended;
}

async function killDatabaseAlone(server: RunningServer) {
  kill([postmasterOf(server.dataDir)]);
  await sleep(100);
  const serves = () =>
    server
      .client(ADMIN_KEY)
      .getDeployments({ first: 1 }, inTime())
      .then(
        () => true,
        () => false,
      );
  await until('the server works again', serves);
}

test('confirmed sessions can be exchanged after any kill, and no viewer is stored incompletely', {
  timeout: TIMEOUT_MS,
}, async () => {
  const dataDir = await usedDataDir();
  let server = await startServer(dataDir, settings);
  const { id: deploymentId } = await server
    .client(ADMIN_KEY)
    .createDeployment({ body: deploymentNamed('embedded') });
  const database = await openDatabase(dataDir);
  await database.query('update tenant_settings set use_creator_mode = true');
  await database.end();
  const dry = { body: requestOf(0, deploymentId) };
  await until('creator mode is on', async () => (await server.client(ADMIN_KEY).dryRunSession(dry)).ok);

  let minted = 0;
  for (const strike of [killServer, killDatabaseAlone, killBoth]) {
    const answered: ConfirmedSessions = { sessionIds: [], exchanged: [] };
    let over = false;
    const minting = mintUntil(server, deploymentId, () => over, answered);
    const enough = 20 + Math.random() * 100;
    const striking = (async () => {
      await until('some calls are answered', () => answered.sessionIds.length >= enough);
      await strike(server);
      over = true;
    })();
    await Promise.all([minting, striking]);
    if (server.hasEnded) server = await startServer(dataDir, settings);
    await expectKept(server, answered);
    minted += answered.sessionIds.length + answered.exchanged.length;
    await expectWholeViewers(dataDir, minted);
  }
});
