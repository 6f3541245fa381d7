/**
 * `npm run demo:host`: the example in `examples/host` with dashboards of a running Oriel (`-- --url … --api-key …`), or
 * of one that it starts with its demo in a temporary folder, which is removed at the end.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { fail, install, root } from './install.mjs';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    'api-key': { type: 'string', default: process.env.ORIEL_ADMIN_API_KEY },
    port: { type: 'string', default: '0' },
    'oriel-port': { type: 'string', default: '0' },
  },
});
if (values.url && !values['api-key']) fail('With --url, give --api-key or set ORIEL_ADMIN_API_KEY.');

install();
const { build } = await import('./build.mjs');
await build();
await (await import('esbuild')).stop();

let stopOriel = async () => {};
let isEnding = false;
/** npm passes Ctrl+C on to this process, which gets it twice. */
async function end(code) {
  if (isEnding) return;
  isEnding = true;
  await stopOriel();
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end(0));

const { oriel, apiKey } = values.url ? { oriel: values.url, apiKey: values['api-key'] } : await startOriel();
const { createHost } = await import('../examples/host/server.mjs');
const host = createHost({ oriel, apiKey }).listen(Number(values.port), '127.0.0.1');
try {
  await once(host, 'listening');
  console.log(`Oriel: ${oriel}`);
  console.log(`The product of Northwind Supply: http://localhost:${host.address().port}`);
} catch (error) {
  console.error(
    `The page cannot be served: ${error.message}. Give another port: npm run demo:host -- --port 4001`,
  );
  await end(1);
}

async function startOriel() {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-host-'));
  // The user of the database must be able to enter it if we are root.
  await chmod(folder, 0o711);
  const child = spawn(process.execPath, [join(root, 'packages/server/dist/main.js')], {
    env: {
      PATH: process.env.PATH,
      ORIEL_PORT: values['oriel-port'],
      ORIEL_DATA_DIR: join(folder, 'data'),
      ORIEL_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // Ctrl+C ends this process first, which then ends Oriel.
    detached: true,
  });
  const ended = once(child, 'exit');
  stopOriel = async () => {
    child.kill();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  console.log('Starting Oriel with its demo…');
  let oriel;
  let apiKey;
  for await (const line of createInterface(child.stdout)) {
    oriel ??= /https?:\/\/[\w.:[\]-]+/.exec(line)?.[0];
    apiKey ??= /^ {2}export ORIEL_ADMIN_API_KEY=(\S+)$/.exec(line)?.[1];
    if (oriel && apiKey) break;
  }
  if (!apiKey) {
    if (!isEnding) console.error('Oriel did not start.');
    await end(1);
    // If `end` was called before, that call ends the process.
    await new Promise(() => {});
  }
  child.stdout.resume();
  return { oriel, apiKey };
}
