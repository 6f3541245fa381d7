/** Serves dashboards of tests to the embedded page, at the address of published ones. */
import type { BrowserContext } from 'playwright-core';

export const withDashboards = (dashboards: Record<string, object>) => (context: BrowserContext) =>
  context.route(/\/api\/v1\/embed\/dashboard\//, (route) => {
    const found = dashboards[route.request().url().split('/').at(-1)!];
    const json = found ?? {
      statusCode: 404,
      code: 'dashboard_not_found',
      message: 'There is no such dashboard.',
    };
    return route.fulfill({ status: found ? 200 : 404, json });
  });
