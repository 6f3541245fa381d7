/**
 * Bundles the embedded page into `packages/server/dist/viewer`: files whose names hold a hash, each also compressed, and
 * `manifest.json`, which says what the page loads first. If nothing has changed since the last build, it does nothing.
 */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { hashInputs, placePages } from './build-files.mjs';
import { root } from './install.mjs';

const SOURCE = join(root, 'packages/viewer/src');
const TARGET = join(root, 'packages/server/dist/viewer');
const FOLDERS = ['packages/viewer/src', 'packages/charts/src'];
/** What the result depends on beside the sources. */
const OTHERS = [
  'package-lock.json',
  'scripts/build-viewer.mjs',
  'packages/charts/package.json',
  'packages/viewer/sdk/digits.ts',
];

export async function buildViewer() {
  const inputs = await hashInputs(FOLDERS, OTHERS);
  const before = await readManifest();
  if (before?.inputs === inputs) return;
  const { outputFiles, metafile } = await bundle();
  await placePages(TARGET, outputFiles, { inputs, ...describe(metafile) });
}

async function bundle() {
  const { build } = await import('esbuild');
  const common = {
    outdir: TARGET,
    entryNames: '[name]-[hash]',
    bundle: true,
    platform: 'browser',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    write: false,
    metafile: true,
    logLevel: 'warning',
  };
  const results = await Promise.all([
    build({
      ...common,
      entryPoints: { page: join(SOURCE, 'main.tsx'), style: join(SOURCE, 'style.css') },
      chunkNames: '[name]-[hash]',
      splitting: true,
      format: 'esm',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    }),
    build({
      ...common,
      entryPoints: { inside: join(SOURCE, 'apps/inside.ts'), notice: join(SOURCE, 'notice.ts') },
      format: 'iife',
    }),
  ]);
  return {
    outputFiles: results.flatMap(({ outputFiles }) => outputFiles),
    metafile: { outputs: Object.assign({}, ...results.map(({ metafile }) => metafile.outputs)) },
  };
}

function describe({ outputs }) {
  const entries = Object.entries(outputs).map(([path, output]) => [basename(path), output]);
  const entry = (ending) =>
    entries.find(([, { entryPoint }]) => entryPoint?.endsWith(ending)) ?? fail(`there is no ${ending}`);
  const [script, { imports }] = entry('main.tsx');
  const [style] = entry('style.css');
  const [inside] = entry('apps/inside.ts');
  const [notice] = entry('src/notice.ts');
  const preload = imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path));
  return { script, style, inside, notice, preload, files: entries.map(([name]) => name) };
}

function fail(message) {
  throw new Error(message);
}

const readManifest = () => readFile(join(TARGET, 'manifest.json'), 'utf8').then(JSON.parse, () => undefined);
