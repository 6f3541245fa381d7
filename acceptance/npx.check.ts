/** A server that npx runs in the foreground ends with npx; one that was put into the background does not. */
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { databaseProcesses } from './database-processes.ts';
import {
  ADMIN_KEY,
  cleanUp,
  MAIN,
  newFolder,
  type RunningServer,
  ready,
  spawnServer,
  usedDataDir,
} from './server-process.ts';

const settings = { ORIEL_ADMIN_API_KEY: ADMIN_KEY, ORIEL_DEMO: 'false' };

let server: RunningServer | undefined;
afterEach(async () => {
  try {
    if (server && !server.hasEnded) process.kill(-server.pid, 'SIGKILL');
  } catch {
    // All have ended.
  }
  await cleanUp();
});

/** Runs the command in a folder where `oriel-server` is installed. */
async function run(command: string): Promise<RunningServer> {
  const folder = await newFolder();
  const bin = join(folder, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'oriel-server'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  await chmod(join(bin, 'oriel-server'), 0o755);
  await writeFile(join(folder, 'package.json'), JSON.stringify({ scripts: { daemon: 'oriel-server &' } }));
  const env = { ...settings, HOME: folder, npm_config_offline: 'true' };
  server = await ready(
    spawnServer(await usedDataDir(), env, ['sh', '-c', `cd '${folder}' && exec ${command}`]),
  );
  return server;
}

test.each(['SIGTERM', 'SIGKILL'] as const)('after a %s to npx the server stops in order', async (signal) => {
  const { child, ended, dataDir } = await run('npx oriel-server');
  child.kill(signal);
  await ended;
  expect(server!.stdout).toMatch(/"msg":"stopping (on SIGTERM|because npx)/);
  expect(databaseProcesses(dataDir)).toEqual([]);
});

test('a server that a script of npm put into the background stays when npm has ended', async () => {
  const { child, url } = await run('npm run daemon');
  if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  await sleep(2500);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});
