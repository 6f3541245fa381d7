/** Starts one of the tiny servers in bench/anchors, which Oriel is compared with. */
import { join } from 'node:path';
import { build } from 'esbuild';
import { type HttpProcess, startHttpProcess } from './http-process.ts';
import { cacheDir, root } from './paths.ts';

export async function startAnchor(name: string, env: Record<string, string>): Promise<HttpProcess> {
  // Bundled like the server, because `tsx` would do extra work in the same process.
  const outfile = join(cacheDir, 'anchors', `${name}.mjs`);
  await build({
    entryPoints: [join(root, 'bench', 'anchors', `${name}.ts`)],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    logLevel: 'warning',
  });
  return startHttpProcess({
    name: `the anchor ${name}`,
    args: [outfile],
    env: (port) => ({ ...env, ANCHOR_PORT: String(port) }),
    readyPath: '/',
  });
}
