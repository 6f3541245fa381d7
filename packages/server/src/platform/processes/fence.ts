/**
 * A fence around a program: what the program can see and do on this machine. `bubblewrap` makes it. The program has a
 * file system of its own with a few files of the host, most of which it can only read, sees no other processes, and has
 * no network unless it needs one. An error in the memory of the program then does not reach the rest of the server.
 *
 * It has no /proc and no host name of its own, and nothing is written to /proc/sys to make it, because containers and
 * hardened services allow none of that.
 */
import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { SYSTEM_CALL_FILTER } from './system-call-filter.ts';

export const BUBBLEWRAP = '/usr/bin/bwrap';

export interface Fence {
  /** The path of bubblewrap. */
  bubblewrap: string;
  /** The paths of the host that the program can read, beside the libraries of the system, and where it finds them. */
  readable: readonly VisiblePath[];
  /** Folders of the host that it can also write to, where they are. */
  writable?: readonly string[];
  /** Nothing of this folder is seen but what is named above, even if the folder is inside of one that is shown. */
  hidden?: string;
  /** By default, there is no network. */
  hasNetwork?: boolean;
  /** How much it can write to /tmp, which is in memory; by default 16 MB. */
  temporaryBytes?: number;
}

export interface VisiblePath {
  from: string;
  to: string;
}

/** Where bubblewrap reads the filter of system calls. */
const FILTER_FD = 4;
const TEMPORARY_BYTES = 16 * 1024 * 1024;
const NOBODY = '65534';
/** On most systems, those in the root are links to those in /usr. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/lib', '/lib64'];
/** How the names of hosts are resolved. */
const NAMES = ['/etc/resolv.conf', '/etc/hosts', '/etc/nsswitch.conf', '/etc/host.conf', '/etc/gai.conf'];

/** The arguments of bubblewrap. The program follows them. */
export function fenceArguments(fence: Fence): string[] {
  const { readable, writable = [], hidden, hasNetwork = false, temporaryBytes = TEMPORARY_BYTES } = fence;
  const system = (hasNetwork ? [...LIBRARIES, ...NAMES] : LIBRARIES).filter((path) => existsSync(path));
  const isHidden = ({ from }: VisiblePath) => hidden !== undefined && isWithin(from, hidden);
  const shown = readable.filter((path) => !isHidden(path));
  const masks = [...system.filter((path) => !isLink(path)).map(inPlace), ...shown].flatMap(({ from, to }) =>
    hidden !== undefined && existsSync(hidden) && isWithin(hidden, from)
      ? [join(to, relative(realpathSync(from), realpathSync(hidden)))]
      : [],
  );
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', ...(hasNetwork ? [] : ['--unshare-net'])],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--uid', NOBODY, '--gid', NOBODY],
    ...['--dev', '/dev', '--remount-ro', '/dev'],
    // /tmp comes before the paths, because they may be inside of it.
    ...['--size', String(temporaryBytes), '--tmpfs', '/tmp'],
    ...system.flatMap((path) =>
      LIBRARIES.includes(path) && isLink(path) ? linked(path) : bound(inPlace(path)),
    ),
    ...shown.flatMap(bound),
    ...masks.flatMap((path) => ['--tmpfs', path]),
    ...readable.filter(isHidden).flatMap(bound),
    ...writable.flatMap((path) => ['--bind', path, path]),
    ...masks.flatMap((path) => ['--remount-ro', path]),
    ...(SYSTEM_CALL_FILTER ? ['--seccomp', String(FILTER_FD)] : []),
    ...['--chdir', '/tmp', '--remount-ro', '/', '--'],
  ];
}

/** A path that the program finds where it is on the host. */
export const inPlace = (path: string): VisiblePath => ({ from: path, to: path });

const bound = ({ from, to }: VisiblePath) => ['--ro-bind', from, to];
const linked = (path: string) => ['--symlink', readlinkSync(path), path];
const isLink = (path: string) => lstatSync(path).isSymbolicLink();

const real = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path));
const isWithin = (path: string, folder: string) => `${real(path)}${sep}`.startsWith(`${real(folder)}${sep}`);

/** Gives bubblewrap the filter that it waits for. The program must have been started with a pipe as its fifth file. */
export function sendFilter(stdio: readonly unknown[]) {
  const pipe = stdio[FILTER_FD] as Writable | undefined;
  pipe?.on('error', () => {});
  pipe?.end(SYSTEM_CALL_FILTER);
}
