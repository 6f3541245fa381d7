import type { Engines } from '../../engines/engines.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { Usage } from '../usage/index.ts';
import { createReporter } from './reporter.ts';
import { serverActivityRoutes } from './routes.ts';

export function serverActivity(platform: Platform, engines: Engines, usage: Usage): Module {
  const reporter = createReporter(platform, engines, usage);
  return {
    routes: serverActivityRoutes(platform, reporter),
    started: reporter.start,
    stop: reporter.stop,
  };
}
