import type { Module, Platform } from '../../platform/module.ts';
import type { FolderRemoval, Trees } from '../folders/index.ts';
import { demoContent } from './demo.ts';
import { workspaceRoutes } from './routes.ts';

export const workspace = (
  _platform: Platform,
  options: { trees: Trees; removal: FolderRemoval },
): Module => ({
  routes: workspaceRoutes(options),
  demo: demoContent,
});
