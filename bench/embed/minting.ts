/** Minting sessions: through Oriel, by the same statement in pgbench, and by plain inserts in pgbench. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Anchor, Contender } from '../harness/benchmark.ts';
import type { Oriel } from '../harness/oriel.ts';
import { runPaced } from '../harness/paced-load.ts';
import { runPgbench } from '../harness/pgbench.ts';
import { undoAtEnd } from '../harness/undo.ts';
import { runWrk } from '../harness/wrk.ts';
import { mintSql } from './statements.ts';
import { GROUPS, USERS_MAX, VIEWERS, type Viewers } from './viewers.ts';

export const CONNECTIONS = 32;
/** Gives each connection time to do some work before the measurement starts. */
const WARM_UP_SECONDS = 2;

const WITHOUT = 'Without HTTP, credential, validation, gate, session id and log.';
const SAME_FUNCTION = `calls the same database function, so it does not show whether that function is fast. ${WITHOUT}`;
const PLAIN = `It looks up, compares, locks and counts nothing. ${WITHOUT}`;

export async function makeScripts(viewers: Viewers) {
  const dir = await mkdtemp(join(tmpdir(), 'oriel-bench-scripts-'));
  undoAtEnd(() => rm(dir, { recursive: true, force: true }));
  const write = async (name: string, text: string) => {
    const file = join(dir, name);
    await writeFile(file, text);
    return file;
  };
  const origin = JSON.stringify({
    userId: viewers.userId,
    apiKeyId: viewers.apiKeyId,
    ip: '127.0.0.1',
    requestId: 'bench-0001',
  });
  const open = `${viewers.openBody},"creatorMode":false,"externalId":"`;
  const mint = (externalId: string) =>
    mintSql(`${sqlText(open)} || ${externalId} || '"}'`, HASH, String(USERS_MAX), sqlText(origin), 'false');
  return {
    dir,
    lua: await write('mint.lua', mintLua(viewers, `"viewer-" .. math.random(1, ${VIEWERS})`)),
    sql: await write(
      'mint.sql',
      `\\set viewer random(1, ${VIEWERS})\n${mint(`'viewer-' || :viewer::text`)};\n`,
    ),
    newSql: await write('mint-new.sql', `${NEXT_VIEWER}${mint(NEW_VIEWER)};\n`),
    plainSql: await write('plain.sql', `\\set viewer random(1, ${VIEWERS})\n${plainSql(viewers)}`),
    plainNewSql: await write('plain-new.sql', `${NEXT_VIEWER}${plainNewSql(viewers)}`),
    write,
  };
}

export type Scripts = Awaited<ReturnType<typeof makeScripts>>;

const HASH = `'\\x${'ab'.repeat(32)}'::bytea`;
const NEXT_VIEWER = '\\set n :n + 1\n';
const NEW_VIEWER = `'new-' || :run::text || '-' || :client_id::text || '-' || :n::text`;

const mintLua = (viewers: Viewers, externalId: string) => `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local open = ${luaText(`${viewers.openBody},"externalId":"`)}
local n = 0
request = function()
  n = n + 1
  return wrk.format(nil, nil, nil, open .. ${externalId} .. '"}')
end
`;

const sessionSql = ({ deploymentId, apiKeyId }: Viewers, user: string) => `
insert into embed_sessions (secret_hash, deployment_id, embed_tenant, user_id, creator_mode, api_key_id, security_context,
                            settings, expires_at)
select ${HASH}, ${deploymentId}, 'customer-one', id, false, ${apiKeyId}, '{"roles": ["viewer"]}', '{}', now() + interval '5 minutes'
from ${user} returning id;
`;

const plainSql = (viewers: Viewers) =>
  sessionSql(
    viewers,
    `users where embed_tenant = 'customer-one' and external_id = 'viewer-' || :viewer::text`,
  );

/** The rows that a new viewer needs: a user, three memberships, four values, a session. */
const plainNewSql = (viewers: Viewers) => `with made as (
  insert into users (username, email, first_name, picture, external_id, embed_tenant)
  values ('customer-one/' || ${NEW_VIEWER}, 'ada@customer.example', 'Ada Lovelace', 'https'||chr(58)||'//customer.example/ada.png',
          ${NEW_VIEWER}, 'customer-one') returning id),
