/** Which paths and contents the files of a data model may have. */
import { isUtf8 } from 'node:buffer';
import { dataModelLimits, sizeText } from '@oriel/contract';
import { isTreePath } from '../../platform/git/names.ts';

/** Composed characters, so that a file that was named on macOS is the same file elsewhere. */
export const composed = (path: string) => path.normalize('NFC');

/** Returns what is wrong with the path, or nothing. The path must be composed. */
export function pathProblem(path: string): string | undefined {
  const { pathBytes, foldersPerPath } = dataModelLimits;
  if (path === '') return 'must not be empty';
  if (!path.isWellFormed()) return 'must be valid Unicode';
  if (Buffer.byteLength(path) > pathBytes) return `must have at most ${pathBytes} bytes`;
  if (path.includes('\\')) return 'must have / between its parts, and no \\';
  if (path.includes('\0')) return 'must not have NUL (U+0000)';
  if (/[\p{Cc}\u2028\u2029]/u.test(path)) return 'must not have control characters';
  if (/[\u202a-\u202e\u2066-\u2069]/u.test(path))
    return 'must not have characters that change the direction of text';
  if (path.startsWith('/')) return 'must be relative, without a / at its beginning';
  const segments = path.split('/');
  if (segments.length > foldersPerPath + 1) return `must have at most ${foldersPerPath} folders`;
  for (const segment of segments) {
    const problem = segmentProblem(segment);
    if (problem) return problem;
  }
  return undefined;
}

function segmentProblem(segment: string): string | undefined {
  const { segmentBytes } = dataModelLimits;
  if (segment === '') return 'must not have // or a / at its end';
  if (segment === '.' || segment === '..') return 'must not have . or .. as one of its parts';
  if (Buffer.byteLength(segment) > segmentBytes)
    return `must have at most ${segmentBytes} bytes between its slashes`;
  if (isReservedByGit(segment)) return `must not have ${JSON.stringify(segment)}: git uses this name itself`;
  if (segment === '__proto__') return 'must not have __proto__: a JSON object cannot have this name';
  return windowsProblem(segment);
}

const DEVICE = /^(con|prn|aux|nul|(com|lpt)[0-9¹²³]|conin\$|conout\$) *(\.|$)/i;

/** A data model with such a name could not be checked out on Windows. */
function windowsProblem(segment: string): string | undefined {
  if (/[<>:"|?*]/.test(segment)) return 'must not have any of < > : " | ? *, which Windows does not allow';
  if (/[ .]$/.test(segment)) return 'must not have a part that ends with a blank or a dot, as on Windows';
  if (DEVICE.test(segment)) return `must not have ${JSON.stringify(segment)}: Windows uses this name itself`;
  return undefined;
}

/** Also refuses letters that only look different, such as wide ones. */
const isReservedByGit = (segment: string) => !isTreePath(segment.normalize('NFKC'));

/** The files that the compiler reads. */
export const isModelPath = (path: string) => /\.ya?ml$/i.test(path);

export const isText = (content: Buffer) => !content.includes(0) && isUtf8(content);

/** Returns what is wrong with the content of a file, or nothing. Only files of the model must be text. */
export function contentProblem(path: string, content: Buffer): string | undefined {
  const { fileBytes } = dataModelLimits;
  if (content.length > fileBytes) return `must have at most ${sizeText(fileBytes)}`;
  if (!isModelPath(path)) return undefined;
  const nul = content.indexOf(0);
  if (nul >= 0) return `must be text, as a file of the model, and has NUL (U+0000) at byte ${nul}`;
  if (!isUtf8(content)) return 'must be text in UTF-8, as a file of the model';
  return undefined;
}

/**
 * Two paths with the same key are the same file on a file system that ignores case. Letters are folded as Unicode says:
 * ſ is an s, and ß is ss, but the ı of Turkish is no i.
 */
const keyOf = (path: string) =>
  composed(path.replace(/[^ı]+/g, (text) => text.toLowerCase().toUpperCase().toLowerCase()));

/** The folders that a path is in, from the outermost one. */
export function* foldersOf(path: string) {
  for (let slash = path.indexOf('/'); slash > 0; slash = path.indexOf('/', slash + 1))
    yield path.slice(0, slash);
}

/** Returns how many folders there are. */
export function countFolders(paths: Iterable<string>): number {
  const folders = new Set<string>();
  for (const path of paths) for (const folder of foldersOf(path)) folders.add(folder);
  return folders.size;
}

/**
 * Finds which of the paths cannot be beside the others: because only the case of their letters differs, so that they
 * would be one file on many computers, or because one would be a file and a folder. `paths` holds all files that there
 * will be; only problems of `added` are returned, by path.
 */
export function clashes(paths: Iterable<string>, added: ReadonlySet<string>): Map<string, string> {
  const problems = new Map<string, string>();
  if (added.size === 0) return problems;
  const files = new Map<string, string[]>();
  const folders = new Map<string, string>();
  for (const path of paths) {
    const key = keyOf(path);
    const same = files.get(key);
    if (same) same.push(path);
    else files.set(key, [path]);
    for (const folder of foldersOf(key)) if (!folders.has(folder)) folders.set(folder, path);
  }
  for (const path of added) {
    const key = keyOf(path);
    const other = files.get(key)?.find((each) => each !== path);
    if (other !== undefined) problems.set(path, `differs only by case from ${other}`);
    const below = folders.get(key);
    if (below !== undefined) problems.set(path, `is a folder, because there is ${below}`);
    for (const folder of foldersOf(key)) {
      const file = files.get(folder)?.[0];
      if (file !== undefined) problems.set(path, `cannot be below ${file}, which is a file`);
    }
  }
  return problems;
}
