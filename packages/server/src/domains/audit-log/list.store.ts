/** Pages of the log, newest first. Every filter has an index in this order. */
import type { Queryable } from '../../platform/db/database.ts';
import { join, literal, type Sql, sql } from '../../platform/db/sql.ts';

export interface EntryFilter {
  actorId: number | null;
  apiKeyId: number | null;
  operation: string | null;
  resourceType: string | null;
  resourceId: string | null;
  embedTenantName: string | null;
  requestId: string | null;
  /** The deployments of the entries. Null means all deployments, and entries that belong to none. */
  deploymentIds: readonly number[] | null;
  /** The beginning of the time, which is included. The end, `to`, is not. */
  from: string | null;
  to: string | null;
}

/** A part of the log that begins and ends with a month. */
export interface Range {
  from: string;
  /** `infinity` is later than every time, also if the two are compared as texts. */
  to: string;
}

/** The time and the id of an entry. The time has microseconds. */
export type Position = readonly [time: string, id: number];

export interface EntryQuery {
  filter: EntryFilter;
  range: Range;
  after: Position | null;
  limit: number;
  maxBytes: number;
}

export interface EntryRow {
  id: number;
  createdAt: string;
  operation: string;
  resourceType: string;
  resourceId: string;
  deploymentId: number | null;
  userId: number | null;
  apiKeyId: number | null;
  ip: string | null;
  requestId: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  time: string;
  /** How many bytes the entries up to this one have. */
  bytes: number;
  /** How many entries were found. Those that come after `maxBytes` are left out. */
  found: number;
}

const given = (value: unknown, condition: Sql): Sql[] => (value === null ? [] : [condition]);

/**
 * One lower and one upper limit. If a scan has several upper limits, PostgreSQL may start it at the wrong one, and then
 * reads all entries between the limits. `least` and `greatest` ignore nulls.
 */
const timesOf = ({ filter: f, range, after }: EntryQuery): Sql[] => [
  sql`created_at >= greatest(${range.from}::timestamptz, ${f.from}::timestamptz)`,
  ...(after !== null && after[0] < range.to
    ? [
        // The second condition leaves out partitions, for which PostgreSQL does not look into the first.
        sql`(created_at, id) < (${after[0]}::timestamptz, ${after[1]}::bigint)`,
        sql`created_at <= ${after[0]}::timestamptz`,
      ]
    : [sql`created_at < least(${range.to}::timestamptz, ${f.to}::timestamptz)`]),
];

const conditionsOf = (query: EntryQuery): Sql[] => {
  const { filter: f } = query;
  return [
    ...timesOf(query),
    ...given(f.actorId, sql`user_id = ${f.actorId}`),
    ...given(f.apiKeyId, sql`api_key_id = ${f.apiKeyId}`),
    ...given(f.operation, sql`operation = ${f.operation}`),
    ...given(f.resourceType, sql`resource_type = ${f.resourceType}`),
    ...given(f.resourceId, sql`resource_id = ${f.resourceId}`),
    ...given(f.embedTenantName, sql`embed_tenant = ${f.embedTenantName}`),
    ...given(f.requestId, sql`request_id = ${f.requestId}`),
  ];
};

const ORDER = sql`order by created_at desc, id desc`;

/** Reads the first entries of each deployment, and takes the first of all of them. */
function pageOf(query: EntryQuery): Sql {
  const conditions = join(conditionsOf(query), ' and ');
  const limit = literal(query.limit);
  const { deploymentIds } = query.filter;
  if (deploymentIds === null) return sql`select * from audit_log where ${conditions} ${ORDER} limit ${limit}`;
  return sql`
    select entry.* from unnest(${deploymentIds}::bigint[]) as scope (id) cross join lateral (
      select * from audit_log where deployment_id = scope.id and ${conditions} ${ORDER} limit ${limit}) entry
    ${ORDER} limit ${limit}`;
}

export const listEntries = (db: Queryable, query: EntryQuery) =>
  db.many<EntryRow>(sql`
    select id, created_at as "createdAt", operation, resource_type as "resourceType", resource_id as "resourceId",
           deployment_id as "deploymentId", user_id as "userId", api_key_id as "apiKeyId", ip, request_id as "requestId",
           before, after, created_at::text as time, bytes, found
    from (
      select *, count(*) over () as found,
        (sum(1000 + coalesce(octet_length(before::text), 0) + coalesce(octet_length(after::text), 0))
          over (${ORDER} rows unbounded preceding))::bigint as bytes,
        row_number() over (${ORDER}) as n
      from (${pageOf(query)}) page) counted
    where n = 1 or bytes <= ${query.maxBytes}
    ${ORDER}`);
