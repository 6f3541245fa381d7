/** The same histories in our code and in the git program: the same commits, trees, and paths in conflict. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AUTHOR, type Files, filesOf, IN_PLACE, treeOf } from '../../../test/git-files.ts';
import { memoryObjects } from '../../../test/memory-objects.ts';
import { tryRandomly } from '../../../test/random-runs.ts';
import { createRealGit, type RealGit } from '../../../test/real-git.ts';
import { createWorld, type World } from '../../../test/world.ts';
import { readCommit, writeCommit } from './commits.ts';
import { diffTexts } from './diff-texts.ts';
import { mergeBases } from './merge-bases.ts';
import { mergeCommits } from './merge-commits.ts';
import { mergeTreesWithMarkers } from './merge-trees.ts';
import { createObjects } from './objects.store.ts';
import type { Hash, Objects } from './objects.ts';
import { Work } from './work.ts';

let world: World;
let git: RealGit;
beforeAll(async () => {
  world = await createWorld();
  git = await createRealGit();
});
afterAll(async () => {
  await git.remove();
  await world.stop();
});

/** Paths that are files in some commits and directories in others. */
const PATHS = ['a', 'a/b', 'a/b/c', 'd/e', 'd/f', 'g', 'h.yml', 'ü/x y.yml'];
const BRANCHES = 3;

interface Splice {
  at: number;
  remove: number;
  insert: string[];
}

/** Few different lines, so that many are repeated. Each gets the number of its path in front; see `own`. */
const line = fc.constantFrom('', '}', 'a', 'b', 'c', 'd', 'e', '  x', 'cr\r').map((text) => `${text}\n`);
const splice: fc.Arbitrary<Splice> = fc.record({
  at: fc.nat(12),
  remove: fc.nat(3),
  insert: fc.array(line, { maxLength: 3 }),
});

type Edit =
  | { how: 'write'; path: number; lines: string[]; ending: string }
  | { how: 'change'; path: number; splices: Splice[] }
  | { how: 'remove'; path: number };

/** Any earlier commit can be merged, so that branches are often merged crosswise. */
type Step =
  | { do: 'commit'; branch: number; edits: Edit[] }
  | { do: 'merge'; branch: number; commitsAgo: number };

const path = fc.nat(PATHS.length - 1);
const edit: fc.Arbitrary<Edit> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      how: fc.constant('write' as const),
      path,
      lines: fc.array(line, { maxLength: 12 }),
      // With a line feed at its end, without one, and binary.
      ending: fc.constantFrom('', '', '', 'end', 'end\r', 'nul\0'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      how: fc.constant('change' as const),
      path,
      splices: fc.array(splice, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ how: fc.constant('remove' as const), path }) },
);
const branch = fc.nat(BRANCHES - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('commit' as const),
    branch,
    edits: fc.array(edit, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ do: fc.constant('merge' as const), branch, commitsAgo: fc.nat(5) }),
);
const steps = fc.array(step, { minLength: 8, maxLength: 24, size: 'max' });

/**
 * No two paths share a line. Versions of git before 2.50 detect renames even if that is turned off, and here is nothing
 * that they could take for a renamed file.
 */
const own = (path: number, lines: readonly string[]) => lines.map((text) => `${path}${text}`);

const START: Files = {
  'a/b': own(1, ['a\n', 'b\n', 'c\n', '}\n', '\n', 'd\n', 'e\n', '}\n']).join(''),
  'd/e': own(3, ['a\n', '\n', '\n', 'b\n', '\n', '\n', 'c\n', '}\n', 'd\n', '}\n']).join(''),
  g: own(5, ['a\r\n', 'b\r\n', 'c']).join(''),
};

function change(text: string, splices: Splice[]): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  for (const { at, remove, insert } of splices) lines.splice(at, remove, ...insert);
  return lines.join('');
}

