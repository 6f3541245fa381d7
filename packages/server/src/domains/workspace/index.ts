import type { Module, Platform } from '../../platform/module.ts';
import type { Trees } from '../folders/index.ts';
import { demoContent } from './demo.ts';
import { workspaceRoutes } from './routes.ts';

export const workspace = (_platform: Platform, { trees }: { trees: Trees }): Module => ({
  routes: workspaceRoutes({ trees }),
  demo: demoContent,
});
