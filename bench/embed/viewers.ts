/** The account that sessions are minted in: groups, attributes and external users who were all seen before. */
import pg from 'pg';
import type { Connection } from '../harness/oriel.ts';

export const VIEWERS = 10_000;
/** The limit of users, which leaves room for the new viewers. */
export const USERS_MAX = 100_000_000;
const BATCH = 100;
export const GROUPS = ['analysts', 'marketing', 'finance'];

/** The full body, without the viewer, who is added later. */
const body = (deploymentId: number) => ({
  deploymentId,
  email: 'ada@customer.example',
  userProfile: { displayName: 'Ada Lovelace', picture: 'https://customer.example/ada.png' },
  embedTenantName: 'customer-one',
  groups: GROUPS,
  userAttributes: [
    { name: 'bench_region', value: 'EU' },
    { name: 'bench_tier', value: 3 },
    { name: 'bench_regions', value: ['EU', 'US'] },
    { name: 'bench_partner', value: true },
  ],
  securityContext: { customer: { id: 4711, name: 'Customer One' }, roles: ['viewer'] },
  settings: { showDashboardChat: false },
});

export interface Viewers {
  deploymentId: number;
  apiKeyId: number;
  userId: number;
  /** The body as JSON that lacks its last brace and the viewer: add `,"externalId":"viewer-17"}`. */
  openBody: string;
}

export async function makeViewers(connection: Connection): Promise<Viewers> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query(`
      insert into deployments (id, name, region, cloud_provider, creation_step, is_managed, target_platform)
      values (7001, 'Sessions', 'local', 'local', 'ready', false, 'local')`);
    await client.query(`insert into user_groups (name) select unnest($1::text[]) on conflict do nothing`, [
      GROUPS,
    ]);
    await client.query(`
      insert into user_attributes (name, type) values ('bench_region', 'string'), ('bench_tier', 'number'),
        ('bench_regions', 'string_array'), ('bench_partner', 'boolean')`);
    const { rows } = await client.query('select id, user_id from api_keys order by id limit 1');
    const viewers = {
      deploymentId: 7001,
      apiKeyId: Number(rows[0].id),
      userId: Number(rows[0].user_id),
      openBody: JSON.stringify(body(7001)).slice(0, -1),
    };
    const origin = { userId: viewers.userId, apiKeyId: viewers.apiKeyId };
    await client.query('set synchronous_commit = off');
    // Mints once for each viewer, so that the measured calls have nothing to create or change. One transaction for all
    // would make many old versions of the row that counts external users, which slows it down.
    for (let from = 1; from <= VIEWERS; from += BATCH) {
      await client.query(
        `select count(mint_embed_session(($1 || ',"creatorMode":false,"externalId":"viewer-' || i || '"}')::jsonb,
                                         ''::bytea, ${USERS_MAX}, $2, false))
         from generate_series($3::int, $4::int) i`,
        [viewers.openBody, JSON.stringify(origin), from, from + BATCH - 1],
      );
    }
    await client.query('truncate embed_sessions');
    await client.query('vacuum (analyze)');
    await client.query('checkpoint');
    return viewers;
  } finally {
    await client.end();
  }
}

/** Leaves exactly this many sessions, as in a busy account: sessions of all viewers, most of which have ended. */
export async function storeSessions(connection: Connection, viewers: Viewers, count: number) {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    await client.query('truncate embed_sessions');
    await client.query(
      `insert into embed_sessions (secret_hash, deployment_id, embed_tenant, user_id, creator_mode, api_key_id,
                                   security_context, created_at, expires_at, exchanged_at)
       select sha256(i::text::bytea), $1, u.embed_tenant, u.id, false, $2, '{"customer": {"id": 4711}}',
              now() - interval '2 days', now() - interval '1 day', now() - interval '2 days'
       from generate_series(1, $3::int) i
       join (select id, embed_tenant, row_number() over (order by id) as n from users where embed_tenant = 'customer-one') u
         on u.n = 1 + i % ${VIEWERS}
       order by i`,
      [viewers.deploymentId, viewers.apiKeyId, count],
    );
    await client.query('vacuum (analyze) embed_sessions');
    await client.query('checkpoint');
  } finally {
    await client.end();
  }
}