/** What is in the way of a new file disappears. */
function applyEdit(files: Record<string, string>, edit: Edit): Record<string, string> {
  const path = PATHS[edit.path]!;
  if (edit.how === 'remove' || (edit.how === 'change' && files[path] === undefined)) {
    const { [path]: _gone, ...others } = files;
    return others;
  }
  const others = Object.entries(files).filter(
    ([other]) => !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`),
  );
  const text =
    edit.how === 'change'
      ? change(
          files[path]!,
          edit.splices.map(({ insert, ...place }) => ({ ...place, insert: own(edit.path, insert) })),
        )
      : own(edit.path, edit.ending ? [...edit.lines, edit.ending] : edit.lines).join('');
  return { ...Object.fromEntries(others), [path]: text };
}

interface PlayedHistory {
  heads: Hash[];
  merges: { ours: Hash; theirs: Hash; tree?: Hash; conflicts: string[] }[];
}

/** Commits all have the same time, as far as their parents allow, so that the order of ancestors is often a tie. */
async function play(objects: Objects, given: Step[]): Promise<PlayedHistory> {
  const commit = (tree: Hash, ...parents: Hash[]) =>
    writeCommit(objects, { tree, parents, author: AUTHOR, message: 'x' });
  const root = await commit(await treeOf(objects, START));
  const heads = Array.from({ length: BRANCHES }, () => root);
  const made = [root];
  const merges: PlayedHistory['merges'] = [];
  for (const next of given) {
    const head = heads[next.branch]!;
    if (next.do === 'commit') {
      const { tree } = await readCommit(objects, head);
      const files = next.edits.reduce(applyEdit, await filesOf(objects, tree));
      heads[next.branch] = await commit(await treeOf(objects, files), head);
      made.unshift(heads[next.branch]!);
      continue;
    }
    const [ours, theirs] = [head, made[next.commitsAgo] ?? root];
    const [base] = await mergeBases(objects, ours, theirs);
    if (base === theirs) continue;
    if (base === ours) {
      heads[next.branch] = theirs;
      continue;
    }
    const merged = await mergeCommits(objects, { ours, theirs }, { texts: IN_PLACE });
    merges.push(
      'tree' in merged
        ? { ours, theirs, tree: merged.tree, conflicts: [] }
        : { ours, theirs, conflicts: merged.conflicts.map(({ path }) => path) },
    );
    // Resolves conflicts with our side, so that the merge can be a base of others.
    const resolved =
      'tree' in merged
        ? merged
        : await mergeCommits(objects, { ours, theirs }, { favour: 'ours', texts: IN_PLACE });
    if (!('tree' in resolved)) throw new Error('there is a conflict although our side is favoured');
    heads[next.branch] = await commit(resolved.tree, ours, theirs);
    made.unshift(heads[next.branch]!);
  }
  return { heads, merges };
}

/**
 * Whether a merge of several bases moves a file out of the way of a directory. Versions of git before 2.50 then take the
 * file for a renamed one, although detection of renames is turned off.
 */
async function basesMoveFiles(objects: Objects, ours: Hash, theirs: Hash): Promise<boolean> {
  const bases = await mergeBases(objects, ours, theirs);
  if (bases.length < 2) return false;
  const trees = await Promise.all(bases.map(async (base) => (await readCommit(objects, base)).tree));
  const paths = (await Promise.all(trees.map((tree) => filesOf(objects, tree)))).flatMap(Object.keys);
  if (paths.some((file) => paths.some((path) => path.startsWith(`${file}/`)))) return true;
  for (const [i, base] of bases.entries())
    for (const other of bases.slice(i + 1)) if (await basesMoveFiles(objects, base, other)) return true;
  return false;
}

test('random merges have the trees and the paths in conflict that git has', async () => {
  const seen = { clean: 0, conflicts: 0, crosswise: 0 };
  const property = fc.asyncProperty(steps, async (given) => {
    const objects = memoryObjects();
    const { heads, merges } = await play(objects, given);
    if (!merges.length) return;
    await git.take(objects, heads);
    const real = await git.mergeAll(merges);
    for (const [i, { ours, theirs, tree, conflicts }] of merges.entries()) {
      const { isClean, ...expected } = real[i]!;
      if (await basesMoveFiles(objects, ours, theirs)) continue;
      expect(conflicts).toEqual(expected.conflicts);
      expect(conflicts.length === 0).toBe(isClean);
      if (isClean) expect(tree).toBe(expected.tree);
      seen[isClean ? 'clean' : 'conflicts']++;
      if ((await mergeBases(objects, ours, theirs)).length > 1) seen.crosswise++;
    }
  });
  await tryRandomly(property, 120);
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
});

/** Long texts of few different lines: most lines are too frequent to be anchors of a comparison. */
const longText = fc.integer({ min: 2, max: 6 }).chain((different) =>
  fc.record({
    lines: fc.array(
      fc.nat(different).map((n) => `${n}\n`),
      { minLength: 100, maxLength: 900, size: 'max' },
    ),
    ours: fc.array(longSplice(different), { minLength: 1, maxLength: 60, size: 'max' }),
    theirs: fc.array(longSplice(different), { minLength: 1, maxLength: 60, size: 'max' }),
  }),
);

function longSplice(different: number): fc.Arbitrary<Splice> {
  const rare = fc.nat(different + 3).map((n) => `${n}\n`);
  return fc.record({ at: fc.nat(900), remove: fc.nat(9), insert: fc.array(rare, { maxLength: 9 }) });
}

test('texts of frequent lines are merged as git merges them, and conflicts are marked at the same lines', async () => {
  const property = fc.asyncProperty(fc.array(longText, { minLength: 10, maxLength: 10 }), async (texts) => {
    const objects = memoryObjects();
    const files = (side: (text: (typeof texts)[number]) => string) =>
      Object.fromEntries(texts.map((text, i) => [`f${i}`, side(text)]));
    const base = await treeOf(
      objects,
      files(({ lines }) => lines.join('')),
    );
    const sides = {
      ours: await treeOf(
        objects,
        files(({ lines, ours }) => change(lines.join(''), ours)),
      ),
      theirs: await treeOf(
        objects,
        files(({ lines, theirs }) => change(lines.join(''), theirs)),
      ),
    };
    const commit = (tree: Hash, ...parents: Hash[]) =>
      writeCommit(objects, { tree, parents, author: AUTHOR, message: 'x' });
    const root = await commit(base);
    const [ours, theirs] = [await commit(sides.ours, root), await commit(sides.theirs, root)];
    await git.take(objects, [ours, theirs]);
    const [real] = await git.mergeAll([{ ours, theirs }]);
    const markers = { ours, theirs, size: 7, isVirtual: false };
    const own = await mergeTreesWithMarkers(objects, { base, ...sides }, markers, IN_PLACE);
    expect({ tree: own.tree, conflicts: own.conflicts.map(({ path }) => path) }).toEqual({
      tree: real!.tree,
      conflicts: real!.conflicts,
    });
  });
  await tryRandomly(property, 15);
});

test('a difference for people is the one that git shows', async () => {
  const text = fc.tuple(fc.array(line, { maxLength: 40 }), fc.constantFrom('', '', 'end'));
  const pair = fc.tuple(text, fc.array(splice, { maxLength: 4 }), fc.boolean());
  const property = fc.asyncProperty(fc.array(pair, { minLength: 20, maxLength: 20 }), async (pairs) => {
    const objects = memoryObjects();
    const texts = pairs.map(([[lines, ending], splices, endsWithLine]) => {
      const before = lines.join('') + ending;
      return [before, change(before, splices) + (endsWithLine ? 'z\n' : '')] as const;
    });
    const sides = [0, 1].map((side) => Object.fromEntries(texts.map((both, i) => [`f${i}`, both[side]!])));
    const [before, after] = [await treeOf(objects, sides[0]!), await treeOf(objects, sides[1]!)];
    const commits = await Promise.all(
      [before, after].map((tree) =>
        writeCommit(objects, { tree, parents: [], author: AUTHOR, message: 'x' }),
      ),
    );
    await git.take(objects, commits);
    const options = ['--histogram', '--no-indent-heuristic', '--no-renames', '--text', '--no-color'];
    const shown = await git.run(['diff', ...options, before, after]);
    const files = new Map(
      shown.split(/^diff --git /m).map((part) => [/^a\/(\w+)/.exec(part)?.[1], part.replace(/^[^@]*/, '')]),
    );
    for (const [i, [old, young]] of texts.entries()) {
      const hunks = diffTexts(Buffer.from(old), Buffer.from(young), new Work(1_000_000));
      const own = hunks.map(({ lines, oldStart, oldLines, newStart, newLines }) => {
        const range = (start: number, count: number) => (count === 1 ? `${start}` : `${start},${count}`);
        return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${lines.join('\n')}\n`;
      });
      // Git adds the nearest line above that begins with a letter.
      const real = (files.get(`f${i}`) ?? '').replaceAll(/^(@@ .* @@).*/gm, '$1');
      expect(own.join('')).toBe(real);
    }
  });
  await tryRandomly(property, 25);
});

