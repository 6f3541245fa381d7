import type { Queryable } from '../db/database.ts';
import { json, sql } from '../db/sql.ts';

export interface AuditEntry {
  operation: string;
  resourceType: string;
  resourceId: string;
  deploymentId: number | null;
  userId: number | null;
  apiKeyId: number | null;
  ip: string | null;
  requestId: string | null;
  before: object | null;
  after: object | null;
}

export const insertAuditEntries = (db: Queryable, entries: AuditEntry[]) =>
  db.run(
    sql`
    insert into audit_log (operation, resource_type, resource_id, deployment_id, user_id, api_key_id, ip, request_id, before, after)
    select e->>'operation', e->>'resourceType', e->>'resourceId', (e->>'deploymentId')::bigint, (e->>'userId')::bigint,
           (e->>'apiKeyId')::bigint, e->>'ip', e->>'requestId', nullif(e->'before', 'null'), nullif(e->'after', 'null')
    from jsonb_array_elements(${json(entries)}::jsonb) e`.named('insert-audit-entries'),
  );

/** Deletes the oldest entries that are older than this, up to the limit. Returns how many it deleted. */
export const deleteAuditEntries = (db: Queryable, olderThanDays: number, limit: number) =>
  db.run(sql`
    delete from audit_log where id in (
      select id from audit_log where created_at < now() - ${olderThanDays} * interval '24 hours'
      order by created_at, id limit ${limit})`);
