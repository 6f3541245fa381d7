/** Tells whether the files of a deployment have changed. */
import { createHash } from 'node:crypto';
import { listFiles } from './duckdb/list-files.ts';
import { filesDirOf } from './engine-user.ts';

/** A folder with many files takes longer to list, so it is listed less often: for this share of the time at most. */
const SHARE = 20;

interface Listed {
  version: string;
  until: number;
}

/** Returns a function that gives another text if a file was added, changed or removed. */
export function createFileVersions(dataDir: string): (deploymentId: number) => string {
  const listed = new Map<number, Listed>();
  return (deploymentId) => {
    const start = performance.now();
    const last = listed.get(deploymentId);
    if (last && start < last.until) return last.version;
    const hash = createHash('sha256');
    for (const { version } of listFiles(filesDirOf(dataDir, deploymentId)).values())
      hash.update(`${version}\n`);
    const version = hash.digest('base64url');
    const end = performance.now();
    listed.set(deploymentId, { version, until: end + SHARE * (end - start) });
    return version;
  };
}
