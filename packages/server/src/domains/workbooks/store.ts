import type { DashboardOutline } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { json, literal, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { PAGE_BYTES_MAX } from '../../platform/http/pages.ts';
import { tooLarge } from '../../platform/limits.ts';
import {
  belongsTo,
  CONTENT_REFUSALS,
  EDIT,
  fromReach,
  grantedIds,
  inTenant,
  type Level,
  ownerOf,
  READ,
  reachedFolders,
  reportLevel,
  type Viewer,
  workbookLevel,
} from '../access/index.ts';
import { nameKey, pathText } from '../folders/index.ts';

/** A workbook without its dashboards, which may be large. */
export interface PlainWorkbookRow {
  id: number;
  deploymentId: number;
  name: string;
  slug: string | null;
  type: 'WORKBOOK';
  userId: number;
  user: { id: number; email: string; firstName: string | null; picture: string | null };
  createdBy: number;
  folderId: number | null;
  folderPath: { id: number; name: string }[];
  calculatedFields: Record<string, unknown>;
  meta: Record<string, unknown>;
  createdAt: string;
  updatedAt: string;
  /** With microseconds, for cursors. */
  createdKey: string;
  version: number;
  embedTenant: string | null;
  level: Level;
}

export interface WorkbookRow extends PlainWorkbookRow {
  dashboardDraft: object | null;
  dashboardPublished: object | null;
  dashboardOutline: DashboardOutline | null;
}

/** The small columns of the workbook `w`, which the user `o` owns and which lies in the folder `f`. */
const SMALL_COLUMNS = sql`
  w.id, w.deployment_id as "deploymentId", w.name, w.slug, 'WORKBOOK' as type, w.user_id as "userId", ${ownerOf('o')} as user,
  coalesce(w.created_by, w.user_id) as "createdBy", w.folder_id as "folderId", ${pathText(sql`f.shown_path`)}::json as "folderPath",
  w.created_at as "createdAt", w.updated_at as "updatedAt",
  w.created_at::text as "createdKey", w.version, w.embed_tenant as "embedTenant"`;

const PLAIN_COLUMNS = sql`${SMALL_COLUMNS}, w.calculated_fields as "calculatedFields", w.meta`;

const COLUMNS = sql`${PLAIN_COLUMNS},
  w.dashboard_draft as "dashboardDraft", w.dashboard_published as "dashboardPublished",
  w.dashboard_outline as "dashboardOutline"`;

/** A workbook in a list. A workbook that no longer fits into the page comes without its large fields. */
export interface ListedWorkbook extends Omit<WorkbookRow, 'level'> {
  fits: boolean;
  /** Whether the viewer may edit it; only then the draft is theirs to see. */
  isEditable: boolean;
  draftIsApp: boolean;
  publishedIsApp: boolean;
}

/**
 * The columns of a list of workbooks `w` in this order, without the dashboards of apps and drafts that the viewer may
 * not edit. When the page is large enough, the other workbooks come without large fields, which are not even read.
 */
const listed = (viewer: Viewer, workbooks: Sql, order: Sql) => {
  const ifFits = (value: string) => raw(`case when w.fits ${value} end`);
  return sql`
    select ${SMALL_COLUMNS}, w.fits, e.is_editable as "isEditable", w.draft_is_app as "draftIsApp", w.published_is_app as "publishedIsApp",
      ${ifFits("then w.calculated_fields else '{}'")} as "calculatedFields", ${ifFits("then w.meta else '{}'")} as meta,
      ${ifFits('and e.is_editable and not w.draft_is_app then w.dashboard_draft')} as "dashboardDraft",
      ${ifFits('and not w.published_is_app then w.dashboard_published')} as "dashboardPublished",
      ${ifFits('and w.dashboard_published is not null and not w.published_is_app then w.dashboard_outline')} as
        "dashboardOutline"
    from (
      select w.*, coalesce(sum(w.listed_bytes) over (${order} rows between unbounded preceding and 1 preceding), 0)
                  < ${PAGE_BYTES_MAX} as fits
      from (${workbooks}) w) w
    join users o on o.id = w.user_id left join folders f on f.id = w.folder_id
    cross join lateral (select coalesce(${workbookLevel(viewer)} >= ${EDIT}, false) as is_editable) e ${order}`;
};

const FROM = sql`workbooks w join users o on o.id = w.user_id left join folders f on f.id = w.folder_id`;

/** The workbooks that the viewer reaches: all by role, or otherwise their own and those that policies reach. */
export const visibleWorkbooks = (viewer: Viewer): Sql =>
  viewer.levels.Workbook >= READ
    ? sql`true`
    : sql`(w.user_id = ${viewer.userId} or w.folder_id in (select unnest(${reachedFolders(viewer)}))
           or w.id in (${grantedIds(viewer, 'Workbook')}))`;

export interface WorkbookFilter {
  /** Undefined for all, null for those at the root. */
  folderId: number | null | undefined;
  embedTenant: string | null;
}

/** `select` returns a query for the workbooks `w` of a table that meet a condition. */
const reached = (
  viewer: Viewer,
  { folderId, embedTenant }: WorkbookFilter,
  select: (from: Sql, condition: Sql) => Sql,
): Sql =>
  fromReach(viewer, 'Workbook', folderId, visibleWorkbooks(viewer), (from, condition) =>
    select(from, sql`${condition} and ${inTenant('w', embedTenant)}`),
  );

const NEWEST_FIRST = raw('order by w.created_at desc, w.id desc');

export const listWorkbooks = (
  db: Queryable,
  viewer: Viewer,
  filter: WorkbookFilter,
  { after, limit }: { after: [createdKey: string, id: number] | null; limit: number },
) => {
  const behind = after
    ? sql`(w.created_at, w.id) < (${after[0]}::timestamptz, ${after[1]}::bigint)`
    : sql`true`;
  const page = reached(
    viewer,
    filter,
    (from, condition) => sql`
      (select w.id, w.created_at from ${from} where ${condition} and ${behind} ${NEWEST_FIRST} limit ${literal(limit)})`,
  );
  return db.many<ListedWorkbook>(
    listed(
      viewer,
      sql`
        select w.* from (select id from (${page}) w ${NEWEST_FIRST} limit ${literal(limit)}) page
        join workbooks w on w.id = page.id`,
      NEWEST_FIRST,
    ),
  );
};

/** The workbooks with these ids that the viewer can read, as in a list, in the order of the ids. */
export const listWorkbooksById = (db: Queryable, viewer: Viewer, ids: readonly number[]) =>
  db.many<ListedWorkbook>(
    listed(
      viewer,
      sql`
        select w.*, wanted.n from unnest(${ids}::bigint[]) with ordinality wanted (id, n) join workbooks w on w.id = wanted.id
        left join folders f on f.id = w.folder_id
        where w.deployment_id = ${viewer.deploymentId} and ${workbookLevel(viewer)} >= ${READ}`,
      raw('order by w.n'),
    ),
  );

export const countWorkbooks = async (db: Queryable, viewer: Viewer, filter: WorkbookFilter) => {
  const all = reached(
    viewer,
    filter,
    (from, condition) => sql`(select w.id from ${from} where ${condition})`,
  );
  return (await db.one<{ count: number }>(sql`select count(*) from (${all}) reached`)).count;
};

const oneWorkbook = (columns: Sql, viewer: Viewer, id: number, least: Level) => sql`
  select * from (select ${columns}, ${workbookLevel(viewer)} as level from ${FROM}
                 where w.deployment_id = ${viewer.deploymentId} and w.id = ${id} offset 0) w
  where level >= ${least}`;

/** Returns the workbook with this id, or nothing if the viewer does not have at least this level on it. */
export const findWorkbook = (db: Queryable, viewer: Viewer, id: number, least: Level = READ) =>
  db.maybeOne<WorkbookRow>(oneWorkbook(COLUMNS, viewer, id, least));

export const findPlainWorkbook = (db: Queryable, viewer: Viewer, id: number, least: Level = READ) =>
  db.maybeOne<PlainWorkbookRow>(oneWorkbook(PLAIN_COLUMNS, viewer, id, least));

/** Nobody else can change the workbook until the transaction ends. */
export const lockWorkbook = (tx: Tx, id: number) =>
  tx.run(sql`select from workbooks where id = ${id} for update`);

/** The main workspace and each embed tenant, given by its content key, have their own slugs. */
export interface SlugSpace {
  deploymentId: number;
  embedTenant: string | null;
}

/** Takeovers of a slug run one after another, so that each one finds the holder that the last one left. */
export const lockSlug = (tx: Tx, { deploymentId, embedTenant }: SlugSpace, slug: string) =>
  tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended(${json(['slug', embedTenant, slug])}, ${deploymentId}))`);

/** Finds the workbook with the slug. Nobody else can change or delete it until the transaction ends. */
export const lockSlugHolder = (tx: Tx, { deploymentId, embedTenant }: SlugSpace, slug: string) =>
  tx.maybeOne<{ id: number }>(sql`
    select id from workbooks w where deployment_id = ${deploymentId} and ${belongsTo('w', embedTenant)} and slug = ${slug}
    for update`);

export const clearSlug = (tx: Tx, id: number) =>
  tx.run(sql`update workbooks set slug = null, version = version + 1, updated_at = now() where id = ${id}`);

export interface NewWorkbook {
  deploymentId: number;
  name: string;
  slug: string | null;
  meta: object;
  folderId: number | null;
  embedTenant: string | null;
  userId: number;
}

const refuseOversize = refusing({
  ...CONTENT_REFUSALS,
  workbooks_name_max_4_kb: tooLarge('name', 4),
  workbooks_meta_max_128_kb: tooLarge('meta', 128),
  workbooks_calculated_fields_max_128_kb: tooLarge('calculatedFields', 128),
  'workbooks_dashboard_draft.theme_max_128_kb': tooLarge('dashboardDraft.theme', 128),
  workbooks_dashboard_draft_max_10240_kb: tooLarge('dashboardDraft', 10240),
  workbooks_dashboard_draft_max_2048_kb: tooLarge('dashboardDraft', 2048),
  workbooks_dashboard_published_max_10240_kb: tooLarge('dashboardPublished', 10240),
  workbooks_dashboard_published_max_2048_kb: tooLarge('dashboardPublished', 2048),
});

/** Returns nothing if the slug is taken. */
export const insertWorkbook = async (tx: Tx, workbook: NewWorkbook) =>
  (
    await tx
      .maybeOne<{ id: number }>(sql`
      insert into workbooks (deployment_id, name, name_key, slug, meta, folder_id, embed_tenant, user_id, created_by)
      values (${workbook.deploymentId}, ${workbook.name}, ${nameKey(workbook.name)}, ${workbook.slug},
              ${json(workbook.meta)}, ${workbook.folderId}, ${workbook.embedTenant}, ${workbook.userId}, ${workbook.userId})
      on conflict (deployment_id, embed_tenant, slug) where slug is not null do nothing
      returning id`)
      .catch(refuseOversize)
  )?.id;

/** Returns whether anything has changed. If not, the version stays the same. */
export async function updateWorkbook(
  tx: Tx,
  workbook: { id: number; name: string; slug: string | null; meta: object; folderId: number | null },
) {
  const columns = raw('name, name_key, slug, meta, folder_id');
  const values = sql`${workbook.name}, ${nameKey(workbook.name)}, ${workbook.slug}, ${json(workbook.meta)}::jsonb,
    ${workbook.folderId}::bigint`;
  const changed = await tx
    .run(sql`
    update workbooks set (${columns}) = (select ${values}), version = version + 1, updated_at = now()
    where id = ${workbook.id} and (${columns}) is distinct from (${values})`)
    .catch(refuseOversize);
  return changed === 1;
}

/** Returns whether anything has changed. */
export async function updateDraft(tx: Tx, id: number, draft: object | null) {
  const value = json(draft);
  const changed = await tx
    .run(sql`
    update workbooks set dashboard_draft = ${value}::jsonb, version = version + 1, updated_at = now()
    where id = ${id} and dashboard_draft is distinct from ${value}::jsonb`)
    .catch(refuseOversize);
  return changed === 1;
}

/** Notes an editing session. Returns whether it is new: of the last ones, that is. */
export const beginEditing = async (tx: Tx, id: number, session: string) =>
  (await tx.run(sql`
    update workbooks set editing_sessions = (array_prepend(${session}, editing_sessions))[1:20]
    where id = ${id} and ${session} <> all(editing_sessions)`)) === 1;

/** Sets the config of the published dashboard. Always a new version, because its reports may have changed. */
export const setPublished = (tx: Tx, id: number, config: object | null, outline: object | null) =>
  tx
    .run(sql`
    update workbooks set dashboard_published = ${json(config)}::jsonb, dashboard_outline = ${json(outline)}::jsonb,
      version = version + 1, updated_at = now()
    where id = ${id}`)
    .catch(refuseOversize);

/** A new version, because something that belongs to the workbook has changed. */
export const touchWorkbook = (tx: Tx, id: number) =>
  tx.run(sql`update workbooks set version = version + 1 where id = ${id}`);

export const deleteWorkbook = (tx: Tx, id: number) => tx.run(sql`delete from workbooks where id = ${id}`);

/**
 * Copies a workbook for another owner, without its slug and its published dashboard. Without the draft, which its
 * reader may not see, the copy begins with what is published.
 */
export const copyWorkbook = async (
  tx: Tx,
  id: number,
  name: string,
  userId: number,
  folderId: number | null,
  withDraft: boolean,
) =>
  (
    await tx
      .one<{ id: number }>(sql`
      insert into workbooks (deployment_id, name, name_key, meta, calculated_fields, dashboard_draft, folder_id, embed_tenant, user_id, created_by)
      select deployment_id, ${name}, ${nameKey(name)}, meta, calculated_fields, ${raw(withDraft ? 'dashboard_draft' : 'dashboard_published')}, ${folderId}::bigint, embed_tenant, ${userId}, ${userId}
      from workbooks where id = ${id} returning id`)
      .catch(refuseOversize)
  ).id;

export const listReadableReportIds = async (tx: Tx, viewer: Viewer, workbookId: number) =>
  (
    await tx.many<{ id: number }>(sql`
      select r.id from reports r left join folders f on f.id = r.scope_folder_id
      where r.workbook_id = ${workbookId} and ${reportLevel(viewer)} >= ${READ} order by r.id`)
  ).map(({ id }) => id);
