/** Programs of the system that benchmarks need and the product does not. */
import { spawnSync } from 'node:child_process';

export interface Tool {
  command: string;
  /** The package of Debian that brings it. */
  debianPackage: string;
  /** How others get it. */
  elsewhere: string;
}

const found = new Set<string>();

/** Installs the program where it is missing and we may; else says how to. */
export function requireTool(tool: Tool): string {
  const { command } = tool;
  if (!found.has(command) && !isInstalled(command)) {
    const reason = install(tool);
    if (reason || !isInstalled(command)) throw new Error(missing(tool, reason));
  }
  found.add(command);
  return command;
}

const isInstalled = (command: string) =>
  spawnSync('/bin/sh', ['-c', 'command -v "$0"', command]).status === 0;

/** Answers why it could not, or nothing. */
function install({ command, debianPackage }: Tool): string | undefined {
  if (!isInstalled('apt-get')) return 'there is no apt-get here';
  if (process.getuid?.() !== 0) return 'only root may install packages';
  console.log(`Installing ${debianPackage} for ${command}…`);
  const apt = (...args: string[]) =>
    spawnSync('apt-get', args, {
      encoding: 'utf8',
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
  const installPackage = () => apt('install', '-y', '--no-install-recommends', debianPackage);
  if (installPackage().status === 0) return undefined;
  // On a fresh machine the lists of packages are not there yet.
  apt('update');
  const { status, stderr } = installPackage();
  return status === 0 ? undefined : stderr.trim().split('\n').at(-1);
}

const missing = ({ command, debianPackage, elsewhere }: Tool, reason = 'it was not found afterwards') =>
  `The program ${command} is missing and could not be installed: ${reason}.\n` +
  `Install it with \`sudo apt-get install ${debianPackage}\` (Debian, Ubuntu) or ${elsewhere}, and run this again.`;
