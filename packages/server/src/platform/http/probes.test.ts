import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../../../test/world.ts';
import { createMetrics } from './metrics.ts';
import { registerOperationalRoutes } from './operational-routes.ts';
import { createHttpServer } from './server.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.stop());

test('probes are log lines at the level debug, and all other requests at the level info', async () => {
  const lines: { level: number; path: string }[] = [];
  const log = pino({ level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const metrics = createMetrics();
  const app = createHttpServer({ log, metrics });
  registerOperationalRoutes(app, { db: world.server.db, log, metrics, metricsToken: undefined });
  for (const url of ['/healthz', '/readyz', '/metrics', '/nothing']) await app.inject({ url });
  expect(lines.map(({ level, path }) => [path, level])).toEqual([
    ['/healthz', 20],
    ['/readyz', 20],
    ['/metrics', 20],
    ['/nothing', 30],
  ]);
  await app.close();
});
