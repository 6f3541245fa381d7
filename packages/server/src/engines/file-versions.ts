/** Tells whether the files of a deployment have changed. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { listFiles } from './duckdb/list-files.ts';
import { filesDirOf } from './engine-user.ts';

/** A folder is listed again after 20 times as long as listing it took. */
const PAUSE_FACTOR = 20;
const DEPLOYMENTS_MAX = 1000;

interface FileListing {
  version: string;
  until: number;
}

/** Returns a function that gives another text if a file was added, changed or removed. */
export function createFileVersions(dataDir: string): (deploymentId: number) => string {
  const listed = new LRUCache<number, FileListing>({ max: DEPLOYMENTS_MAX });
  return (deploymentId) => {
    const start = performance.now();
    const last = listed.get(deploymentId);
    if (last && start < last.until) return last.version;
    const hash = createHash('sha256');
    for (const { version } of listFiles(filesDirOf(dataDir, deploymentId)).values())
      hash.update(`${version}\n`);
    const version = hash.digest('base64url');
    const end = performance.now();
    listed.set(deploymentId, { version, until: end + PAUSE_FACTOR * (end - start) });
    return version;
  };
}
