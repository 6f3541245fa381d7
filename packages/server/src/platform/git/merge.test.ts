/** Merges: the kinds of conflicts, their hunks, and the bounds. like-git.system.ts compares with the git program. */

import { expect, test } from 'vitest';
import { commitOf, type Files, filesOf, hardText, IN_PLACE, treeOf } from '../../../test/git-files.ts';
import { memoryObjects } from '../../../test/memory-objects.ts';
import { diffFiles } from './diff-files.ts';
import { diffTexts } from './diff-texts.ts';
import { findMergeBases, type HistoryNode, mergeBase, mergeBases } from './merge-bases.ts';
import { mergeCommits } from './merge-commits.ts';
import { mergeFiles } from './merge-files.ts';
import { type MergeOptions, mergeTrees } from './merge-trees.ts';

import { STEPS_PER_BYTE } from './text-work.ts';
import { Work, WorkLimitError } from './work.ts';

async function merge(base: Files, ours: Files, theirs: Files, options: Omit<MergeOptions, 'texts'> = {}) {
  const objects = memoryObjects();
  const trees = {
    base: await treeOf(objects, base),
    ours: await treeOf(objects, ours),
    theirs: await treeOf(objects, theirs),
  };
  const result = await mergeTrees(objects, trees, { texts: IN_PLACE, ...options });
  return 'tree' in result ? filesOf(objects, result.tree) : result.conflicts;
}

const lines = (...list: (string | number)[]) => list.map((line) => `${line}\n`).join('');

test('changes of both sides at different places are in the merge', async () => {
  const merged = await merge(
    { f: lines(1, 2, 3, 4, 5, 6, 7), gone: 'x', kept: 'k' },
    { f: lines(0, 1, 2, 3, 4, 5, 6, 7), gone: 'x', kept: 'k', 'new/ours': 'o' },
    { f: lines(1, 2, 3, 4, 5, 6, 'seven'), kept: 'k', 'new/theirs': 't' },
  );
  expect(merged).toEqual({
    f: lines(0, 1, 2, 3, 4, 5, 6, 'seven'),
    kept: 'k',
    'new/ours': 'o',
    'new/theirs': 't',
  });
});

test('a conflict names the line and the three texts', async () => {
  const conflicts = await merge(
    { f: lines(1, 2, 3, 4, 5, 6) },
    { f: lines(0, 1, 2, 'ours', 4, 5, 6) },
    { f: lines(1, 2, 'theirs', 'more', 4, 5, 6) },
  );
  expect(conflicts).toEqual([
    {
      path: 'f',
      kind: 'content',
      hunks: [{ line: 4, base: '3\n', ours: 'ours\n', theirs: 'theirs\nmore\n' }],
    },
  ]);
});

test('each kind of conflict has its name, and the paths are in order', async () => {
  const conflicts = await merge(
    { deletedByUs: 'x', deletedByThem: 'x', content: 'x', binary: 'x\0', 'dir/f': 'x' },
    { added: 'ours', deletedByThem: 'y', content: 'ours', binary: 'y\0', dir: 'now a file' },
    { added: 'theirs', deletedByUs: 'y', content: 'theirs', binary: 'z\0', 'dir/f': 'changed' },
  );
  expect(
    Array.isArray(conflicts) && conflicts.map(({ path, kind, hunks }) => [path, kind, hunks.length]),
  ).toEqual([
    ['added', 'added_by_both', 1],
    ['binary', 'content', 0],
    ['content', 'content', 1],
    ['deletedByThem', 'deleted_by_theirs', 0],
    ['deletedByUs', 'deleted_by_ours', 0],
    ['dir', 'file_and_directory', 0],
    ['dir/f', 'deleted_by_ours', 0],
  ]);
});

