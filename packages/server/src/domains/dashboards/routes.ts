import { randomUUID } from 'node:crypto';
import { beginsWithAttributes, withAttributes } from '@oriel/charts/pure';
import { operations } from '@oriel/contract';
import { mayIn } from '../../platform/auth/access.ts';
import { type Caller, embedOf, sharerOf } from '../../platform/auth/actor.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { EDIT, MANAGE, READ, viewerOf } from '../access/index.ts';
import type { Queries, QueryCall, QueryOrSql } from '../queries/index.ts';
import {
  lockPlainWorkbook,
  lockWorkbookRow,
  requirePlainWorkbook,
  touchWorkbook,
} from '../workbooks/index.ts';
import type { Charts } from './charts.ts';
import {
  audited,
  ensureDashboard,
  findEdited,
  requireDashboard,
  requirePlace,
  requirePublished,
  shownTo,
  stateOf,
  toDashboard,
} from './dashboards.ts';
import { keepTenantOf, requireRequest, showAccess, updateAccess } from './embed-access.ts';
import { explainViewer } from './explain-viewer.ts';
import { describePeople, type Presence } from './presence.ts';
import { createPreviewIds, requireAsking, resolveIdentity, seesDashboard } from './preview-as.ts';
import {
  KEPT,
  type PrepareOptions,
  prepare,
  publish,
  requireState,
  setThread,
  unpublish,
} from './publish.ts';
import type { PythonRuns } from './python-runs.ts';
import type { Rechecks } from './rechecks.ts';
import { preview, previewSnapshots, toSnapshot } from './snapshots.ts';
import * as store from './store.ts';

