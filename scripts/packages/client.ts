/** The client as a package of its own: one module without dependencies, and types that are written out. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bin, root } from '../install.mjs';
import { clientTypes } from './client-types.ts';
import { makeTarball, publishedManifest } from './tarball.ts';

const CLIENT = join(root, 'packages/client');
const DIST = join(CLIENT, 'dist');
const FILES = ['index.js', 'index.d.ts', 'operations.d.ts', 'types.d.ts', 'error.d.ts'];

export async function buildClient() {
  await rm(DIST, { recursive: true, force: true });
  await mkdir(DIST);
  await build({
    entryPoints: [join(CLIENT, 'src/index.ts')],
    outfile: join(DIST, 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    logLevel: 'warning',
  });
  const { operations, index } = clientTypes();
  await writeFile(join(DIST, 'operations.d.ts'), operations);
  await writeFile(join(DIST, 'index.d.ts'), index);
  await copyFile(join(CLIENT, 'src/types.ts'), join(DIST, 'types.d.ts'));
  await promisify(execFile)(bin('tsc'), ['-p', join(CLIENT, 'tsconfig.published.json')]);
  const error = join(DIST, 'error.d.ts');
  await writeFile(error, (await readFile(error, 'utf8')).replace('@oriel/contract', './operations.js'));
}

export async function packClient(target: string): Promise<string> {
  await buildClient();
  const names = ['README.md', ...FILES.map((name) => `dist/${name}`)];
  return makeTarball(target, {
    manifest: await publishedManifest('packages/client', {
      exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
      types: './dist/index.d.ts',
      sideEffects: false,
      files: ['dist'],
    }),
    copies: Object.fromEntries(names.map((name) => [name, join(CLIENT, name)])),
  });
}
