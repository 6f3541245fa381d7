/** The server as one tarball. Only packages with native code stay dependencies, which npm installs for each machine. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build, NOT_BUNDLED } from '../build.mjs';
import { root } from '../install.mjs';
import { type Manifest, makeTarball, publishedManifest, readManifest } from './tarball.ts';

const SERVER = join(root, 'packages/server');

/**
 * The files of packages that the server reads when it is asked for them. They go into the tarball without the packages
 * that these would install, because one of those reports every installation to its maker.
 */
const READ_AT_RUN_TIME = {
  'swagger-ui-dist': ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'],
};

export async function packServer(target: string): Promise<string> {
  const { engineFiles } = await build();
  const { dependencies = {}, optionalDependencies } = await readManifest('packages/server');
  const read = Object.keys(READ_AT_RUN_TIME);
  const kept = Object.entries(dependencies).filter(([name]) => isNative(name) || read.includes(name));
  const manifest = await publishedManifest('packages/server', {
    bin: { 'oriel-server': 'main.js' },
    dependencies: Object.fromEntries(kept),
    optionalDependencies,
    bundleDependencies: read,
  });
  const built = [...(await builtFiles()), ...engineFiles.map((name) => join('dist', name))];
  const names = ['main.js', 'node-version.js', 'README.md', ...built];
  for (const folder of ['migrations', 'models']) names.push(...(await filesBelow(folder)));
  return makeTarball(target, {
    manifest,
    texts: { 'THIRD-PARTY-LICENSES.txt': await thirdPartyLicences(), ...(await manifestsOf(read)) },
    copies: {
      ...Object.fromEntries(names.map((name) => [name, join(SERVER, name)])),
      ...Object.fromEntries(
        Object.entries(READ_AT_RUN_TIME).flatMap(([name, files]) =>
          files.map((file) => [`node_modules/${name}/${file}`, join(folderOf(name, SERVER)!, file)]),
        ),
      ),
    },
  });
}

const isNative = (name: string) =>
  NOT_BUNDLED.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  );

/**
 * The built files, without those of the engines, whose folder also holds those of earlier builds, and without the
 * record of the build.
 */
const builtFiles = async () =>
  (await filesBelow('dist')).filter((name) => !/^dist\/(engine|built\.json$)|\.tmp$/.test(name));

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(SERVER, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(SERVER.length + 1));
}

/** The manifests of the packages that are only read, so that npm sees their versions and installs nothing for them. */
async function manifestsOf(names: string[]): Promise<Record<string, string>> {
  const entries = names.map(async (name) => {
    const { version, license } = await manifestAt(folderOf(name, SERVER)!);
    return [`node_modules/${name}/package.json`, JSON.stringify({ name, version, license })];
  });
  return Object.fromEntries(await Promise.all(entries));
}

const manifestAt = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));

/** Where npm installed a package that another one uses, or nothing if it did not. */
function folderOf(name: string, from: string): string | undefined {
  const folders = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  return folders.map((dir) => join(dir, name)).find((dir) => existsSync(join(dir, 'package.json')));
}

/** The licences of every package that the server or the embedded page uses, also if the build leaves it out. */
async function thirdPartyLicences(): Promise<string> {
  const texts = new Map<string, string>();
  const add = async (folder: string) => {
    const { name, version, license, dependencies = {} } = await manifestAt(folder);
    const title = `${name} ${version} (${license})`;
    if (texts.has(title)) return;
    texts.set(title, name.startsWith('@oriel/') ? '' : await licenceIn(folder));
    for (const next of Object.keys(dependencies).sort()) {
      const found = folderOf(next, folder);
      if (found) await add(found);
    }
  };
  for (const name of ['packages/server', 'packages/viewer']) await add(join(root, name));
  return [...texts]
    .filter(([, text]) => text)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, text]) => `${title}\n${'-'.repeat(title.length)}\n\n${text}\n`)
    .join('\n');
}

async function licenceIn(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => /^(licen[cs]e|notice)/i.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return texts.map((text) => text.trim()).join('\n\n') || 'The package has no file with its licence.';
}
