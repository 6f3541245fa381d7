/** Short ways to work on data models in tests. */
import type { OrielClient } from '@oriel/client';
import { unique, type World } from './world.ts';

export interface Modeller {
  client: OrielClient;
  deploymentId: number;
  branchName: string;
  write(files: Record<string, string>): Promise<unknown>;
  commit(message: string): Promise<unknown>;
  /** Writes and commits. */
  save(files: Record<string, string>, message?: string): Promise<unknown>;
  /** Paths and contents, as the person sees them. */
  read(branchName?: string): Promise<Record<string, string>>;
}

interface Node {
  path: string;
  type: string;
  content?: string;
  children?: Node[];
}

const filesIn = (nodes: readonly Node[]): [string, string][] =>
  nodes.flatMap(({ path, type, content, children = [] }) =>
    type === 'file' ? [[path, content!] as [string, string]] : filesIn(children),
  );

export async function readFiles(client: OrielClient, deploymentId: number, branchName?: string) {
  const { items } = await client.listFiles({ deploymentId, branchName, withContent: true });
  return Object.fromEntries(filesIn(items as Node[]));
}

/** A person in dev mode on a branch: their own, or a new one with this name. */
export async function modeller(
  world: World,
  deploymentId: number,
  { branch, from, client }: { branch?: string; from?: string; client?: OrielClient } = {},
): Promise<Modeller> {
  const own = client ?? (await world.person({ roles: ['Developer'] })).client;
  const entered =
    branch === undefined
      ? await own.startDevMode({ deploymentId, body: {} })
      : await own.createBranch({ deploymentId, body: { name: branch, from, activate: true } });
  const branchName = entered.branchName!;
  const write = (files: Record<string, string>) =>
    own.updateFiles({
      deploymentId,
      body: { branchName, files: Object.entries(files).map(([path, content]) => ({ path, content })) },
    });
  const commit = (message: string) => own.commitChanges({ deploymentId, body: { branchName, message } });
  return {
    client: own,
    deploymentId,
    branchName,
    write,
    commit,
    async save(files, message = unique('commit')) {
      await write(files);
      return commit(message);
    },
    read: (name = branchName) => readFiles(own, deploymentId, name),
  };
}
