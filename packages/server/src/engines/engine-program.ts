/** The program of the engines' processes. If the user who runs it cannot reach it, a copy below the data dir is run. */
import { createHash } from 'node:crypto';
import { constants, existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { makeDataDir } from '../platform/db/embedded/data-dir.ts';
import type { Logger } from '../platform/log.ts';
import { copyOnce } from '../platform/processes/copy-once.ts';
import { BUBBLEWRAP, type Fence, inPlace, type VisiblePath } from '../platform/processes/fence.ts';
import { canReach, canRead, OURSELVES, type ProcessUser } from '../platform/processes/process-user.ts';
import { runSandboxed } from '../platform/processes/sandbox.ts';
import { engineUser } from './engine-user.ts';

export interface EngineProgram {
  script: string;
  /** The program of Node itself. */
  command: string;
  user: ProcessUser | undefined;
  /** Shows the program itself. Undefined if there can be no fence on this machine. */
  fence: Fence | undefined;
}

interface InstalledEngine {
  script: string;
  dataDir: string;
  /** By default, our own Node. */
  node?: string;
  /** By default, that of Debian. */
  bubblewrap?: string;
  log: Pick<Logger, 'warn'>;
}

/** What npm installs and the build does not bundle, because it has native code. */
const DRIVER = '@duckdb/node-api';

export type FindProgram = () => Promise<EngineProgram>;

/** Looks at the first call what is installed. */
export function createEngineProgram(installed: InstalledEngine): FindProgram {
  let found: Promise<EngineProgram> | undefined;
  return () => {
    found ??= prepare(installed).catch((error) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

async function prepare(installed: InstalledEngine): Promise<EngineProgram> {
  const { dataDir, bubblewrap = BUBBLEWRAP, log } = installed;
  const user = engineUser();
  const { script, command } = await reachableProgram(user, installed);
  const fence: Fence = { bubblewrap, readable: neededBy(script, command), hidden: dataDir };
  const problem = await problemWith({ script, command, user, fence });
  if (problem === undefined) return { script, command, user, fence };
  log.warn({ reason: `${problem} (see docs/operating.md, "Engines")` }, 'engines run without a sandbox');
  return { script, command, user, fence: undefined };
}

const LOOK_WITHIN_MS = 30_000;
/** What has worked in this process. Tests start many servers in one. */
const worked = new Set<string>();

/** Looks again only after a no: each look starts a process, and this thread waits for it. */
function hasWorked(key: string, look: () => boolean): boolean {
  if (!worked.has(key) && look()) worked.add(key);
  return worked.has(key);
}

/** Why there can be no fence on this machine, or undefined. Rejects if that cannot be found out now. */
async function problemWith({ command, user, fence }: EngineProgram & { fence: Fence }) {
  if (!existsSync(fence.bubblewrap)) return 'There is no bubblewrap';
  const key = `${fence.bubblewrap} ${command} ${user?.name}`;
  if (worked.has(key)) return undefined;
  const { code, stderr, ended } = await runSandboxed({
    fence,
    user: user ?? OURSELVES,
    command,
    args: ['--version'],
    input: [],
    timeMs: LOOK_WITHIN_MS,
    cpuSeconds: LOOK_WITHIN_MS / 1000,
    textBytesMax: 1000,
    resultBytesMax: 0,
    signal: new AbortController().signal,
  });
  if (code === 0) {
    worked.add(key);
    return undefined;
  }
  // The try may be cut off on a busy machine. Throws, so that the next query tries again: the answer "no fence" would
  // stand until a restart.
  if (ended || code === null) throw new Error('the sandbox of engines could not be tried');
  return `bubblewrap cannot make a sandbox: ${stderr.trim().slice(0, 200) || `exit code ${code}`}`;
}

/** What the script needs, with the packages where Node looks first, as in a copy. */
function neededBy(script: string, command: string): VisiblePath[] {
  const folder = dirname(script);
  return [
    { from: realpathSync(command), to: command },
    ...[...filesOf(script).values()].map(inPlace),
    inPlace(manifestAbove(folder)),
    ...[...packagesOf(script)].map(([name, from]) => ({ from, to: join(folder, 'node_modules', name) })),
  ];
}

/** What says that the script is a module. */
function manifestAbove(folder: string): string {
  const manifest = join(folder, 'package.json');
  return existsSync(manifest) || folder === dirname(folder) ? manifest : manifestAbove(dirname(folder));
}

async function reachableProgram(
  user: ProcessUser | undefined,
  { script, dataDir, node = process.execPath }: InstalledEngine,
): Promise<Pick<EngineProgram, 'script' | 'command'>> {
  if (!user) return { script, command: node };
  const reachable = {
    script: await reachableScript(user, script, dataDir),
    command: await reachableNode(user, node, dataDir),
  };
  const isOpen =
    (reachable.script === script || canRead(user, [reachable.script])) &&
    (reachable.command === node || canReach(user, reachable.command));
  if (!isOpen) {
    throw new Error(
      `${user.name}, who runs the engines, cannot reach the data dir ${dataDir}: set ORIEL_DATA_DIR to a folder that ${user.name} can reach, or do not run Oriel as root`,
    );
  }
  return reachable;
}

async function reachableNode(user: ProcessUser, node: string, dataDir: string): Promise<string> {
  if (hasWorked(`${user.name} ${node}`, () => canReach(user, node))) return node;
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
  const paths = [...files.values(), ...inPackages];
  if (hasWorked(`${user.name} ${paths}`, () => canRead(user, paths))) return script;
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
    const link = folders.map((dir) => join(dir, name)).find((dir) => existsSync(join(dir, 'package.json')));
    if (!link) return;
    const folder = realpathSync(link);
    found.set(name, folder);
    const { dependencies, optionalDependencies } = packageAt(folder);
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies }))
      add(next, join(folder, 'package.json'));
  };
  add(DRIVER, script);
  return found;
}
