/**
 * Exchanging sessions: through Oriel, and by pgbench with the same statement. Oriel gathers what comes at the same time
 * into one call of it; pgbench calls it for each session. Each session can be exchanged once.
 */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createSessionIds } from '../../packages/server/src/domains/embed-sessions/session-ids.ts';
import { deriveKey } from '../../packages/server/src/platform/secrets.ts';
import type { Contender } from '../harness/benchmark.ts';
import type { Oriel } from '../harness/oriel.ts';
import { runPgbench } from '../harness/pgbench.ts';
import { runWrk } from '../harness/wrk.ts';
import { CONNECTIONS, type Scripts } from './minting.ts';
import { exchangeSql } from './statements.ts';
import type { Viewers } from './viewers.ts';

/** More than anybody exchanges in a second. */
const PER_SECOND_MAX = 12_000;
const SECRET = 's'.repeat(32);
const HASH = createHash('sha256').update(SECRET).digest('hex');

/** Makes sessions that can be exchanged, numbered from 1. */
async function mintMany(oriel: Oriel, viewers: Viewers, count: number) {
  const client = new pg.Client(oriel.connection);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    await client.query('truncate embed_sessions restart identity');
    await client.query(
      `insert into embed_sessions (secret_hash, deployment_id, embed_tenant, user_id, creator_mode, api_key_id,
                                   security_context, expires_at)
       select '\\x${HASH}', $1, u.embed_tenant, u.id, false, $2, '{"customer": {"id": 4711}}', now() + interval '5 minutes'
       from generate_series(1, $3::int) i
       join (select id, embed_tenant, row_number() over (order by id) as n from users where embed_tenant = 'customer-one') u
         on u.n = 1 + i % 10000
       order by i`,
      [viewers.deploymentId, viewers.apiKeyId, count],
    );
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

/** The session ids of what `mintMany` made, a line each. */
async function writeSessionIds(oriel: Oriel, count: number, file: string) {
  const secret = (await readFile(join(oriel.dataDir, 'secret.key'), 'utf8')).trim();
  const { format } = createSessionIds(deriveKey(secret, 'embed session ids'));
  await writeFile(file, Array.from({ length: count }, (_, i) => `${format(i + 1, SECRET)}\n`).join(''));
}

export const exchangeThroughOriel = (oriel: Oriel, viewers: Viewers, scripts: Scripts): Contender => ({
  name: 'Oriel, exchange',
  async measure(seconds) {
    await mintMany(oriel, viewers, PER_SECOND_MAX * seconds);
    const script = join(scripts.dir, 'exchange.lua');
    const ids = join(scripts.dir, 'session-ids');
    await writeSessionIds(oriel, PER_SECOND_MAX * seconds, ids);
    await writeFile(
      script,
      `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local ids = io.lines("${ids}")
request = function()
  return wrk.format(nil, nil, nil, '{"sessionId":"' .. (ids() or "none") .. '"}')
end
`,
    );
    return runWrk(
      { url: `${oriel.url}/api/v1/embed/session/token`, script, connections: CONNECTIONS },
      seconds,
    );
  },
});

export const exchangeByPgbench = (oriel: Oriel, viewers: Viewers, scripts: Scripts): Contender => ({
  name: 'pgbench, the same statement for one session',
  async measure(seconds) {
    await mintMany(oriel, viewers, PER_SECOND_MAX * seconds);
    const script = join(scripts.dir, 'exchange.sql');
    // Every client takes its own share of the sessions, in order.
    await writeFile(
      script,
      `\\set done :done + 1
\\set id :client_id + 1 + ${CONNECTIONS} * (:done - 1)
${exchangeSql('array[:id]::bigint[]', `array['\\x${HASH}'::bytea]`, 'false')};
`,
    );
    return runPgbench(
      { connection: oriel.connection, script, connections: CONNECTIONS, variables: { done: 0 } },
      seconds,
    );
  },
});
