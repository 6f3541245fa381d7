/** Connections that people have begun. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export interface NewFlow {
  stateHash: Buffer;
  userId: number;
  integrationId: number;
  sessionId: number | null;
  seconds: number;
}

/** Only the session of a browser is kept: a program has no browser to bind to. */
export const insertFlow = (tx: Tx, flow: NewFlow) =>
  tx.run(sql`
    insert into oauth_flows (state_hash, user_id, integration_id, session_id, expires_at)
    values (${flow.stateHash}, ${flow.userId}, ${flow.integrationId},
            (select id from sessions where id = ${flow.sessionId} and kind = 'console'),
            now() + ${flow.seconds} * interval '1 second')`);

/** Keeps the newest ones of the person. */
export const deleteOlderFlows = (tx: Tx, userId: number, kept: number) =>
  tx.run(sql`
    delete from oauth_flows where user_id = ${userId}
      and id <= (select id from oauth_flows where user_id = ${userId} order by id desc offset ${kept} limit 1)`);

/** Takes a flow: only once, only for the person who began it and, if a browser began it, only in its session. */
export const takeFlow = (
  db: Queryable,
  { stateHash, userId, sessionId }: Pick<NewFlow, 'stateHash' | 'userId'> & { sessionId: number },
) =>
  db.maybeOne<{ integrationId: number }>(sql`
    delete from oauth_flows
    where state_hash = ${stateHash} and user_id = ${userId} and (session_id is null or session_id = ${sessionId})
      and expires_at > now()
    returning integration_id as "integrationId"`);

export const deleteFlowsOf = (tx: Tx, integrationId: number) =>
  tx.run(sql`delete from oauth_flows where integration_id = ${integrationId}`);

export const deleteExpiredFlows = (db: Queryable, rows: number) =>
  db.run(sql`
    delete from oauth_flows
    where id = any(array(select id from oauth_flows where expires_at <= now() limit ${rows}))`);
