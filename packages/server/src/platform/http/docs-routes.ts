/**
 * The browsable reference at /docs: Swagger UI, with one box for the key and one to find operations. Every asset comes from
 * this server, so that it works without internet.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { createLateReply } from './fixed-reply.ts';

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

// The build puts the folder beside the bundle.
const ours = (name: string) => new URL(`./reference/${name}`, import.meta.url);

export function registerDocsRoutes(app: FastifyInstance) {
  const dist = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const serve = (path: string, type: string, read: () => Promise<Buffer>) => {
    const send = createLateReply(type, read);
    app.get(path, (request, reply) => {
      reply.headers({
        'x-content-type-options': 'nosniff',
        'content-security-policy': CONTENT_SECURITY_POLICY,
      });
      return send(request, reply);
    });
  };
  serve('/docs', 'text/html', () => readFile(ours('index.html')));
  serve('/docs/reference.js', 'text/javascript', () => readFile(ours('reference.js')));
  serve('/docs/reference.css', 'text/css', () => readFile(ours('reference.css')));
  serve('/docs/swagger-ui.css', 'text/css', () => readFile(join(dist, 'swagger-ui.css')));
  serve('/docs/swagger-ui-bundle.js', 'text/javascript', () => readFile(join(dist, 'swagger-ui-bundle.js')));
}
