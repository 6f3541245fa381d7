/** The data model of a deployment, by default that of the demo, changed through the API as one admin does it. */
import type { Oriel } from '../harness/oriel.ts';
import type { Files } from './model.ts';

const FILES_PER_REQUEST = 200;

export function openServedModel({ url, headers }: Oriel, deploymentId = 1) {
  const base = `${url}/build/api/v1/deployments/${deploymentId}`;

  async function call(method: string, path: string, body?: object): Promise<string> {
    const reply = await fetch(base + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${text.slice(0, 300)}`);
    return text;
  }

  return {
    /** A branch of the deploy branch, in dev mode. */
    createBranch: (name: string) => call('POST', '/branches', { name, activate: true }),

    async commit(branchName: string, files: Files) {
      const all = [...files].map(([path, content]) => ({ path, content }));
      for (let i = 0; i < all.length; i += FILES_PER_REQUEST)
        await call('PUT', '/data-model/files', { branchName, files: all.slice(i, i + FILES_PER_REQUEST) });
      await call('POST', '/commit', { branchName, message: 'a commit' });
    },

    /** Merges the branch into the deploy branch, and removes it. */
    merge: (branchName: string) =>
      call('POST', '/merge-to-default', { branchName, removeBranchAfterMerge: true }),

    hashes: (branchName: string) => call('GET', `/data-model/file-hashes?branchName=${branchName}`),
  };
}

export type ServedModel = ReturnType<typeof openServedModel>;
