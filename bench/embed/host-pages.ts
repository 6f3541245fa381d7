/** Pages of a host: one shows an address in a frame, one draws charts of Vega-Lite with rows inside. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { undoAtEnd } from '../harness/undo.ts';

const FRAME = `addEventListener('message', ({ data }) => {
  if (data.type === 'oriel:event:dashboard-loaded') window.doneMs = performance.now();
});`;
const DRAW = `const charts = JSON.parse(document.getElementById('charts').textContent);
Promise.all(charts.map((chart) => {
  const element = document.body.appendChild(document.createElement('div'));
  element.style.width = '600px';
  const { spec } = vegaLite.compile({ ...chart, width: 600 });
  return new vega.View(vega.parse(spec), { renderer: 'svg', container: element }).runAsync();
})).then(() => { window.doneMs = performance.now(); });`;

/** Returns the address of `/frame?address=…` and `/inline`. */
export async function startHostPages(charts: object[], scripts: string[]): Promise<string> {
  const files = await Promise.all(scripts.map(async (path) => gzipSync(await readFile(path))));
  const data = JSON.stringify(charts).replaceAll('<', '\\u003c');
  const inline = gzipSync(
    `<!doctype html><meta charset=utf-8><body><script type=application/json id=charts>${data}</script>${files
      .map((_, i) => `<script src=/${i}.js></script>`)
      .join('')}<script>${DRAW}</script>`,
  );
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://host');
    const file = files[Number(/^\/(\d)\.js$/.exec(pathname)?.[1] ?? -1)];
    response.setHeader('content-encoding', 'gzip');
    if (file) return void response.setHeader('content-type', 'text/javascript').end(file);
    response.setHeader('content-type', 'text/html');
    if (pathname === '/inline') return void response.end(inline);
    const src = (searchParams.get('address') ?? '').replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    response.end(
      gzipSync(
        `<!doctype html><meta charset=utf-8><script>${FRAME}</script><iframe src="${src}" width=1240 height=900></iframe>`,
      ),
    );
  });
  undoAtEnd(() => new Promise<void>((resolve) => void server.close(() => resolve()).closeAllConnections()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}
