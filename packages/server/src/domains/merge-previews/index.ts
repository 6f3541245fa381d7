import type { Module } from '../../platform/module.ts';
import { mergePreviewRoutes } from './routes.ts';

export { findBrokenReports } from './impact.ts';

/** What a merge of a branch would break, before it is merged. */
export const mergePreviews = (options: Parameters<typeof mergePreviewRoutes>[0]): Module => ({
  routes: mergePreviewRoutes(options),
});
