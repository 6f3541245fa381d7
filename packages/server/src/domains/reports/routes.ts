import { operations, type ReplyOf } from '@oriel/contract';
import { violatedConstraint } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { jsonText } from '../../platform/http/list-serializer.ts';
import { type Cursors, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { newPublicId } from '../../platform/public-id.ts';
import { EDIT, MANAGE, NONE, READ, viewerOf } from '../access/index.ts';
import { readPage } from './list/list.ts';
import { readListRequest } from './list/query.ts';
import { countReports } from './list/store.ts';
import { findReportByPublicId, toReport } from './read.ts';
import { insertReport, lockReport, requireReport, updateReport } from './reports.ts';
import * as store from './store.ts';

type Report = ReplyOf<typeof operations.getReport>;

export const reportRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.getReports, async ({ actor, db }, { params, query }) => {
    const request = readListRequest(actor, params.deploymentId, query, cursors);
    const [{ positions, items }, count] = await Promise.all([
      readPage(db, request),
      query.includeCount === false ? null : countReports(db, request.viewer, request.filter),
    ]);
    const { pageInfo } = toPage(positions, {
      size: request.size,
      after: query.after,
      cursorOf: ({ key, id }) => cursors.encode(request.list, [key, id]),
    });
    const reports = jsonText<Report[]>(items);
    return { items: reports, data: reports, count, pageInfo: request.hasCursor ? pageInfo : null };
  }),

  handle(operations.createReport, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const id = await insertReport(tx, viewer, body, body.publicId ?? newPublicId());
      if (id === undefined) throw new ApiError('public_id_taken');
      const created = await requireReport(tx, viewer, id, NONE);
      return { reply: created, changes: { id, before: null, after: toReport(created) } };
    }),
  ),

  handle(operations.getReport, async ({ actor, db, etag }, { params }) => {
    const report = await requireReport(db, viewerOf(actor, params.deploymentId), params.reportId, READ);
    await store.noteView(db, actor.userId, report.id).catch((error) => {
      if (violatedConstraint(error) === 'report_views_report_id_fkey') throw new ApiError('report_not_found');
      throw error;
    });
    etag.send(report.version);
    return report;
  }),

  handle(operations.updateReport, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockReport(tx, viewer, params.reportId, EDIT);
      etag.require(before.version);
      const after = await updateReport(tx, viewer, before, body);
      etag.send(after.version);
      return { reply: after, changes: { id: after.id, before: toReport(before), after: toReport(after) } };
    }),
  ),

  handle(operations.deleteReport, ({ actor, change }, { params }) =>
    change(async (tx) => {
      const before = await lockReport(tx, viewerOf(actor, params.deploymentId), params.reportId, MANAGE);
      await store.deleteReport(tx, before.id);
      return { reply: undefined, changes: { id: before.id, before: toReport(before), after: null } };
    }),
  ),

  handle(operations.upsertReportByPublicId, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const id = await insertReport(tx, viewer, body, params.publicId);
      if (id !== undefined) {
        const created = await requireReport(tx, viewer, id, NONE);
        return { reply: created, changes: { id, before: null, after: toReport(created) } };
      }
      const known = await findReportByPublicId(tx, viewer, params.publicId);
      if (!known) throw new ApiError('public_id_taken');
      const before = await lockReport(tx, viewer, known.id, EDIT);
      const after = await updateReport(tx, viewer, before, { ...body, publicId: params.publicId });
      return { reply: after, changes: { id: after.id, before: toReport(before), after: toReport(after) } };
    }),
  ),

  handle(operations.connectReportToWorkbook, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockReport(tx, viewer, params.reportId, READ);
      await store.upsertPlacement(tx, before.id, { ...body, endResultCell: body.endResultCell ?? null });
      const after = await requireReport(tx, viewer, before.id, READ);
      return { reply: after, changes: { id: after.id, before: toReport(before), after: toReport(after) } };
    }),
  ),
];
