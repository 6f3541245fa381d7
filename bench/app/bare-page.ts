/** A page with as many scripts, styles and replies as a page of the app, that does nothing but list names. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { undoAtEnd } from '../harness/undo.ts';

/** What a page of the app has loaded. */
export interface Loads {
  scripts: string[];
  styles: string[];
  /** How long each reply of the API is. */
  replies: number[];
}

const LIST = (replies: number) => `Promise.all(Array.from({ length: ${replies} }, (_, i) =>
  fetch('/reply-' + i).then((reply) => reply.json()))).then(() => {
    const list = document.body.appendChild(document.createElement('ul'));
    for (let i = 0; i < 50; i++) list.appendChild(document.createElement('li')).textContent = 'Item ' + i;
    list.className = 'ready';
  });`;

/** Serves one page for each name, at `/{name}/`. */
export async function startBarePages(pages: Record<string, Loads>): Promise<string> {
  const files = new Map<string, { type: string; body: Buffer; isKept: boolean }>();
  const add = (path: string, type: string, text: string, isKept: boolean) =>
    files.set(path, { type, body: gzipSync(text), isKept });
  for (const [name, { scripts, styles, replies }] of Object.entries(pages)) {
    scripts.forEach((text, i) => {
      add(`/${name}/${i}.js`, 'text/javascript', neverCalled(text), true);
    });
    styles.forEach((text, i) => {
      add(`/${name}/${i}.css`, 'text/css', text, true);
    });
    replies.forEach((length, i) => {
      add(`/${name}/reply-${i}`, 'application/json', JSON.stringify('x'.repeat(length)), false);
    });
    const head = styles.map((_, i) => `<link rel=stylesheet href=/${name}/${i}.css>`).join('');
    const body = scripts.map((_, i) => `<script defer src=/${name}/${i}.js></script>`).join('');
    const list = LIST(replies.length).replace("'/reply-'", `'/${name}/reply-'`);
    add(
      `/${name}/`,
      'text/html',
      `<!doctype html><meta charset=utf-8>${head}<body>${body}<script type=module>${list}</script>`,
      false,
    );
  }
  const server = createServer((request, response) => {
    const file = files.get(request.url ?? '');
    if (!file) return void response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': file.type,
      'content-encoding': 'gzip',
      'cache-control': file.isKept ? 'max-age=31536000, immutable' : 'no-store',
    });
    response.end(file.body);
  });
  undoAtEnd(() => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The browser reads all of it, as it reads the scripts of every page, and runs nothing. */
const neverCalled = (script: string) =>
  `(function(){return function(require,exports,module){${transformSync(script, { format: 'cjs', minify: true, logLevel: 'silent' }).code}}})()`;
