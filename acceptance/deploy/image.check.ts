/**
 * Builds the image of deploy/Dockerfile with podman, and runs it. The base is made of Debian's packages and of the Node
 * of this machine, because no registry of images may be in reach. Run by `npm run test:deploy`.
 */
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanUp, freePort, newFolder, until } from '../server-process.ts';
import { outputOf } from './programs.ts';

const BUILD_WITHIN_MS = 20 * 60_000;
const BASE = 'localhost/oriel-test-node';
const IMAGE = 'localhost/oriel-test';
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=1000:1000'];

let folder: string;
/** Everything of podman is in a folder of the test. crun, podman's default, does not run on every kernel. */
const podman = (...args: string[]) =>
  outputOf(
    'podman',
    ...['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--runtime', 'runc'],
    ...args,
  );

beforeAll(async () => {
  folder = await newFolder();
  await podman('import', '--change', 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/extra.pem', await baseFile(), BASE);
  await podman(
    ...['build', '--isolation', 'chroot', '--network', 'host', '--format', 'docker', ...LIMITS],
    ...['--build-arg', `NODE_IMAGE=${BASE}`, '--file', 'deploy/Dockerfile', '--tag', IMAGE, '.'],
  );
}, BUILD_WITHIN_MS);
afterAll(async () => {
  await podman('rm', '--all', '--force', '--time', '60').catch(() => {});
  // Not `system reset`, which would also touch what podman does for others on this machine.
  await outputOf('umount', join(folder, 'storage/overlay')).catch(() => {});
  await rm(folder, { recursive: true, force: true });
  await cleanUp();
});

/** A small Debian with the Node and the npm of this machine, as the image `node` of a registry is. */
async function baseFile(): Promise<string> {
  const [file, added] = [join(folder, 'base.tar'), join(folder, 'added')];
  // …/npm/bin/npm-cli.js
  const npm = dirname(dirname((await outputOf('sh', '-c', 'readlink -f "$(command -v npm)"')).trim()));
  await mkdir(added);
  await copyFile(process.execPath, join(added, 'node'));
  // What this machine trusts to fetch packages with, if it is set up so.
  await copyFile(
    process.env.NODE_EXTRA_CA_CERTS ?? '/etc/ssl/certs/ca-certificates.crt',
    join(added, 'extra.pem'),
  );
  const codename = (await outputOf('sh', '-c', '. /etc/os-release && echo $VERSION_CODENAME')).trim();
  await outputOf(
    'mmdebstrap',
    ...['--variant=minbase', '--include=ca-certificates'],
    '--customize-hook=mkdir -p "$1/usr/local/lib/node_modules"',
    `--customize-hook=copy-in ${join(added, 'node')} /usr/local/bin`,
    `--customize-hook=copy-in ${join(added, 'extra.pem')} /etc/ssl`,
    `--customize-hook=copy-in ${npm} /usr/local/lib/node_modules`,
    '--customize-hook=ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"',
    codename,
    file,
  );
  return file;
}

/** As deploy/README.md runs it, on the network of this machine. */
const run = (name: string, port: number) =>
  podman(
    ...['run', '--detach', '--name', name, ...LIMITS, '--network', 'host', '--read-only', '--tmpfs', '/tmp'],
    ...['--shm-size', '256m', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--volume', 'oriel-data:/var/lib/oriel'],
    ...['--env', `ORIEL_PORT=${port}`, '--env', `ORIEL_PUBLIC_URL=http://127.0.0.1:${port}`, IMAGE],
  );
const logs = (name: string) => podman('logs', name);
const untilReady = (name: string) =>
  until(`${name} runs`, async () => {
    const output = await logs(name);
    if (await hasEnded(name)) throw new Error(output);
    return output.includes('Oriel is running at ');
  });
const hasEnded = async (name: string) =>
  (await podman('inspect', name, '--format', '{{.State.Status}}')).includes('exited');
const keyIn = (output: string) => /export ORIEL_ADMIN_API_KEY=(\S+)/.exec(output)?.[1];
const statusOf = async (url: string, key: string) =>
  (await fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Api-Key ${key}` } })).status;

test(
  'it runs unprivileged on a read-only root, stops cleanly, and keeps its data on the volume',
  async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    await run('first', port);
    await untilReady('first');
    const key = keyIn(await logs('first'))!;
    expect(await statusOf(url, key)).toBe(200);
    expect(await podman('exec', 'first', 'id', '--user', '--name')).toContain('oriel');
    await expect(podman('exec', 'first', 'touch', '/opt/oriel/x')).rejects.toThrow('Read-only file system');
    // On a busy machine the check itself may come too late.
    const isHealthy = () =>
      podman('healthcheck', 'run', 'first').then(
        () => true,
        () => false,
      );
    await until('the health check passes', isHealthy);

    // The engine of queries runs too.
    await until('the demo can be queried', async () => {
      const reply = await fetch(`${url}/query/api/v1/deployments/1/load`, {
        method: 'POST',
        headers: { authorization: `Api-Key ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: { measures: ['orders.count'] } }),
      });
      return reply.status === 200 && JSON.stringify(await reply.json()).includes('orders.count');
    });

    // Podman lets containers make user namespaces, so engines have their sandbox.
    expect(await logs('first')).not.toContain('engines run without a sandbox');
    expect(await podman('exec', 'first', 'sh', '-c', 'cat /proc/[0-9]*/comm')).toContain('bwrap');

    const made = keyIn(await podman('exec', 'first', 'node', 'packages/server/dist/main.js', 'admin-key'))!;
    await podman('stop', '--time', '60', 'first');
    expect(await podman('inspect', 'first', '--format', 'code {{.State.ExitCode}}')).toContain('code 0');

    await run('second', port);
    await untilReady('second');
    expect(await statusOf(url, made)).toBe(200);
    expect(keyIn(await logs('second'))).toBeUndefined();
  },
  BUILD_WITHIN_MS,
);
