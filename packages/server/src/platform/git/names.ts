/** Names that git accepts: paths in trees, and names of branches. */

/** Characters that macOS ignores in file names, so that `.g\u200cit` is `.git` there. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
/** What `git fsck` refuses: names that mean git's own folder or list of submodules, also on Windows and macOS. */
const GITS_OWN = /^(\.git|git~1|\.gitmodules|gitmod~[1-4]|gi7eba~\d)$/;

function isGitsOwn(name: string): boolean {
  const onDisk = name
    .replace(IGNORED_BY_HFS, '')
    .split(':')[0]!
    .replace(/[ .]+$/, '');
  return GITS_OWN.test(onDisk.toLowerCase());
}

/** Whether a tree can hold a file with this path, such as `cubes/orders.yml`. */
export const isTreePath = (path: string): boolean =>
  path.isWellFormed() &&
  !path.includes('\0') &&
  path.split('/').every((name) => name !== '' && name !== '.' && name !== '..') &&
  !path.split(/[/\\]/).some(isGitsOwn);

const BRANCH_NAME_BYTES_MAX = 200;

/** Whether git accepts `refs/heads/<name>`; see `git check-ref-format`. Longer names do not fit into all file systems. */
export const isBranchName = (name: string): boolean =>
  name.isWellFormed() &&
  Buffer.byteLength(name) <= BRANCH_NAME_BYTES_MAX &&
  !/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\.$/.test(name) &&
  !name.startsWith('-') &&
  name !== 'HEAD' &&
  name !== '@' &&
  name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
