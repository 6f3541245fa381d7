/**
 * Builds what host pages import, `@oriel/viewer/embed` and `@oriel/viewer/react`, into `packages/viewer/dist`: a module
 * and its types each. If nothing has changed since the last build, it does nothing.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { hashInputs, place } from './build-files.mjs';
import { bin, root } from './install.mjs';

const PACKAGE = join(root, 'packages/viewer');
const SOURCE = join(PACKAGE, 'sdk');
const TARGET = join(PACKAGE, 'dist');
/** What the result depends on beside the sources. */
export const OTHERS = [
  'package-lock.json',
  'scripts/build-sdk.mjs',
  'packages/viewer/tsconfig.sdk.json',
  'packages/viewer/tsconfig.json',
  'tsconfig.json',
];

export async function buildSdk() {
  const inputs = await hashInputs(['packages/viewer/sdk'], OTHERS);
  if (inputs === (await readFile(join(TARGET, 'inputs'), 'utf8').catch(() => ''))) return;
  await mkdir(TARGET, { recursive: true });
  const files = [...(await bundle('embed')), ...(await bundle('react')), ...(await declare())];
  for (const [name, content] of files) await place(TARGET, name, content);
  await place(TARGET, 'inputs', inputs);
}

async function bundle(name) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(SOURCE, `${name}.ts`)],
    outdir: TARGET,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    external: ['react'],
    plugins: name === 'react' ? [BESIDE] : [],
    // Frameworks that render on servers leave such modules to the browser.
    banner: name === 'react' ? { js: "'use client';" } : {},
    write: false,
    logLevel: 'warning',
  });
  return outputFiles.map(({ path, contents }) => [basename(path), contents]);
}

/** The wrapper imports the element from the file beside it, so that a page that uses both has it once. */
const BESIDE = {
  name: 'beside',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/embed\.ts$/ }, () => ({ path: './embed.js', external: true })),
};

async function declare() {
  const folder = await mkdtemp(join(TARGET, 'types-'));
  try {
    await promisify(execFile)(bin('tsc'), ['-p', join(PACKAGE, 'tsconfig.sdk.json'), '--outDir', folder]);
    const names = await readdir(folder);
    return await Promise.all(
      names.map(async (name) => {
        const text = await readFile(join(folder, name), 'utf8');
        return [name, text.replaceAll(/(from|import) '(\.\/\w+)\.ts'/g, "$1 '$2.js'")];
      }),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}
