/** Commits, merges and hashes of a data model of 2,000 files, beside the git program on the same files. */
import { createGitRepository, type GitRepository, gitVersion } from './data-models/git-repository.ts';
import { type Ends, type Files, makeCube, makeModel, pathOf, UNCHANGED } from './data-models/model.ts';
import { openServedModel, type ServedModel } from './data-models/served-model.ts';
import type { Benchmark, RunOptions } from './harness/benchmark.ts';
import { startOriel } from './harness/oriel.ts';
import { type Action, compareLatencies, type Ratio } from './reports/latency.ts';

const FILES = 2000;
const COMMITTED = 10;
const MERGED = 200;
const CALLS = 9;

export const dataModels: Benchmark = {
  name: 'data-models',
  description: 'commits, merges and hashes of a data model of 2,000 files, against the git program',
  run,
};

async function run(options: RunOptions) {
  const files = makeModel(options.rows ?? FILES);
  const model = openServedModel(await startOriel());
  await model.createBranch('first');
  await model.commit('first', files);
  await model.merge('first');
  const repository = await createGitRepository(files);
  const outcome = await compareLatencies(
    [
      await commits(model, repository, files.size),
      ...merges(model, repository, files.size),
      hashes(model, repository),
    ],
    { rounds: options.rounds, calls: CALLS },
  );
  const facts = {
    git: await gitVersion(repository),
    model: `${files.size} files of ${Math.round(Buffer.byteLength(files.get(pathOf(0))!) / 1024)} KB`,
    measured:
      'requests to the server, with their audit entries, one at a time. After each change a job reads the model and checks it, beside the next measurement: that is not part of the times, but shares the machine.',
  };
  return { ...outcome, facts };
}

/**
 * Two edits of the next files, at different lines, with texts that were never there. `isCumulative` means that both
 * start from the files with all earlier edits, and not from the first ones.
 */
function createEdits(total: number, count: number, { isCumulative }: { isCumulative: boolean }) {
  const before = new Map<number, Ends>();
  let run = 0;
  return (): { ours: Files; theirs: Files } => {
    run++;
    const numbers = Array.from({ length: count }, (_, i) => (run * count + i) % total);
    const edit = (ends: Partial<Ends>) =>
      new Map(numbers.map((n) => [pathOf(n), makeCube(n, { ...(before.get(n) ?? UNCHANGED), ...ends })]));
    const edits = { ours: edit({ first: run }), theirs: edit({ last: run }) };
    if (isCumulative) for (const n of numbers) before.set(n, { first: run, last: run });
    return edits;
  };
}

async function commits(model: ServedModel, repository: GitRepository, total: number): Promise<Ratio> {
  const edits = createEdits(total, COMMITTED, { isCumulative: false });
  await model.createBranch('commits');
  return {
    subject: {
      name: `writing ${COMMITTED} files and committing them`,
      act: () => model.commit('commits', edits().ours),
    },
    anchor: {
      name: 'git commit --all',
      prepare: () => repository.write(edits().ours),
      act: () => repository.git('commit', '--all', '--quiet', '-m', 'a commit'),
    },
    anchorDoes:
      'The files are changed on the disk before. It starts a process, looks which of all files have changed, stores them and makes the commit. It does not wait until the disk has it; Oriel does.',
    asked: { atMost: 5 },
  };
}

function merges(model: ServedModel, repository: GitRepository, total: number): Ratio[] {
  const edits = createEdits(total, MERGED, { isCumulative: true });
  const gitEdits = createEdits(total, MERGED, { isCumulative: false });
  let run = 0;
  const subject: Action = {
    name: `a merge of ${MERGED} files that both sides changed`,
    async prepare() {
      run++;
      const branches = Object.entries(edits());
      for (const [side] of branches) await model.createBranch(`${side}-${run}`);
      for (const [side, files] of branches) await model.commit(`${side}-${run}`, files);
      await model.merge(`ours-${run}`);
    },
    act: () => model.merge(`theirs-${run}`),
  };
  const prepareGit = async () => {
    const { git, write } = repository;
    const { ours, theirs } = gitEdits();
    for (const [branch, files] of Object.entries({ theirs, ours })) {
      await git('checkout', '--quiet', '--force', '-B', branch, 'start');
      await write(files);
      await git('commit', '--all', '--quiet', '-m', 'a side');
    }
  };
  return [
    {
      subject,
      anchor: {
        name: 'git merge',
        prepare: prepareGit,
        act: () => repository.git('merge', '--quiet', '-m', 'a merge', 'theirs'),
      },
      anchorDoes:
        'Starts a process, merges, and changes the files in its folder. It does not wait until the disk has it; Oriel does.',
      asked: { atMost: 5 },
    },
    {
      subject,
      anchor: {
        name: 'git merge-tree --write-tree',
        prepare: prepareGit,
        act: () => repository.git('merge-tree', '--write-tree', 'ours', 'theirs'),
      },
      anchorDoes:
        'The same merge, without files in a folder and without a commit. Nothing is asked of this ratio.',
    },
  ];
}

const hashes = (model: ServedModel, repository: GitRepository): Ratio => ({
  subject: { name: 'hashes of all files', act: () => model.hashes('main') },
  anchor: { name: 'git ls-tree -r', act: () => repository.git('ls-tree', '-r', 'start') },
  anchorDoes:
    'Starts a process and lists the same files with the hashes of git, from a pack that is in memory.',
  asked: { atMost: 2 },
});
