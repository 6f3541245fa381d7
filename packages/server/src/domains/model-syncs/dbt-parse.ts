/**
 * Lets dbt itself make the manifest of a project: `dbt parse`, in a sandbox without network and without a warehouse. The
 * project is code of others, so never outside of a sandbox: where there is none, nothing runs.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { limits } from '@oriel/contract';
import { BUBBLEWRAP, inPlace, type VisiblePath } from '../../platform/processes/fence.ts';
import { userWithoutRights } from '../../platform/processes/process-user.ts';
import { runSandboxed } from '../../platform/processes/sandbox.ts';
import { SYSTEM_CALL_FILTER } from '../../platform/processes/system-call-filter.ts';
import { HARNESS } from './dbt-harness.ts';
import { DbtError } from './dbt-work.ts';

const LIMITS = {
  timeMs: 240_000,
  cpuSeconds: 120,
  textBytesMax: 256 * 1024,
  resultBytesMax: limits.dbtFile,
  temporaryBytes: 512 * 1024 * 1024,
};
/** The most bytes of all files that dbt reads of a project, with the data of its seeds. */
const PROJECT_BYTES = 128 * 1024 * 1024;
/** Exit codes of the harness. */
const NOT_INSTALLED = 3;

const WHAT_TO_DO =
  'Commit the files that dbt makes in `target` (manifest.json, and catalog.json), or let CI upload them.';

export interface ParsedProject {
  files: ReadonlyMap<string, Uint8Array>;
  /** The schema of a profile that is made for it, if the project has no profiles.yml. */
  schema: string | null;
}

/** Returns the manifest that dbt makes of the project. Throws a `DbtError` that says what to do. */
export async function parseProject(
  python: string,
  { files, schema }: ParsedProject,
  signal: AbortSignal,
): Promise<Buffer> {
  if (!files.has('dbt_project.yml')) {
    throw new DbtError(
      'The folder has neither target/manifest.json nor dbt_project.yml: does `projectPath` name the folder of the dbt project?',
    );
  }
  const sandbox = sandboxFor(python);
  if (typeof sandbox === 'string')
    throw new DbtError(`The repository has no target/manifest.json, and ${sandbox} ${WHAT_TO_DO}`);
  const list = [...files];
  const bytes = list.reduce((sum, [, content]) => sum + content.length, 0);
  if (bytes > PROJECT_BYTES)
    throw new DbtError(`The project is too large for dbt to run here: more than 128 MB. ${WHAT_TO_DO}`);
  const { temporaryBytes, ...limited } = LIMITS;
  const { code, stdout, stderr, result, ended } = await runSandboxed({
    fence: { bubblewrap: BUBBLEWRAP, readable: sandbox.readable, temporaryBytes },
    user: sandbox.user,
    command: python,
    args: ['-I', '-c', HARNESS],
    input: inputOf(list, schema),
    ...limited,
    signal,
  });
  signal.throwIfAborted();
  if (code === NOT_INSTALLED)
    throw new DbtError(
      `The repository has no target/manifest.json, and dbt is not installed in the Python of the server. ${WHAT_TO_DO}`,
    );
  if (ended === 'too late')
    throw new DbtError(`\`dbt parse\` took too much time, so it was ended. ${WHAT_TO_DO}`);
  if (ended === 'too large')
    throw new DbtError(`The manifest of \`dbt parse\` has more than ${limits.dbtFile / 1024 / 1024} MB.`);
  if (code !== 0 || !result) {
    const said = shownEnd(stdout.trim() ? stdout : stderr);
    throw new DbtError(`\`dbt parse\` failed: ${said || `exit code ${code}`}`);
  }
  return Buffer.from(result);
}

const SHOWN_MAX = 2000;

/** dbt says at its end what went wrong. */
const shownEnd = (text: string) =>
  text
    .trim()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what a program of others prints may hold any
    .replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '')
    .slice(-SHOWN_MAX)
    .toWellFormed();

function* inputOf(files: readonly [string, Uint8Array][], schema: string | null) {
  const head = { schema, files: files.map(([path, content]) => [path, content.length]) };
  yield Buffer.from(`${JSON.stringify(head)}\n`);
  for (const [, content] of files) yield content;
}

/** What the sandbox shows and who runs in it, or why there is none. */
function sandboxFor(python: string) {
  if (!existsSync(python)) return `the server has no ${python} with dbt.`;
  if (!existsSync(BUBBLEWRAP)) return 'the server has no bubblewrap, without which it does not run dbt.';
  if (!SYSTEM_CALL_FILTER) return 'the server runs dbt only on processors of the type x64.';
  const user = userWithoutRights();
  if (!user) return 'the server runs as root, and there is no user `nobody` for the sandbox.';
  return { user, readable: shownFor(python) };
}

/** The program, each link that leads to it, and the modules that belong to it. Those of the system are always shown. */
function shownFor(python: string): VisiblePath[] {
  const real = realpathSync(python);
  const root = dirname(dirname(python));
  const isVenv = existsSync(join(root, 'pyvenv.cfg'));
  const steps = [python];
  while (lstatSync(steps.at(-1)!).isSymbolicLink()) {
    const last = steps.at(-1)!;
    steps.push(resolve(dirname(last), readlinkSync(last)));
  }
  const links = steps
    .filter((step) => !isVenv || !step.startsWith(`${root}/`))
    .map((to): VisiblePath => ({ from: real, to }));
  const modules = [join(dirname(dirname(real)), 'lib'), '/usr/local/lib'].filter(
    (folder, i, all) => !folder.startsWith('/usr/lib') && existsSync(folder) && all.indexOf(folder) === i,
  );
  return [...modules.map(inPlace), ...links, ...(isVenv ? [inPlace(root)] : [])];
}
