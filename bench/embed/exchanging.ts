/** Exchanging sessions: through Oriel, and by pgbench with a plain statement. Each session can be exchanged once. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { createCheckedIds } from '../../packages/server/src/platform/secrets/checked-ids.ts';
import { deriveKey } from '../../packages/server/src/platform/secrets/keyring.ts';
import type { Anchor, Contender } from '../harness/benchmark.ts';
import type { Oriel } from '../harness/oriel.ts';
import { runPgbench } from '../harness/pgbench.ts';
import { runWrk } from '../harness/wrk.ts';
import type { Account } from './account.ts';
import { CONNECTIONS } from './minting.ts';
import { VIEWERS, type Viewers } from './viewers.ts';

/** More sessions than the server can exchange in a second. */
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
         on u.n = 1 + i % ${VIEWERS}
       order by i`,
      [viewers.deploymentId, viewers.apiKeyId, count],
    );
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}

/** The ids of the sessions that `mintMany` made, one per line. */
async function writeSessionIds(oriel: Oriel, count: number, file: string) {
  const secret = (await readFile(join(oriel.dataDir, 'secret.key'), 'utf8')).trim();
  const { format } = createCheckedIds([deriveKey(secret, 'embed session ids')], { secretBytes: 24 });
  await writeFile(file, Array.from({ length: count }, (_, i) => `${format(i + 1, SECRET)}\n`).join(''));
}

export const exchangeThroughOriel = ({ oriel, viewers, scripts }: Account): Contender => ({
  name: 'Oriel, exchange',
  async measure(seconds) {
    await mintMany(oriel, viewers, PER_SECOND_MAX * seconds);
    const ids = join(scripts.dir, 'session-ids');
    await writeSessionIds(oriel, PER_SECOND_MAX * seconds, ids);
    const script = await scripts.write('exchange.lua', exchangeLua(ids));
    return runWrk(
      { url: `${oriel.url}/api/v1/embed/session/token`, script, connections: CONNECTIONS },
      seconds,
    );
  },
});

const exchangeLua = (ids: string) => `wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local ids = io.lines("${ids}")
request = function()
  return wrk.format(nil, nil, nil, '{"sessionId":"' .. (ids() or "none") .. '"}')
end
`;

/** Written here instead of taken from the server, so that the comparison shows if the server's statement gets slower. */
const PLAIN_EXCHANGE = `
update embed_sessions s
set exchanged_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'
from users u
where s.id = :id and s.secret_hash = '\\x${HASH}'
  and s.exchanged_at is null and s.revoked_at is null and s.expires_at > now()
  and u.id = s.user_id and not u.is_deactivated
  and exists (select from deployments d where d.id = s.deployment_id)
  and exists (select from embed_tenants t where t.name = s.embed_tenant)
  and (not s.creator_mode or (select use_creator_mode from tenant_settings))
returning s.id, s.user_id, s.deployment_id, s.embed_tenant, s.creator_mode, s.api_key_id, u.embed_tenant is null,
  extract(epoch from s.exchanged_at)::double precision;
`;

export const exchangeByPgbench = ({ oriel, viewers, scripts }: Account): Anchor => ({
  name: 'pgbench, a plain update … returning',
  does:
    'one statement for each session with the same checks: secret, expiry, revocation, user, deployment, embed tenant, ' +
    'creator mode. Without HTTP, the check of the session id, the limit of failures, the gate, signing a token, and a log.',
  async measure(seconds) {
    await mintMany(oriel, viewers, PER_SECOND_MAX * seconds);
    // Every client exchanges its own share of the sessions, in order.
    const script = await scripts.write(
      'exchange.sql',
      `\\set done :done + 1\n\\set id :client_id + 1 + ${CONNECTIONS} * (:done - 1)${PLAIN_EXCHANGE}`,
    );
    return runPgbench(
      { connection: oriel.connection, script, connections: CONNECTIONS, variables: { done: 0 } },
      seconds,
    );
  },
});
