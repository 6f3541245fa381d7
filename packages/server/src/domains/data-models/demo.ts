/** The data model of the demo, with a history of a few commits, and a branch that somebody works on. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DemoStep } from '../../platform/demo.ts';
import type { DataModels } from './create.ts';

const MAIN = 'main';
const BRANCH = 'returns';

/** The first commit, and what each of the next ones added. */
const FIRST = ['customers.yml', 'orders.yml'];
const COMMITS: { message: string; files: string[]; at: string }[] = [
  {
    message: 'Add products and line items',
    files: ['products.yml', 'line_items.yml'],
    at: '2026-01-12T10:20:00Z',
  },
  { message: 'Add what visitors do in the shop', files: ['events.yml'], at: '2026-01-20T15:05:00Z' },
  {
    message: 'Add views for sales and activity',
    files: ['sales.yml', 'activity.yml'],
    at: '2026-02-03T09:40:00Z',
  },
  { message: 'Add a view for operations', files: ['operations.yml'], at: '2026-02-09T08:10:00Z' },
];

export const demoDataModel =
  (models: DataModels, folder: string): DemoStep =>
  async ({ tx, adminId: authorId, deploymentId }) => {
    const main = await readFolder(join(folder, MAIN));
    const named = (names: string[]) =>
      new Map([...main].filter(([path]) => names.includes(path.split('/').at(-1)!)));
    await models.createDataModel(tx, {
      deploymentId,
      authorId,
      files: named(FIRST),
      at: new Date('2026-01-08T08:30:00Z'),
    });
    for (const { message, files, at } of COMMITS) {
      const commit = { authorId, message, files: named(files), at: new Date(at) };
      await models.addCommit(tx, { deploymentId, branchName: MAIN }, commit);
    }
    await models.addBranch(tx, { deploymentId, name: BRANCH });
    await models.addCommit(
      tx,
      { deploymentId, branchName: BRANCH },
      {
        authorId,
        message: 'Add the shipping costs of returned orders',
        files: await readFolder(join(folder, BRANCH)),
        at: new Date('2026-02-10T11:15:00Z'),
      },
    );
  };

/** The texts of all files, by their path in the folder. */
async function readFolder(folder: string): Promise<Map<string, string>> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.yml')).sort();
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), 'utf8')));
  return new Map(paths.map((path, i) => [path, texts[i]!]));
}
