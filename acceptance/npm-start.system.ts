/** What `npm start` runs gets the signals that npm gets. npm and the scripts are ours; the server is a small program. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { cleanUp, newFolder } from './server-process.ts';

const SERVER = `
process.once('SIGTERM', () => { console.log('stopped'); process.exit(); });
setTimeout(() => {}, 600_000);
console.log('pid ' + process.pid);`;

let server: number | undefined;
afterEach(async () => {
  try {
    if (server) process.kill(server, 'SIGKILL');
  } catch {
    // It has stopped, as it should.
  }
  await cleanUp();
});

test('a SIGTERM to npm stops the server', async () => {
  const folder = await newFolder();
  const { scripts } = JSON.parse(await readFile(join(import.meta.dirname, '../package.json'), 'utf8'));
  await mkdir(join(folder, 'scripts'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { start: scripts.start } }));
  await writeFile(join(folder, 'scripts/start.mjs'), SERVER);
  const npm = spawn('npm', ['start'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
  let output = '';
  npm.stdout.on('data', (text) => {
    output += text;
  });
  await expect.poll(() => output).toContain('pid ');
  server = Number(/pid (\d+)/.exec(output)![1]);
  npm.kill('SIGTERM');
  await expect.poll(() => output).toContain('stopped');
});
