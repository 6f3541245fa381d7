/**
 * The pages that hosts show in a frame, and the files of all pages that are built: those of dashboards from packages/viewer,
 * and the app from packages/app.
 */
import type { Module } from '../../platform/module.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { type AppManifest, createFiles, type Files, type Manifest } from './files.ts';
import { embeddedPageRoutes } from './routes.ts';

export { appHtml, appRouteOf } from './app-page.ts';
export type { AppManifest, Files } from './files.ts';
export { pagePolicy } from './rules.ts';

export interface EmbeddedPagesOptions {
  /** The folder that the build of packages/viewer writes. */
  folder: string;
  app: Files<AppManifest>;
  tenantSettings: TenantSettings;
}

/** The files that the build of packages/app writes. */
export const createAppFiles = (folder: string): Files<AppManifest> => createFiles(folder);

export const embeddedPages = ({ folder, app, tenantSettings }: EmbeddedPagesOptions): Module => ({
  routes: embeddedPageRoutes({ files: createFiles<Manifest>(folder), app, tenantSettings }),
});
