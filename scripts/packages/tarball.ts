/** Makes npm tarballs of folders that hold only what is published. */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../install.mjs';

export type Manifest = Record<string, unknown> & {
  name: string;
  version: string;
  description: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
};

export const readManifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));

export interface Contents {
  manifest: Manifest;
  /** Texts by the names of their files in the package. */
  texts?: Record<string, string>;
  /** Paths of files by their names in the package. */
  copies?: Record<string, string>;
}

/** Every published manifest has these fields, and nothing that is only for this repository. */
export async function publishedManifest(folder: string, more: Record<string, unknown>): Promise<Manifest> {
  const { name, version, description, license, type } = await readManifest(folder);
  const { engines } = await readManifest('.');
  return { name, version, description, license, type, engines, ...more } as Manifest;
}

/** Returns the path of the tarball. The same contents make the same bytes. */
export async function makeTarball(target: string, { manifest, texts = {}, copies = {} }: Contents) {
  const folder = await mkdtemp(join(tmpdir(), 'oriel-pack-'));
  try {
    const all = { LICENSE: join(root, 'LICENSE'), ...copies };
    for (const [name, from] of Object.entries(all)) await copyFile(from, await placeFor(join(folder, name)));
    const written = { ...texts, 'package.json': `${JSON.stringify(manifest, null, 2)}\n` };
    for (const [name, text] of Object.entries(written)) {
      await writeFile(await placeFor(join(folder, name)), text);
    }
    await mkdir(target, { recursive: true });
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target];
    const { stdout } = await promisify(execFile)('npm', args, { cwd: folder });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    return join(target, filename);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function placeFor(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  return path;
}
