import { operations, type ReplyOf } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError } from '../../platform/errors.ts';
import { toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { jsonText } from '../../platform/http/serializer.ts';
import { newPublicId } from '../../platform/public-id.ts';
import { EDIT, MANAGE, NONE, newManagers, READ, viewerOf } from '../access/index.ts';
import { type Queries, queryIn } from '../queries/index.ts';
import { countReports } from './list.store.ts';
import { readPage } from './list.ts';
import { readListRequest } from './list-query.ts';
import { type ReportRow, toReport } from './read.ts';
import {
  insertReport,
  lockReport,
  placeReport,
  requireReport,
  updateReport,
  upsertReport,
} from './reports.ts';
import * as store from './store.ts';

type Report = ReplyOf<typeof operations.getReport>;

export const reportRoutes = (queries: Pick<Queries, 'run' | 'runSql'>) => [
  handle(operations.getReports, async ({ actor, db, cursors }, { params, query }) => {
    const request = readListRequest(actor, params.deploymentId, query, cursors);
    const [{ positions, size, items }, count] = await Promise.all([
      readPage(db, request),
      query.includeCount === false ? null : countReports(db, request.viewer, request.filter),
    ]);
    const { pageInfo } = toPage(positions, {
      size,
      after: query.after,
      cursorOf: ({ key, id }) => cursors.encode(request.list, [key, id]),
      bytesOf: () => 0,
    });
    const reports = jsonText<Report[]>(items);
    return { items: reports, data: reports, count, pageInfo: request.hasCursor ? pageInfo : null };
  }),

  handle(operations.createReport, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const id = await insertReport(tx, viewer, body, body.publicId ?? newPublicId());
      if (id === undefined) throw new ApiError('public_id_taken');
      const after = await requireReport(tx, viewer, id, NONE);
      etag.send(after);
      return { reply: after, changes: changesOf(null, after) };
    }),
  ),

  handle(operations.getReport, async ({ actor, db, etag }, { params }) => {
    const report = await requireReport(db, viewerOf(actor, params.deploymentId), params.reportId, READ);
    await store
      .noteView(db.writes, actor.userId, report.id)
      .catch(refusing({ report_views_report_id_fkey: 'report_not_found' }));
    etag.send(report);
    return report;
  }),

  handle(operations.updateReport, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockReport(tx, viewer, params.reportId, EDIT);
      etag.require(before);
      const after = await updateReport(tx, viewer, before, body);
      etag.send(after);
      const managers = await newManagers(tx, viewer, before, after);
      return { reply: { ...after, ...managers }, changes: changesOf(before, after) };
    }),
  ),

  handle(operations.deleteReport, ({ actor, change, etag }, { params }) =>
    change(async (tx) => {
      const before = await lockReport(tx, viewerOf(actor, params.deploymentId), params.reportId, MANAGE);
      etag.require(before);
      await store.deleteReport(tx, before.id);
      return { reply: undefined, changes: deleted(toReport(before)) };
    }),
  ),

  handle(operations.upsertReportByPublicId, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const { before, after } = await upsertReport(tx, viewer, body, { publicId: params.publicId, etag });
      etag.send(after);
      const managers = await newManagers(tx, viewer, before, after);
      return { reply: { ...after, ...managers }, changes: changesOf(before, after) };
    }),
  ),

  handle(operations.connectReportToWorkbook, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockReport(tx, viewer, params.reportId, READ);
      etag.require(before);
      const placement = { ...body, endResultCell: body.endResultCell ?? null };
      const after = await placeReport(tx, viewer, before, placement);
      etag.send(after);
      return { reply: after, changes: changesOf(before, after) };
    }),
  ),

  handle(operations.refreshReport, async ({ actor, db, signal, change }, { params }) => {
    const { deploymentId, reportId } = params;
    const viewer = viewerOf(actor, deploymentId);
    const { jsonQuery, sqlQuery } = await requireReport(db, viewer, reportId, READ);
    const call = { actor, db, signal, deploymentId };
    if (jsonQuery) await queries.run(call, queryIn(jsonQuery, 'jsonQuery'));
    else if (sqlQuery) await queries.runSql(call, sqlQuery);
    else throw new ApiError('report_without_query');
    return change(async (tx) => {
      const before = await lockReport(tx, viewer, reportId, READ);
      await store.noteRefresh(tx, reportId, actor.userId);
      const after = await requireReport(tx, viewer, reportId, NONE);
      return { reply: after, changes: changesOf(before, after) };
    });
  }),
];

function changesOf(before: ReportRow | null, after: ReportRow) {
  if (before === after) return [];
  return before ? changed(toReport(before), toReport(after)) : created(toReport(after));
}
