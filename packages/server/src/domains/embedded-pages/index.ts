/** The pages that hosts show in a frame. Their scripts are built from packages/viewer. */
import type { Module } from '../../platform/module.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { createFiles } from './files.ts';
import { embeddedPageRoutes } from './routes.ts';

export interface EmbeddedPagesOptions {
  /** The folder that the build of packages/viewer writes. */
  folder: string;
  tenantSettings: TenantSettings;
}

export const embeddedPages = ({ folder, tenantSettings }: EmbeddedPagesOptions): Module => ({
  routes: embeddedPageRoutes({ files: createFiles(folder), tenantSettings }),
});
