/** The browsable reference at /docs. Every asset comes from this server, so that it works without internet. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

const PAGE = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Oriel API</title>
  <link rel="stylesheet" href="/docs/swagger-ui.css">
  <link rel="icon" href="data:,">
</head>
<body>
  <main id="reference"></main>
  <script src="/docs/swagger-ui-bundle.js"></script>
  <script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/api/v1/spec',
  dom_id: '#reference',
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
`;

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'";

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
  app.get('/docs/start.js', (_request, reply) => send(reply, 'text/javascript', START));
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
