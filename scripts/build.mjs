/** Bundles our own code of the server into one file, and puts the SQL of its functions beside it. Packages from npm stay where npm put them, except typebox. */
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './install.mjs';

export async function build(entry = 'packages/server/src/main.ts', name = 'main.js') {
  const { build: bundle } = await import('esbuild');
  await bundle({
    entryPoints: [join(root, entry)],
    outfile: join(root, 'packages/server/dist', name),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    logLevel: 'warning',
    plugins: [{ name: 'npm-packages-stay', setup: keepPackages }],
  });
  await gatherFunctions();
}

/** The SQL of functions and triggers, in one file. Written atomically, because a starting server may read it. */
async function gatherFunctions() {
  const src = join(root, 'packages/server/src');
  const dist = join(root, 'packages/server/dist');
  const files = (await readdir(src, { recursive: true })).filter((file) => file.endsWith('functions.sql'));
  const texts = await Promise.all(files.sort().map((file) => readFile(join(src, file), 'utf8')));
  const unfinished = join(dist, `functions.${process.pid}.tmp`);
  await writeFile(unfinished, texts.join('\n'));
  await rename(unfinished, join(dist, 'functions.sql'));
}

/** typebox consists of hundreds of small files: reading them one by one took a quarter of a start. */
const BUNDLED = /^(@oriel|typebox)(\/|$)/;

function keepPackages({ onResolve }) {
  onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || BUNDLED.test(path) ? undefined : { path, external: true },
  );
}

if (process.argv[1] === join(root, 'scripts', 'build.mjs')) await build();