test('with our side favoured nothing is in conflict: our hunks win, and changes of theirs elsewhere are taken', async () => {
  const merged = await merge(
    { f: lines(1, 2, 3, 4, 5), deletedByUs: 'x', deletedByThem: 'x', binary: 'x\0', 'dir/f': 'x', file: 'x' },
    {
      f: lines('ours', 2, 3, 4, 5),
      added: 'ours',
      deletedByThem: 'y',
      binary: 'y\0',
      dir: 'now a file',
      'file/a': 'a',
    },
    {
      f: lines('theirs', 2, 3, 4, 'five'),
      added: 'theirs',
      deletedByUs: 'y',
      binary: 'z\0',
      'dir/f': 'changed',
      file: 'y',
    },
    { favour: 'ours' },
  );
  expect(merged).toEqual({
    f: lines('ours', 2, 3, 4, 'five'),
    added: 'ours',
    deletedByThem: 'y',
    binary: 'y\0',
    dir: 'now a file',
    'file/a': 'a',
  });
});

test('a merge in conflict writes nothing', async () => {
  const objects = memoryObjects();
  const trees = {
    base: await treeOf(objects, { f: lines(1, 2, 3, 4, 5), g: 'x' }),
    ours: await treeOf(objects, { f: lines(0, 2, 3, 4, 5), g: 'ours' }),
    theirs: await treeOf(objects, { f: lines(1, 2, 3, 4, 6), g: 'theirs' }),
  };
  const written: unknown[] = [];
  const write: typeof objects.write = async (list) => {
    written.push(...list);
    return objects.write(list);
  };
  expect(await mergeTrees({ ...objects, write }, trees, { texts: IN_PLACE })).toMatchObject({
    conflicts: [{ path: 'g' }],
  });
  expect(written).toEqual([]);
});

const threeHard = () => ({ base: hardText(1), ours: hardText(2), theirs: hardText(3) });

test('a text that is too hard to compare is a conflict as a whole, after a bounded number of steps', () => {
  const easy = { base: Buffer.from('a\n'), ours: Buffer.from('b\n'), theirs: Buffer.from('a\n') };
  const steps = 1_000_000_000;
  const task = { kind: 'merge', outcome: 'refused', room: 1_000_000, files: [threeHard(), easy] } as const;
  const answer = mergeFiles({ ...task, files: [...task.files], steps });
  expect(answer.files).toMatchObject([{ isClean: false, hunks: [{ line: 1 }] }, { isClean: true }]);
  expect(steps - answer.steps).toBeGreaterThan(100_000_000);
  expect(steps - answer.steps).toBeLessThan(110_000_000);
  expect(JSON.stringify(answer.files[0]!.hunks).length).toBeLessThan(100_000);
});

test('a task ends when all of its steps are spent', () => {
  const task = { outcome: 'refused', room: 1_000_000, steps: 1_000_000 } as const;
  const merged = mergeFiles({ kind: 'merge', ...task, files: [threeHard(), threeHard()] });
  expect(merged).toMatchObject({ files: [], steps: 0 });
  const compared = { before: hardText(1), after: hardText(2) };
  const different = diffFiles({ kind: 'diff', ...task, files: [compared, compared] });
  const nothing = { hunks: [], isShortened: true };
  expect(different).toMatchObject({ files: [nothing, nothing], steps: 0 });
});

test('a text ends as soon as the steps of all texts together are spent', () => {
  const work = new Work(100, 60);
  work.spend(50);
  work.beginText();
  work.spend(49);
  expect(() => work.spend(1)).toThrow(WorkLimitError);
  expect(work.left).toBe(0);
});

test('an ordinary merge of large files takes fewer steps than a request has for so many bytes', () => {
  const text = (changed: string, offset: number) =>
    Buffer.from(
      lines(
        ...Array.from({ length: 27_000 }, (_, i) => {
          const more = changed && i % 270 === offset ? changed : '';
          return (
            [`      - name: member_${i}`, '        type: string', `        sql: "{CUBE}.column_${i}"`][
              i % 3
            ] + more
          );
        }),
      ),
    );
  const file = { base: text('', 0), ours: text(' # ours', 0), theirs: text(' # theirs', 130) };
  const steps = 1_000_000_000;
  const answer = mergeFiles({ kind: 'merge', outcome: 'refused', room: 0, files: [file], steps });
  expect(answer.files[0]!.isClean).toBe(true);
  const bytes = Object.values(file).reduce((sum, { length }) => sum + length, 0);
  expect(steps - answer.steps).toBeLessThan(bytes * STEPS_PER_BYTE);
});