export const dashboardRoutes = (
  charts: Charts,
  runPython: PythonRuns,
  rechecks: Rechecks,
  queries: Pick<Queries, 'members' | 'check' | 'load' | 'viewer' | 'explain' | 'explainAccess'>,
  previewKeys: Keys,
  presence: Presence,
) => {
  const previewIds = createPreviewIds(previewKeys);
  const contextOf = (call: QueryCall & { actor: Caller }): PrepareOptions => ({
    db: call.db,
    viewer: viewerOf(call.actor, call.deploymentId),
    charts,
    sharer: sharerOf(call.actor),
    signal: call.signal,
    members: () => queries.members(call),
    check: (asked: readonly QueryOrSql[]) => queries.check(call, asked),
  });
  return [
    handle(operations.previewReport, async ({ actor, db, signal }, { params, body }) => {
      const { members, ...context } = contextOf({ actor, db, signal, deploymentId: params.deploymentId });
      const model = await members();
      return preview({ ...context, model: model && { ...model, check: context.check } }, body);
    }),

    handle(operations.publishDashboard, async ({ actor, db, signal, change, etag }, { params, body }) => {
      const context = contextOf({ actor, db, signal, deploymentId: params.deploymentId });
      const version = await prepare(context, params.workbookId, body);
      return change(async (tx) => {
        const { before, after } = await publish(tx, actor, params, { given: body, version, etag });
        const published = (await store.findPublished(tx, after))!;
        etag.send(stateOf(after, shownTo(actor, after, published)));
        const isNew = before.versionNumber === 0;
        const changes = { id: after.id, before: isNew ? null : audited(before), after: audited(after) };
        return { reply: toDashboard(actor, after, published), changes };
      });
    }),

    handle(operations.unpublishDashboard, ({ actor, change, etag }, { params }) =>
      change(async (tx) => {
        const { before, after } = await unpublish(tx, actor, params, etag);
        return {
          reply: undefined,
          changes: { id: after.id, before: audited(before), after: audited(after) },
        };
      }),
    ),

    handle(operations.getDashboardVersions, async ({ actor, db }, { params }) => {
      const row = await findEdited(db, actor, params);
      const versions = row ? await store.listVersions(db, row.id, KEPT.versions) : [];
      return {
        isPublished: row?.isPublished ?? false,
        versions: versions.map(({ publisherId, publisherName, ...version }) => ({
          ...version,
          publishedBy: publisherId === null ? null : { id: publisherId, displayName: publisherName! },
        })),
      };
    }),

    handle(operations.getDashboardVersion, async ({ actor, db }, { params }) => {
      const row = found(await findEdited(db, actor, params), 'dashboard_version_not_found');
      const stored = await store.findVersion(db, row.id, params.versionNumber);
      const { version } = await rechecks.of(found(stored, 'dashboard_version_not_found'), sharerOf(actor));
      const isShown = row.isPublished && version.number === row.versionNumber;
      return { ...toDashboard(actor, row, version), ...(isShown ? {} : { status: 'archived' as const }) };
    }),

    handle(operations.previewDashboardReports, async ({ actor, db, signal }, { params, body }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      await requirePlainWorkbook(db, viewer, params.workbookId, EDIT);
      const call = { actor, db, signal, deploymentId: params.deploymentId };
      const { members, ...context } = contextOf(call);
      const model = await members();
      const taking = { ...context, model: model && { ...model, check: context.check } };
      const snapshots = await previewSnapshots(taking, body.reportIds);
      const withSql = embedOf(actor) === null;
      const { userAttributes } = await queries.viewer(call);
      return {
        reportSnapshots: snapshots.map((snapshot, i) => toSnapshot(snapshot, { id: i + 1, withSql })),
        userAttributes,
      };
    }),

    handle(operations.watchDashboardDraft, async ({ actor, db, signal }, { params, query }) => {
      const requireEditor = () =>
        requirePlainWorkbook(db, viewerOf(actor, params.deploymentId), params.workbookId, EDIT);
      // Check before the stream begins: later, a refusal could only end it.
      await requireEditor();
      const own = { tab: query.tab ?? randomUUID(), userId: actor.userId };
      presence.requireRoom(params.workbookId, own);
      return describePeople(db, presence.watch(params.workbookId, own, signal), requireEditor);
    }),

    handle(operations.updateDashboardPresence, async ({ actor, db }, { params, body }) => {
      await requirePlainWorkbook(db, viewerOf(actor, params.deploymentId), params.workbookId, EDIT);
      const { tab, widgetId = null } = body;
      await presence.open(params.workbookId, { tab, userId: actor.userId, widgetId });
    }),

    handle(operations.createDashboardPreview, async ({ actor, db, signal, change }, { params, body }) => {
      const { deploymentId, workbookId } = params;
      await requirePlainWorkbook(db, viewerOf(actor, deploymentId), workbookId, READ);
      const resolved = await resolveIdentity(db, deploymentId, body);
      const call = { actor, db, signal, deploymentId, as: resolved.as };
      const { groups, tenantGroups, roles, userAttributes } = await queries.viewer(call);
      const reply = {
        ...previewIds.make({ userId: actor.userId, deploymentId, workbookId }, body),
        seesDashboard: await seesDashboard(db, resolved, params),
        ...{ groups: [...groups], tenantGroups: [...tenantGroups], roles: [...roles], userAttributes },
      };
      return change(async () => ({ reply, changes: { id: workbookId, before: null, after: body } }));
    }),

    handle(operations.loadDashboardPreview, async ({ actor, db, signal }, { params, body }) => {
      const { deploymentId, workbookId } = params;
      await requirePlainWorkbook(db, viewerOf(actor, deploymentId), workbookId, READ);
      const identity = previewIds.open({ userId: actor.userId, deploymentId, workbookId }, body.previewId);
      const resolved = await resolveIdentity(db, deploymentId, identity);
      requireAsking(resolved, deploymentId);
      const call = { actor, db, signal, deploymentId, as: resolved.as };
      return queries.load(call, body.query, { isMulti: true, isRenewed: body.isRenewed === true });
    }),

    handle(operations.explainViewer, ({ actor, db, signal }, { params, body }) =>
      explainViewer(queries, { actor, db, signal, ...params }, body),
    ),

    handle(operations.updatePublishedDashboardAiWidgetThread, ({ actor, change, etag }, { params, body }) =>
      change(async (tx) => {
        const viewer = viewerOf(actor, params.deploymentId);
        const workbook = await lockPlainWorkbook(tx, viewer, params.workbookId, EDIT);
        const row = await ensureDashboard(tx, actor, workbook);
        await requireState(tx, actor, row, etag);
        const { before, isChanged } = await setThread(tx, row, body);
        const after = await ensureDashboard(tx, actor, workbook);
        const version = (await store.findPublished(tx, after))!;
        etag.send(stateOf(after, shownTo(actor, after, version)));
        const threadOf = (threadId: string | null) => ({ widgetId: body.widgetId, threadId });
        const changes = { id: row.id, before: threadOf(before), after: threadOf(body.threadId) };
        return { reply: toDashboard(actor, after, version), changes: isChanged ? changes : [] };
      }),
    ),

    handle(operations.getDashboard, async ({ actor, db, signal, etag }, { params }) => {
      const row = await requirePublished(db, actor, params.publicId);
      const stored = (await store.findPublished(db, row))!;
      const { version, isFinal } = await rechecks.of(stored, sharerOf(actor));
      const shown = shownTo(actor, row, version);
      const dashboard = toDashboard(actor, row, version);
      if (!beginsWithAttributes(version.config)) {
        // Without an ETag, no cache keeps a reply that is not final.
        if (isFinal) etag.send(stateOf(row, shown));
        return dashboard;
      }
      const { userAttributes } = await queries.viewer({ actor, db, signal, deploymentId: row.deploymentId });
      const config = withAttributes(version.config, userAttributes);
      // No ETag here: that of the state does not depend on the viewer, and any other one would match no `If-Match`.
      return { ...dashboard, config };
    }),

    handle(operations.postDashboardPythonRun, async ({ actor, db, signal }, { params, body }) => {
      const row = await requirePublished(db, actor, params.publicId);
      if (!mayIn(actor, row.deploymentId, 'AIBIView')) throw new ApiError('forbidden');
      const { version } = await rechecks.of((await store.findPublished(db, row))!, sharerOf(actor));
      const call = { actor, db, signal, deploymentId: row.deploymentId };
      return runPython(call, version, body);
    }),

    handle(operations.updateDashboardEmbedding, ({ actor, change, etag }, { params, body }) =>
      change(async (tx) => {
        const { id, workbookId, deploymentId } = await requirePlace(tx, actor, params.publicId);
        const viewer = viewerOf(actor, deploymentId);
        await lockWorkbookRow(tx, workbookId);
        const before = await requireDashboard(tx, viewer, id, MANAGE);
        await requireState(tx, actor, before, etag);
        const { allEmbedUsers } = before;
        const isChanged = await store.updateEmbedding(tx, id, { allowEmbed: body.allowEmbed, allEmbedUsers });
        if (isChanged) await touchWorkbook(tx, workbookId);
        const after = await requireDashboard(tx, viewer, id, MANAGE);
        const version = await store.findPublished(tx, after);
        etag.send(stateOf(after, version ? shownTo(actor, after, version) : {}));
        const { publicId, allowEmbed } = after;
        const changes = { id, deploymentId, before: audited(before), after: audited(after) };
        return { reply: { publicId, allowEmbed }, changes };
      }),
    ),

    handle(operations.getEmbedAccess, async ({ actor, db }, { params }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const { id } = await requirePlainWorkbook(db, viewer, params.workbookId, MANAGE);
      return showAccess(db, await store.findDashboardOf(db, viewer, embedOf(actor), id));
    }),

    handle(operations.updateEmbedAccess, ({ actor, change }, { params, body }) => {
      requireRequest(body);
      return change(async (tx) => {
        const viewer = viewerOf(actor, params.deploymentId);
        // Check the right first, so that a caller without it cannot learn which embed tenants exist.
        await requirePlainWorkbook(tx, viewer, params.workbookId, MANAGE);
        await keepTenantOf(tx, body);
        const workbook = await lockPlainWorkbook(tx, viewer, params.workbookId, MANAGE);
        const row = await ensureDashboard(tx, actor, workbook);
        const before = await showAccess(tx, row);
        await updateAccess(tx, row, body);
        const after = await showAccess(tx, await ensureDashboard(tx, actor, workbook));
        await touchWorkbook(tx, workbook.id);
        return { reply: after, changes: { id: row.id, before, after } };
      });
    }),
  ];
};