joined as (
  insert into user_group_members (user_id, group_id, in_groups, in_tenant_groups)
  select made.id, g.id, true, false from made, user_groups g
  where g.embed_tenant is null and g.name in (${GROUPS.map((name) => `'${name}'`).join()})),
valued as (
  insert into user_attribute_values (user_id, attribute_id, value)
  select made.id, a.id, '"EU"' from made, user_attributes a where a.embed_tenant is null and a.name like 'bench%')
${sessionSql(viewers, 'made').trim()}
`;

const luaText = (text: string) => `[==[${text}]==]`;
// pgbench reads a colon before a word as a variable, even within quotes.
const sqlText = (text: string) =>
  `'${text.replaceAll("'", "''").replaceAll(/:(?=[A-Za-z_])/g, "'||chr(58)||'")}'`;

const address = (oriel: Oriel) => `${oriel.url}/api/v1/embed/generate-session`;

export const mintingLoad = (oriel: Oriel, scripts: Scripts) => ({
  url: address(oriel),
  headers: oriel.headers,
  script: scripts.lua,
});

export const throughOriel = (name: string, oriel: Oriel, scripts: Scripts): Contender => ({
  name,
  measure: (seconds) => runWrk({ ...mintingLoad(oriel, scripts), connections: CONNECTIONS }, seconds),
});

let runs = 0;

/** For viewers who were never seen before: no two runs use the same names. */
export const newThroughOriel = (oriel: Oriel, viewers: Viewers, scripts: Scripts): Contender => ({
  name: 'Oriel, generate-session for new viewers',
  async measure(seconds) {
    const script = await scripts.write('mint-new.lua', mintLua(viewers, `"new-${++runs}-" .. n`));
    return runWrk({ ...mintingLoad(oriel, scripts), script, connections: CONNECTIONS }, seconds);
  },
});

const byPgbench = (oriel: Oriel, script: string, name: string, does: string): Anchor => ({
  name,
  does,
  measure: (seconds) =>
    runPgbench(
      {
        connection: oriel.connection,
        script,
        connections: CONNECTIONS,
        variables: { n: 0, run: ++runs },
      },
      seconds,
    ),
});

export const mintByPgbench = (oriel: Oriel, { sql }: Scripts) =>
  byPgbench(oriel, sql, 'pgbench, the same statement', SAME_FUNCTION);

export const plainByPgbench = (oriel: Oriel, { plainSql: file }: Scripts) =>
  byPgbench(oriel, file, 'pgbench, one plain insert', `inserts the session of a user who exists. ${PLAIN}`);

export const newByPgbench = (oriel: Oriel, { newSql }: Scripts) =>
  byPgbench(oriel, newSql, 'pgbench, the same statement for new viewers', SAME_FUNCTION);

export const plainNewByPgbench = (oriel: Oriel, { plainNewSql: file }: Scripts) =>
  byPgbench(
    oriel,
    file,
    'pgbench, plain inserts for new viewers',
    `inserts the user, three memberships, four values and the session in one statement. ${PLAIN}`,
  );

export const pacedThroughOriel = (oriel: Oriel, viewers: Viewers, perSecond: number): Contender => ({
  name: `Oriel, ${Math.round(perSecond)} a second offered`,
  measure: (seconds) =>
    runPaced(
      {
        url: address(oriel),
        headers: () => oriel.headers,
        body: () => `${viewers.openBody},"externalId":"viewer-${1 + Math.floor(Math.random() * VIEWERS)}"}`,
        connections: CONNECTIONS,
        perSecond,
        warmUpSeconds: WARM_UP_SECONDS,
      },
      seconds,
    ),
});

export const pacedByPgbench = (oriel: Oriel, scripts: Scripts, perSecond: number): Anchor => ({
  name: `pgbench, ${Math.round(perSecond)} a second offered`,
  does: `offers the same load to the same function. Both sides run for ${WARM_UP_SECONDS} s on their ${CONNECTIONS} connections before the measurement starts. ${WITHOUT}`,
  measure: (seconds) =>
    runPgbench(
      {
        connection: oriel.connection,
        script: scripts.sql,
        connections: CONNECTIONS,
        paced: { perSecond, warmUpSeconds: WARM_UP_SECONDS, logDir: scripts.dir },
      },
      seconds,
    ),
});
