/** System programs that only the benchmarks need, not the product. */
import { spawnSync } from 'node:child_process';

export interface Tool {
  command: string;
  /** The Debian package that contains the program. */
  debianPackage: string;
  /** How to install it on other systems. */
  elsewhere: string;
}

const found = new Set<string>();

/** Installs the program if it is missing and we have the right to; otherwise fails with instructions. */
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

/** Returns the reason why the installation failed, or nothing if it succeeded. */
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
  // A fresh machine has no package lists yet.
  apt('update');
  const { status, stderr } = installPackage();
  return status === 0 ? undefined : stderr.trim().split('\n').at(-1);
}

const missing = ({ command, debianPackage, elsewhere }: Tool, reason = 'it was not found afterwards') =>
  `The program ${command} is missing and could not be installed: ${reason}.\n` +
  `Install it with \`sudo apt-get install ${debianPackage}\` (Debian, Ubuntu) or ${elsewhere}, and run this again.`;
