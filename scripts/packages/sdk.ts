/** What host pages import, as a package of its own: the element, and the component for React. */
import { join } from 'node:path';
import { buildSdk } from '../build-sdk.mjs';
import { root } from '../install.mjs';
import { makeTarball, publishedManifest, readManifest } from './tarball.ts';

const VIEWER = join(root, 'packages/viewer');
const FILES = ['embed.js', 'embed.d.ts', 'react.js', 'react.d.ts', 'events.d.ts', 'attributes.d.ts'];

export async function packSdk(target: string): Promise<string> {
  await buildSdk();
  const { exports, peerDependencies, peerDependenciesMeta } = await readManifest('packages/viewer');
  const names = ['README.md', ...FILES.map((name) => `dist/${name}`)];
  return makeTarball(target, {
    manifest: await publishedManifest('packages/viewer', {
      exports,
      peerDependencies,
      peerDependenciesMeta,
      // It defines the element; a bundler must not leave it out.
      sideEffects: ['./dist/embed.js'],
      files: ['dist'],
    }),
    copies: Object.fromEntries(names.map((name) => [name, join(VIEWER, name)])),
  });
}