/** Makes the same commit with the git program, in its working copy. */
async function commitForReal(files: Files, env: Record<string, string>): Promise<Hash> {
  for (const name of await readdir(git.dir))
    if (name !== '.git') await rm(join(git.dir, name), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(git.dir, path)), { recursive: true });
    await writeFile(join(git.dir, path), text);
  }
  await git.run(['add', '--all']);
  await git.run(['commit', '--quiet', '--allow-empty', '-m', 'x'], { env });
  return head();
}

const head = async () => (await git.run(['rev-parse', 'HEAD'])).trim();

/** Plays the same steps with `git commit` and `git merge`, and in the table. A merge in conflict is given up. */
async function playBoth(objects: Objects, given: Step[]) {
  const seen = { commits: 0, merges: 0, conflicts: 0 };
  const clock = { seconds: AUTHOR.at.getTime() / 1000 };
  const commit = (tree: Hash, ...parents: Hash[]) => {
    const author = { ...AUTHOR, at: new Date(clock.seconds * 1000) };
    return writeCommit(objects, { tree, parents, author, message: 'x' });
  };
  const tick = () => {
    clock.seconds += 10;
    return { GIT_AUTHOR_DATE: `${clock.seconds} +0000`, GIT_COMMITTER_DATE: `${clock.seconds} +0000` };
  };
  await git.run(['checkout', '--quiet', '--force', '--orphan', `root-${Math.random()}`]);
  const env = tick();
  const root = await commit(await treeOf(objects, START));
  expect(await commitForReal(START, env)).toBe(root);
  const heads = Array.from({ length: BRANCHES }, () => root);
  const made = [root];
  for (const next of given) {
    const env = tick();
    const own = next.branch;
    await git.run(['checkout', '--quiet', '--force', '--detach', heads[own]!]);
    if (next.do === 'commit') {
      const { tree } = await readCommit(objects, heads[own]!);
      const files = next.edits.reduce(applyEdit, await filesOf(objects, tree));
      heads[own] = await commit(await treeOf(objects, files), heads[own]!);
      expect(await commitForReal(files, env)).toBe(heads[own]);
      made.unshift(heads[own]!);
      seen.commits++;
      continue;
    }
    const [ours, theirs] = [heads[own]!, made[next.commitsAgo] ?? root];
    await git.run(['merge', '--quiet', '-m', 'x', theirs], { env, codes: [0, 1] });
    const unmerged = (await git.run(['diff', '--name-only', '--diff-filter=U', '-z']))
      .split('\0')
      .slice(0, -1);
    const [base] = await mergeBases(objects, ours, theirs);
    if (base === theirs) expect(await head()).toBe(ours);
    else if (base === ours) heads[own] = theirs;
    else {
      const merged = await mergeCommits(objects, { ours, theirs }, { texts: IN_PLACE });
      const conflicts = 'tree' in merged ? [] : merged.conflicts.map(({ path }) => path);
      if (await basesMoveFiles(objects, ours, theirs)) continue;
      const suffix = new RegExp(`~(HEAD|${theirs})$`);
      expect(conflicts).toEqual([...new Set(unmerged.map((path) => path.replace(suffix, '')))].sort());
      if ('tree' in merged) heads[own] = await commit(merged.tree, ours, theirs);
      seen['tree' in merged ? 'merges' : 'conflicts']++;
    }
    if (!unmerged.length) expect(await head()).toBe(heads[own]);
  }
  return seen;
}

test('the same steps with git commit and git merge lead to the same commits', async () => {
  const { id } = await world.deployment();
  const objects = createObjects(world.server.db, id);
  const total = { commits: 0, merges: 0, conflicts: 0 };
  const property = fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 12 }), async (given) => {
    const seen = await playBoth(objects, given);
    for (const name of ['commits', 'merges', 'conflicts'] as const) total[name] += seen[name];
  });
  await tryRandomly(property, 12);
  expect(total.commits).toBeGreaterThan(12);
  expect(total.merges + total.conflicts).toBeGreaterThan(2);
});
