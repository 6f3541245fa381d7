/** Commits: their format, and history. */
import { type GitObject, type Hash, MissingObjectError, type Objects } from './objects.ts';
import { EMPTY_TREE, readTrees, writeTrees } from './trees.ts';

export interface Person {
  name: string;
  email: string;
}

export interface Commit {
  hash: Hash;
  tree: Hash;
  parents: Hash[];
  author: Person & { at: Date };
  committer: Person & { at: Date };
  message: string;
}

export interface NewCommit {
  tree: Hash;
  parents: readonly Hash[];
  author: Person & { at: Date };
  message: string;
}

/** Time zones of foreign commits have any number of digits. */
const PERSON = /^(.*?) ?<([^>]*)> ?(-?\d+)(?: [+-]\d+)?$/;

export function parseCommit(hash: Hash, content: Buffer): Commit {
  const end = content.indexOf('\n\n');
  const head = content.toString('utf8', 0, end < 0 ? content.length : end).split('\n');
  const values = (name: string) =>
    head.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const person = (name: string) => {
    const [, by, email, seconds] = PERSON.exec(values(name)[0] ?? '') ?? [];
    if (email === undefined) throw new Error(`the commit ${hash} has no ${name}`);
    return { name: by!, email, at: new Date(Number(seconds) * 1000) };
  };
  return {
    hash,
    tree: values('tree')[0]!,
    parents: values('parent'),
    author: person('author'),
    committer: person('committer'),
    message: end < 0 ? '' : content.toString('utf8', end + 2),
  };
}

/** The parents that the content of a commit names. */
export const parentsIn = (content: Buffer): Hash[] => parseCommit('', content).parents;

function formatCommit({ tree, parents, author, committer, message }: Omit<Commit, 'hash'>): GitObject {
  const by = ({ name, email, at }: Commit['author']) => {
    const address = withoutCrud(email);
    return `${withoutCrud(name) || address || 'unknown'} <${address}> ${secondsOf(at)} +0000`;
  };
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${by(author)}`,
    `committer ${by(committer)}`,
  ];
  return { type: 'commit', content: Buffer.from(`${lines.join('\n')}\n\n${cleanMessage(message)}`) };
}

const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000);

/** What git leaves out of names and addresses. */
function withoutCrud(text: string): string {
  return text.replace(/[\0\n<>]/g, '').replace(/^[\0- .,:;"\\']+|[\0- .,:;"\\']+$/g, '');
}

/** As `git commit` does it: no blank lines at either end, one at most between others, no blanks at the end of a line. */
function cleanMessage(message: string): string {
  const lines = message.replaceAll('\0', '').split('\n').map(withoutTrailingBlanks);
  const kept = lines.filter((line, i) => line !== '' || (i > 0 && lines[i - 1] !== ''));
  while (kept.at(-1) === '') kept.pop();
  return kept.length ? `${kept.join('\n')}\n` : '';
}

function withoutTrailingBlanks(line: string): string {
  let end = line.length;
  while (end > 0 && ' \t\v\f\r'.includes(line[end - 1]!)) end--;
  return line.slice(0, end);
}

/**
 * The commit becomes younger than its parents, if necessary by a second: then the times alone show that a commit comes
 * before its parents, and a list of commits can be continued anywhere. The time of the author stays as it is.
 */
export async function writeCommit(
  objects: Objects,
  { tree, parents, author, message }: NewCommit,
): Promise<Hash> {
  const before = await readCommits(objects, parents);
  if (tree === EMPTY_TREE) await writeTrees(objects, [[]]);
  else await readTrees(objects, [tree]);
  const youngest = Math.max(...before.map(({ committer }) => committer.at.getTime() + 1000), 0);
  const committer = { ...author, at: new Date(Math.max(author.at.getTime(), youngest)) };
  const commit = formatCommit({ tree, parents: [...parents], author, committer, message });
  const [hash] = await objects.write([commit]);
  return hash!;
}

export async function readCommits(objects: Objects, hashes: readonly Hash[]): Promise<Commit[]> {
  const found = await objects.read(hashes);
  return hashes.map((hash) => requireCommit(hash, found.get(hash)!));
}

export const readCommit = async (objects: Objects, hash: Hash): Promise<Commit> =>
  (await readCommits(objects, [hash]))[0]!;

function requireCommit(hash: Hash, { type, content }: GitObject): Commit {
  if (type !== 'commit') throw new MissingObjectError(hash);
  return parseCommit(hash, content);
}

const HISTORY_PART = 500;

/** Returns a function that reads commits one by one, and loads many ancestors at a time. */
export function createHistory(objects: Objects, partSize = HISTORY_PART) {
  const known = new Map<Hash, Commit>();
  return async (hash: Hash): Promise<Commit> => {
    const commit = known.get(hash);
    if (commit) return commit;
    const part = await objects.readHistory([hash], partSize);
    for (const [own, object] of part) if (!known.has(own)) known.set(own, requireCommit(own, object));
    return known.get(hash)!;
  };
}

/** Younger commits come first. Commits of the same second are in the order of their hashes. */
const comesBefore = (a: Commit, b: Commit) => {
  const [timeA, timeB] = [a.committer.at.getTime(), b.committer.at.getTime()];
  return timeA > timeB || (timeA === timeB && a.hash < b.hash);
};

/** Where a list of commits begins. */
export interface Start {
  from: readonly Hash[];
  /** Leaves out the commits up to this one. It must be reachable from `from`. */
  after?: Hash | undefined;
}

/** How many commits are loaded at a time, at least, while commits are left out. */
const SKIP_PART = 50;

/**
 * Commits that are reachable from these, the youngest first, as `git log` shows them. `rest` continues the list: a page
 * costs the same wherever it is, and what is committed meanwhile moves nothing. With `after`, a page also costs the way
 * to that commit.
 */
export async function listCommits(
  objects: Objects,
  { from, after }: Start,
  limit: number,
): Promise<{ commits: Commit[]; rest: Hash[] }> {
  const find = createHistory(objects, after === undefined ? limit : Math.max(limit, SKIP_PART));
  const waiting = new Map<Hash, Commit>();
  const add = async (hash: Hash) => {
    if (!waiting.has(hash)) waiting.set(hash, await find(hash));
  };
  for (const hash of from) await add(hash);
  const commits: Commit[] = [];
  let isSkipping = after !== undefined;
  while (commits.length < limit && waiting.size) {
    const next = [...waiting.values()].reduce((first, commit) =>
      comesBefore(commit, first) ? commit : first,
    );
    waiting.delete(next.hash);
    if (!isSkipping) commits.push(next);
    else if (next.hash === after) isSkipping = false;
    for (const parent of next.parents) await add(parent);
  }
  return { commits, rest: [...waiting.keys()] };
}