test('the list of conflicts is bounded', async () => {
  const text = (word: string) =>
    lines(...Array.from({ length: 6000 }, (_, n) => (n % 10 ? n : `${word} ${n} `.padEnd(1000, word))));
  const conflicts = await merge({ f: text('a') }, { f: text('b') }, { f: text('c') });
  expect(JSON.stringify(conflicts).length).toBeLessThan(1_000_000);
});

test('the base of a merge is the youngest commit that both have, or nothing', async () => {
  const objects = memoryObjects();
  const root = await commitOf(objects, { f: '1' });
  const left = await commitOf(objects, { f: '2' }, root);
  const right = await commitOf(objects, { f: '3' }, root);
  expect(await mergeBase(objects, left, right)).toBe(root);
  expect(await mergeBase(objects, root, right)).toBe(root);
  expect(await mergeBase(objects, right, right)).toBe(right);
  const joined = await commitOf(objects, { f: '4' }, right, left);
  expect(await mergeBase(objects, joined, left)).toBe(left);
  expect(await mergeBase(objects, joined, await commitOf(objects, { f: '5' }))).toBeNull();
});

test('branches that were merged crosswise have two bases, and what both resolved alike is no conflict', async () => {
  const objects = memoryObjects();
  const text = (a: string, b: string) => ({ f: lines(a, 2, 3, 4, 5, 6, 7, b) });
  const root = await commitOf(objects, text('1', '8'));
  const a1 = await commitOf(objects, text('a', '8'), root);
  const b1 = await commitOf(objects, text('1', 'b'), root);
  const a2 = await commitOf(objects, text('a', 'b'), a1, b1);
  const b2 = await commitOf(objects, text('a', 'b'), b1, a1);
  expect(new Set(await mergeBases(objects, a2, b2))).toEqual(new Set([a1, b1]));
  const a3 = await commitOf(objects, text('a3', 'b'), a2);
  const b3 = await commitOf(objects, text('a', 'b3'), b2);
  const result = await mergeCommits(objects, { ours: a3, theirs: b3 }, { texts: IN_PLACE });
  expect('tree' in result && (await filesOf(objects, result.tree))).toEqual(text('a3', 'b3'));
});

test('a text of a million lines can be shown as new', () => {
  const [hunk] = diffTexts(Buffer.alloc(0), Buffer.from('\n'.repeat(1_000_000)), new Work(100_000_000));
  expect(hunk!.lines.length).toBe(1_000_000);
});

test('a comparison of histories ends when it has looked at as many commits as it may', async () => {
  // Two commits with forty common ancestors, each with a long history of its own: each is compared with all others.
  const nodes = new Map<string, HistoryNode>();
  const add = (hash: string, seconds: number, parents: string[]) =>
    nodes.set(hash, { hash, parents, seconds, tree: 'tree' });
  const bases = Array.from({ length: 40 }, (_, i) => `base ${i}`);
  for (const base of bases) {
    add(base, 5000, [`${base} 0`]);
    for (let i = 0; i < 50; i++) add(`${base} ${i}`, 4000 - i, i < 49 ? [`${base} ${i + 1}`] : []);
  }
  add('a', 9000, bases);
  add('b', 9000, bases);
  let looked = 0;
  const find = async (hash: string) => {
    looked++;
    return nodes.get(hash)!;
  };
  expect((await findMergeBases(find, 'a', 'b')).toSorted()).toEqual(bases.toSorted());
  looked = 0;
  await expect(findMergeBases(find, 'a', 'b', 20_000)).rejects.toMatchObject({ code: 'merge_too_large' });
  expect(looked).toBeLessThan(25_000);
});
