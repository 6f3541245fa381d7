/** The browsable reference at /docs. Every asset comes from this server, so that it works without internet. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { PAGE, SCRIPT, STYLE } from './docs-page.ts';

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

export function registerDocsRoutes(app: FastifyInstance) {
  const dist = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const send = (reply: FastifyReply, type: string, content: string | Buffer) =>
    reply
      .type(`${type}; charset=utf-8`)
      .header('cache-control', 'no-cache')
      .header('x-content-type-options', 'nosniff')
      .header('content-security-policy', CONTENT_SECURITY_POLICY)
      .send(content);

  app.get('/docs', (_request, reply) => send(reply, 'text/html', PAGE));
  app.get('/docs/reference.js', (_request, reply) => send(reply, 'text/javascript', SCRIPT));
  app.get('/docs/reference.css', (_request, reply) => send(reply, 'text/css', STYLE));
  for (const [file, type] of [
    ['swagger-ui.css', 'text/css'],
    ['swagger-ui-bundle.js', 'text/javascript'],
  ] as const) {
    let content: Promise<Buffer> | undefined;
    app.get(`/docs/${file}`, async (_request, reply) => {
      content ??= readFile(join(dist, file));
      return send(reply, type, await content);
    });
  }
}
