/** The commands for those who work on Oriel, as far as they can be tried without what they fetch. */
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../scripts/install.mjs';
import { cleanUp, newFolder } from './server-process.ts';

afterAll(cleanUp);

function run(script: string, args: string[], env = {}) {
  const program = join(root, 'node_modules/.bin/tsx');
  const given = { cwd: root, encoding: 'utf8', env: { ...process.env, ...env } } as const;
  const { status, stdout, stderr } = spawnSync(program, [join('scripts', script), ...args], given);
  return { status, stdout, stderr };
}

test('test:deploy names the files that it knows', () => {
  expect(run('test-deploy.ts', ['proxies', 'proxy'])).toMatchObject({
    status: 1,
    stderr: 'There is no proxy: choose of files, proxies, metrics, image.\n',
  });
});

test('test:node takes the newest of a version, and what is there if npm cannot be reached', async () => {
  const folder = await newFolder();
  // No version of Node has such a number, and no other run of this test has the same.
  const version = String(process.pid + 10_000);
  const cache = join(root, 'node_modules', '.cache', `oriel-node-${version}`);
  const bin = join(cache, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin');
  const npm = (script: string) =>
    writeFileSync(join(folder, 'npm'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const offering = (newest: string) =>
    `mkdir -p ${bin} && printf '#!/bin/sh\\necho v${version}.${newest}' > ${bin}/node && chmod +x ${bin}/node`;
  const tested = () => {
    const { status, stdout } = run('test-node.ts', [version], {
      PATH: `${folder}${delimiter}${process.env.PATH}`,
    });
    return [status, /^Node (.*)$/m.exec(stdout)?.[1]];
  };
  try {
    npm(offering('1.0'));
    expect(tested()).toEqual([0, `v${version}.1.0`]);
    npm(offering('2.0'));
    expect(tested()).toEqual([0, `v${version}.2.0`]);
    npm('exit 1');
    expect(tested()).toEqual([0, `v${version}.2.0`]);
  } finally {
    rmSync(cache, { recursive: true, force: true });
  }
});
