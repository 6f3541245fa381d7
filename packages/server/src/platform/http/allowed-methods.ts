/** Collects the methods that each path accepts, for the reply to a method that it does not accept. */
import type { FastifyInstance } from 'fastify';

export function collectMethods(app: FastifyInstance): (path: string) => string[] {
  const routes = new Map<string, { pattern: RegExp; methods: string[] }>();
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);
    const route = routes.get(url) ?? { pattern, methods: [] };
    route.methods.push(...[method].flat());
    routes.set(url, route);
  });
  return (path) => {
    const matching = [...routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort();
  };
}
