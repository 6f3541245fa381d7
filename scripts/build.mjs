/** Bundles our own code of the server into one file. Packages from npm stay where npm put them. */
import { join } from 'node:path';
import { root } from './install.mjs';

export async function build() {
  const { build: bundle } = await import('esbuild');
  await bundle({
    entryPoints: [join(root, 'packages/server/src/main.ts')],
    outfile: join(root, 'packages/server/dist/main.js'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    sourcemap: true,
    logLevel: 'warning',
    plugins: [{ name: 'npm-packages-stay', setup: keepPackages }],
  });
}

function keepPackages({ onResolve }) {
  onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
    kind === 'entry-point' || path.startsWith('@oriel/') ? undefined : { path, external: true },
  );
}

if (process.argv[1] === join(root, 'scripts', 'build.mjs')) await build();
