import type { Queryable } from '../db/database.ts';
import { json, sql } from '../db/sql.ts';

export interface AuditEntry {
  operation: string;
  resourceType: string;
  resourceId: string;
  deploymentId: number | null;
  embedTenantName?: string | null;
  userId: number | null;
  apiKeyId: number | null;
  ip: string | null;
  requestId: string | null;
  before: object | null;
  after: object | null;
}

/** Whether the entry turns the log off. It must be written, although the log is off already in its transaction. */
const turnsLogOff = sql`(e->>'resourceType' = 'tenantSettings' and e->'after' ? 'auditLogEnabled')`;

export const insertAuditEntries = (db: Queryable, entries: AuditEntry[]) =>
  db.run(
    sql`
    insert into audit_log (operation, resource_type, resource_id, deployment_id, embed_tenant, user_id, api_key_id, ip,
                           request_id, before, after)
    select e->>'operation', e->>'resourceType', e->>'resourceId', (e->>'deploymentId')::bigint, e->>'embedTenantName',
           (e->>'userId')::bigint, (e->>'apiKeyId')::bigint, e->>'ip', e->>'requestId', nullif(e->'before', 'null'),
           nullif(e->'after', 'null')
    from jsonb_array_elements(${json(entries)}::jsonb) e, tenant_settings t
    where t.audit_log_enabled or ${turnsLogOff}`.named('insert-audit-entries'),
  );
