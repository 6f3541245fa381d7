/** Runs the Python of a published report over the rows that the caller may see. */
import type { BodyOf, operations } from '@oriel/contract';
import type { Caller } from '../../platform/auth/actor.ts';
import { embedOf, sharerOf } from '../../platform/auth/actor.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Queries, QueryCall } from '../queries/index.ts';
import { snapshotId } from './dashboards.ts';
import type { Python } from './python.ts';
import type { VersionRow } from './store.ts';

export type PythonRuns = ReturnType<typeof createPythonRuns>;

export const createPythonRuns =
  (python: Pick<Python, 'run'>, queries: Pick<Queries, 'loadSql'>) =>
  async (
    call: QueryCall & { actor: Caller },
    version: VersionRow,
    { reportId, reportVersionId, sqlQuery }: BodyOf<typeof operations.postDashboardPythonRun>,
  ) => {
    const report = version.snapshots.find(
      (snapshot, place) => snapshot.reportId === reportId && snapshotId(version, place) === reportVersionId,
    );
    if (!report?.python) throw new ApiError('python_not_found');
    const rows = () =>
      queries.loadSql(call, sqlQuery, { isRenewed: false, isPublished: sqlQuery === report.sqlQuery });
    const who = {
      sharer: sharerOf(call.actor),
      signal: call.signal,
      mayLearnWhy: embedOf(call.actor) === null,
    };
    return { ...(await python.run(report.python, rows, who)), at: new Date().toISOString() };
  };
