import type { Module, Platform } from '../../platform/module.ts';
import { reportRoutes } from './routes.ts';

export { isVisible } from './list.store.ts';
export { findReport, listReports, type ReportRow, toReport } from './read.ts';
export { EMPTY_REPORT, lockReport, moveReport, requireReport } from './reports.ts';
export { hasTrigrams, searchPattern } from './rules.ts';
export { deleteReport, insertReport as insertReportRow } from './store.ts';

export const reports = (_platform: Platform): Module => ({ routes: reportRoutes() });
