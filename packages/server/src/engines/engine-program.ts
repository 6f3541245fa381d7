/** The program of the engines' processes. If the user who runs it can not reach it, a copy below the data dir is run. */
import { createHash } from 'node:crypto';
import { constants, existsSync, readdirSync, readFileSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { makeDataDir } from '../platform/db/embedded/data-dir.ts';
import { copyOnce } from '../platform/processes/copy-once.ts';
import { canReach, canRead, type ProcessUser } from '../platform/processes/process-user.ts';
import { engineUser } from './engine-user.ts';

export interface EngineProgram {
  script: string;
  /** The program of Node itself. */
  command: string;
  user: ProcessUser | undefined;
}

interface Installed {
  script: string;
  dataDir: string;
  /** By default, our own Node. */
  node?: string;
}

/** What npm installs and the build does not bundle, because it has native code. */
const DRIVER = '@duckdb/node-api';

export type FindProgram = () => Promise<EngineProgram>;

/** Looks at the first call what is installed. */
export function createEngineProgram(installed: Installed): FindProgram {
  let found: Promise<EngineProgram> | undefined;
  return () => {
    found ??= prepare(installed).catch((error) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

async function prepare({ script, dataDir, node = process.execPath }: Installed): Promise<EngineProgram> {
  const user = engineUser();
  if (!user) return { script, command: node, user };
  const reachable = {
    script: await reachableScript(user, script, dataDir),
    command: await reachableNode(user, node, dataDir),
    user,
  };
  if (!canRead(user, [reachable.script])) {
    throw new Error(
      `${user.name}, who runs the engines, can not reach the data dir ${dataDir}: set ORIEL_DATA_DIR to a folder that ${user.name} can reach, or do not run Oriel as root`,
    );
  }
  return reachable;
}

async function reachableNode(user: ProcessUser, node: string, dataDir: string): Promise<string> {
  if (canReach(user, node)) return node;
  const copy = join(dataDir, `node-${process.version}`);
  await makeDataDir(dataDir);
  await copyOnce(copy, (folder) => copyInto(folder, { node }));
  return join(copy, 'node');
}

/** Node looks for packages in the folders above a script, so the copy of the program is below that of the driver. */
async function reachableScript(user: ProcessUser, script: string, dataDir: string): Promise<string> {
  const files = filesOf(script);
  const packages = packagesOf(script);
  const inPackages = [...packages.values()].flatMap((folder) =>
    readdirSync(folder).map((name) => join(folder, name)),
  );
  if (canRead(user, [...files.values(), ...inPackages])) return script;
  await makeDataDir(dataDir);
  const driver = join(dataDir, `engine-${packageAt(packages.get(DRIVER)!).version}`);
  await copyOnce(driver, (folder) =>
    copyInto(
      folder,
      Object.fromEntries([...packages].map(([name, path]) => [join('node_modules', name), path])),
    ),
  );
  const copy = join(driver, fingerprint(files));
  await copyOnce(copy, async (folder) => {
    await copyInto(folder, Object.fromEntries(files));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  });
  return join(copy, basename(script));
}

async function copyInto(folder: string, paths: Record<string, string>) {
  for (const [name, path] of Object.entries(paths)) {
    await cp(path, join(folder, name), {
      recursive: true,
      dereference: true,
      mode: constants.COPYFILE_FICLONE,
    });
  }
}

/** The script and what the build puts beside it for it, by their names there. */
function filesOf(script: string): Map<string, string> {
  const parts = basename(script, '.js');
  const beside = existsSync(join(dirname(script), parts)) ? readdirSync(join(dirname(script), parts)) : [];
  const names = [basename(script), ...beside.map((name) => join(parts, name))].filter((name) =>
    name.endsWith('.js'),
  );
  return new Map(names.map((name) => [name, join(dirname(script), name)]));
}

/** A build of the same version may have other files while Oriel is being developed. */
function fingerprint(files: Map<string, string>): string {
  const hash = createHash('sha256');
  for (const [name, path] of [...files].sort()) hash.update(`${name}\n`).update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}

interface Manifest {
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const packageAt = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The folders of the driver and of the packages that it needs, as far as npm installed them for this machine. */
function packagesOf(script: string): Map<string, string> {
  const found = new Map<string, string>();
  const add = (name: string, from: string) => {
    if (found.has(name)) return;
    const folders = createRequire(from).resolve.paths(name) ?? [];
    const folder = folders.map((dir) => join(dir, name)).find((dir) => existsSync(join(dir, 'package.json')));
    if (!folder) return;
    found.set(name, folder);
    const { dependencies, optionalDependencies } = packageAt(folder);
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies }))
      add(next, join(folder, 'package.json'));
  };
  add(DRIVER, script);
  return found;
}
