import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';

export type HostKind = 'github' | 'github_app' | 'gitlab' | 'gitea' | 'bitbucket' | 'git';

export interface InstallationRow {
  id: number;
  name: string;
  kind: HostKind;
  url: string;
  username: string | null;
  tokenId: string;
  /** The token, encrypted. */
  token: Buffer;
  /** The installation of a GitHub App, which has no token of its own; null for other connections. */
  appInstallationId: number | null;
}

const INSTALLATION = sql`
  id, name, kind, url, username, token_id as "tokenId", token, app_installation_id as "appInstallationId"`;

export const listInstallations = (db: Queryable) =>
  db.many<InstallationRow>(sql`select ${INSTALLATION} from git_installations order by id`);

export const findInstallation = (db: Queryable, id: number) =>
  db.maybeOne<InstallationRow>(sql`select ${INSTALLATION} from git_installations where id = ${id}`);

/** The connection cannot be deleted until the transaction ends. */
export const lockInstallation = (tx: Tx, id: number) =>
  tx.maybeOne<InstallationRow>(
    sql`select ${INSTALLATION} from git_installations where id = ${id} for key share`,
  );

/** Only one transaction at a time adds a connection, so that their number is exact. */
export const lockInstallations = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('connections to git hosts', 0))`);

export const countInstallations = async (db: Queryable) =>
  (await db.one<{ count: number }>(sql`select count(*)::int from git_installations`)).count;

export const insertInstallation = (tx: Tx, made: Omit<InstallationRow, 'id' | 'appInstallationId'>) =>
  tx.one<InstallationRow>(sql`
    insert into git_installations (name, kind, url, username, token_id, token)
    values (${made.name}, ${made.kind}, ${made.url}, ${made.username}, ${made.tokenId}, ${made.token})
    returning ${INSTALLATION}`);

export const lockInstallationToChange = (tx: Tx, id: number) =>
  tx.maybeOne<InstallationRow>(
    sql`select ${INSTALLATION} from git_installations where id = ${id} for no key update`,
  );

export const updateInstallation = (
  tx: Tx,
  { id, name, username, tokenId, token }: Omit<InstallationRow, 'kind' | 'url' | 'appInstallationId'>,
) =>
  tx.one<InstallationRow>(sql`
    update git_installations set name = ${name}, username = ${username}, token_id = ${tokenId}, token = ${token}
    where id = ${id} returning ${INSTALLATION}`);

/** Ends the backoff: the next poll asks the hosts of these connections. */
export const forgetFailures = (tx: Tx, installationId: number) =>
  tx.run(sql`
    update git_connections set failures = 0 where installation_id = ${installationId} and failures > 0`);

/** Writes down where a GitHub App is installed, and forgets where it is not any more, unless deployments are connected. */
export async function updateAppInstallations(
  tx: Tx,
  url: string,
  found: readonly { id: number; login: string }[],
): Promise<void> {
  await tx.run(sql`
    insert into git_installations (name, kind, url, token_id, token, app_installation_id)
    select n.name, 'github_app', ${url}, gen_random_uuid(), '', n.id
    from unnest(${found.map(({ login }) => login)}::text[], ${found.map(({ id }) => id)}::bigint[]) as n (name, id)
    on conflict (app_installation_id) do update set name = excluded.name, url = excluded.url
    where (git_installations.name, git_installations.url) is distinct from (excluded.name, excluded.url)`);
  await tx.run(sql`
    delete from git_installations i
    where kind = 'github_app' and app_installation_id <> all(${found.map(({ id }) => id)}::bigint[])
      and not exists (select from git_connections where installation_id = i.id)
      and not exists (select from model_sync_sources where installation_id = i.id)`);
}

export const isInstallationUsed = async (db: Queryable, id: number) =>
  (
    await db.one<{ isUsed: boolean }>(
      sql`
        select exists (select from git_connections where installation_id = ${id})
          or exists (select from model_sync_sources where installation_id = ${id}) as "isUsed"`,
    )
  ).isUsed;

export const deleteInstallation = (tx: Tx, id: number) =>
  tx.maybeOne<InstallationRow>(sql`delete from git_installations where id = ${id} returning ${INSTALLATION}`);

export interface ConnectionRow {
  deploymentId: number;
  installationId: number;
  repository: string;
  url: string;
  webhookId: string;
  /** The secret of the webhook, encrypted. */
  webhookSecret: Buffer | null;
  message: string | null;
  checkedAt: string | null;
}

const CONNECTION = sql`
  deployment_id as "deploymentId", installation_id as "installationId", repository, url, webhook_id as "webhookId",
  webhook_secret as "webhookSecret", message, checked_at as "checkedAt"`;

export const findConnection = (db: Queryable, deploymentId: number) =>
  db.maybeOne<ConnectionRow>(
    sql`select ${CONNECTION} from git_connections where deployment_id = ${deploymentId}`,
  );

export const findConnectionByWebhook = (db: Queryable, webhookId: string) =>
  db.maybeOne<ConnectionRow>(sql`select ${CONNECTION} from git_connections where webhook_id = ${webhookId}`);

/** Returns nothing if the deployment is connected already. */
export const insertConnection = (
  tx: Tx,
  made: Pick<ConnectionRow, 'deploymentId' | 'installationId' | 'repository' | 'url' | 'webhookId'>,
) =>
  tx.maybeOne<ConnectionRow>(sql`
    insert into git_connections (deployment_id, installation_id, repository, url, webhook_id, checked_at)
    values (${made.deploymentId}, ${made.installationId}, ${made.repository}, ${made.url}, ${made.webhookId}, now())
    on conflict do nothing returning ${CONNECTION}`);

export const deleteConnection = (tx: Tx, deploymentId: number) =>
  tx.maybeOne<ConnectionRow>(
    sql`delete from git_connections where deployment_id = ${deploymentId} returning ${CONNECTION}`,
  );

export const updateWebhookSecret = (tx: Tx, deploymentId: number, webhookSecret: Buffer) =>
  tx.maybeOne<ConnectionRow>(sql`
    update git_connections set webhook_secret = ${webhookSecret} where deployment_id = ${deploymentId}
    returning ${CONNECTION}`);

/** Returns what was wrong before, or nothing if the deployment is not connected. */
export const updateChecked = (tx: Tx, deploymentId: number, message: string | null) =>
  tx.maybeOne<{ before: string | null }>(sql`
    update git_connections c
    set message = ${message}, checked_at = now(),
        failures = case when ${message}::text is null then 0 else c.failures + 1 end
    from git_connections before
    where c.deployment_id = ${deploymentId} and before.deployment_id = c.deployment_id
    returning before.message as before`);

export const updateWebhookReceived = (tx: Tx, deploymentId: number) =>
  tx.run(sql`update git_connections set webhook_received_at = now() where deployment_id = ${deploymentId}`);

/** The clock of the database, for `wasWebhookReceived`. */
export const findNow = async (db: Queryable) =>
  (await db.one<{ now: string }>(sql`select now()::text as now`)).now;

export const wasWebhookReceived = async (db: Queryable, deploymentId: number, since: string) =>
  (await db.maybeOne<{ id: number }>(sql`
    select deployment_id as id from git_connections
    where deployment_id = ${deploymentId} and webhook_received_at >= ${since}::timestamptz`)) !== undefined;

/** Notes that a job is wanted. Returns false if one waits or runs already, or if the deployment is not connected. */
export const requestSync = async (tx: Tx, deploymentId: number, mustLook: boolean) =>
  (
    await tx.maybeOne<{ isFirst: boolean }>(sql`
      update git_connections c set requested_at = clock_timestamp(), must_look = c.must_look or ${mustLook}
      from git_connections before
      where c.deployment_id = ${deploymentId} and before.deployment_id = c.deployment_id
      returning before.requested_at is null as "isFirst"`)
  )?.isFirst === true;

export interface SyncRequest {
  requestedAt: string | null;
  mustLook: boolean;
}

/** Begins a sync: takes all requests until now. */
export const beginSync = (db: Database, deploymentId: number) =>
  db.writes.maybeOne<SyncRequest>(sql`
    update git_connections c set must_look = false
    from git_connections before
    where c.deployment_id = ${deploymentId} and before.deployment_id = c.deployment_id
    returning c.requested_at::text as "requestedAt", before.must_look as "mustLook"`);

/** Returns false if something was asked for since the job began. */
export const endSync = async (db: Database, deploymentId: number, requestedAt: string | null) =>
  (await db.writes.run(sql`
    update git_connections set requested_at = null
    where deployment_id = ${deploymentId} and requested_at::text is not distinct from ${requestedAt}::text`)) >
  0;

/** Forgets a request whose job was lost. */
export const forgetRequest = (tx: Tx, deploymentId: number) =>
  tx.run(sql`update git_connections set requested_at = null where deployment_id = ${deploymentId}`);

/** How often the pause of a failing connection is doubled: from five minutes to about ten hours. */
const DOUBLINGS_MAX = 7;

/**
 * The connections that were not checked for so long, or for longer if the last checks failed. Leaves out those with a
 * request whose job still waits or runs: after an hour, the job counts as lost.
 */
export const listUnchecked = (db: Queryable, seconds: number, limit: number) =>
  db.many<{ deploymentId: number }>(sql`
    select deployment_id as "deploymentId" from git_connections
    where coalesce(checked_at, created_at)
        < now() - make_interval(secs => ${seconds}) * power(2, least(greatest(failures - 1, 0), ${DOUBLINGS_MAX}))
      and (requested_at is null or requested_at < now() - interval '1 hour')
    order by checked_at nulls first limit ${limit}`);

const headsWhere = async (db: Queryable, deploymentId: number, isOnlyThere: boolean) =>
  new Map(
    (
      await db.many<{ branchName: string; head: string }>(sql`
        select branch_name as "branchName", head from git_remote_heads
        where deployment_id = ${deploymentId} and is_only_there = ${isOnlyThere}`)
    ).map(({ branchName, head }) => [branchName, head]),
  );

/** The heads that were last seen in the repository, by the names of branches that are on both sides. */
export const listRemoteHeads = (db: Queryable, deploymentId: number) => headsWhere(db, deploymentId, false);

/** What the branches that only the repository has had when they were looked at. */
export const listHeadsOnlyThere = (db: Queryable, deploymentId: number) => headsWhere(db, deploymentId, true);

/** Marks the branches that are gone here as only in the repository, where they may still be. */
export const markOnlyThere = (db: Queryable, deploymentId: number, branchNames: readonly string[]) =>
  db.run(sql`
    update git_remote_heads set is_only_there = true
    where deployment_id = ${deploymentId} and not is_only_there and branch_name <> all(${branchNames}::text[])`);

/** Notes what branches have that only the repository has. */
export const upsertHeadsOnlyThere = (
  db: Queryable,
  deploymentId: number,
  heads: readonly (readonly [name: string, head: string])[],
) =>
  db.run(sql`
    insert into git_remote_heads (deployment_id, branch_name, head, is_only_there)
    select c.deployment_id, n.name, n.head, true
    from git_connections c,
      unnest(${heads.map(([name]) => name)}::text[], ${heads.map(([, head]) => head)}::text[]) as n (name, head)
    where c.deployment_id = ${deploymentId}
    on conflict (deployment_id, branch_name) do update set head = excluded.head
    where git_remote_heads.is_only_there`);

/** Forgets branches that the repository does not have any more, or that are on both sides now. */
export const deleteHeadsOnlyThere = (db: Queryable, deploymentId: number, kept: readonly string[]) =>
  db.run(sql`
    delete from git_remote_heads
    where deployment_id = ${deploymentId} and is_only_there and branch_name <> all(${kept}::text[])`);

/** Returns whether the branches were known already. */
export const updateKnowsBranches = async (db: Database, deploymentId: number) =>
  (
    await db.writes.maybeOne<{ before: boolean }>(sql`
      update git_connections c set knows_branches = true
      from git_connections before
      where c.deployment_id = ${deploymentId} and before.deployment_id = c.deployment_id
      returning before.knows_branches as before`)
  )?.before === true;

/** Keeps what the repository had, before its connection is deleted. */
export const keepFormerHeads = (tx: Tx, deploymentId: number) =>
  tx.run(sql`
    insert into git_former_connections (deployment_id, url, heads)
    select c.deployment_id, c.url,
           coalesce(jsonb_object_agg(h.branch_name, h.head) filter (where not h.is_only_there), '{}')
    from git_connections c left join git_remote_heads h on h.deployment_id = c.deployment_id
    where c.deployment_id = ${deploymentId} group by c.deployment_id
    on conflict (deployment_id) do update set url = excluded.url, heads = excluded.heads`);

/** What a branch of the repository had when the deployment was disconnected from it. */
export const findFormerHead = async (db: Queryable, deploymentId: number, url: string, branchName: string) =>
  (
    await db.maybeOne<{ head: string | null }>(sql`
      select heads ->> ${branchName} as head from git_former_connections
      where deployment_id = ${deploymentId} and url = ${url}`)
  )?.head ?? undefined;

/** The deployment is connected to the same repository again. */
export const restoreFormerHeads = (tx: Tx, deploymentId: number) =>
  tx.run(sql`
    insert into git_remote_heads (deployment_id, branch_name, head)
    select c.deployment_id, h.key, h.value
    from git_connections c join git_former_connections f on f.deployment_id = c.deployment_id and f.url = c.url,
      jsonb_each_text(f.heads) h
    where c.deployment_id = ${deploymentId}
    on conflict do nothing`);

/** Whether another deployment serves this branch of the same repository. */
export const isServedElsewhere = async (db: Queryable, deploymentId: number, branchName: string) =>
  (
    await db.one<{ isServed: boolean }>(sql`
      select exists (
        select from git_connections own join git_connections other on other.url = own.url
        join deployments d on d.id = other.deployment_id
        where own.deployment_id = ${deploymentId} and other.deployment_id <> ${deploymentId}
          and d.deploy_branch_name = ${branchName}) as "isServed"`)
  ).isServed;

/** Clears the secrets, for a database whose secret key is lost. */
export async function clearGitSecrets(tx: Tx) {
  await tx.run(sql`update git_installations set token = ''`);
  await tx.run(sql`update git_connections set webhook_secret = null`);
}

export const upsertRemoteHead = (db: Queryable, deploymentId: number, branchName: string, head: string) =>
  db.run(sql`
    insert into git_remote_heads (deployment_id, branch_name, head)
    select deployment_id, ${branchName}, ${head} from git_connections where deployment_id = ${deploymentId}
    on conflict (deployment_id, branch_name) do update set head = excluded.head, is_only_there = false`);

/** Notes what the repository has, unless another process has noted something since: that is newer. */
export const noteRemoteHead = (
  tx: Tx,
  deploymentId: number,
  branchName: string,
  { head, before = null }: { head: string; before: string | null | undefined },
) =>
  tx.run(sql`
    insert into git_remote_heads as h (deployment_id, branch_name, head)
    select deployment_id, ${branchName}, ${head} from git_connections where deployment_id = ${deploymentId}
    on conflict (deployment_id, branch_name) do update set head = excluded.head, is_only_there = false
    where h.is_only_there or h.head = ${before}`);

export const deleteRemoteHead = (db: Queryable, deploymentId: number, branchName: string) =>
  db.run(sql`
    delete from git_remote_heads where deployment_id = ${deploymentId} and branch_name = ${branchName}`);

/** Returns false if the delivery was received before. */
export const insertDelivery = async (tx: Tx, deploymentId: number, deliveryId: string) =>
  (await tx.run(sql`
    insert into git_deliveries (deployment_id, delivery_id) values (${deploymentId}, ${deliveryId})
    on conflict do nothing`)) > 0;

export const deleteOldDeliveries = (db: Database) =>
  db.writes.run(sql`delete from git_deliveries where received_at < now() - interval '7 days'`);
