/** Reads the dbt project of a repository: the files that dbt made, or those of which it can make them. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { limits } from '@oriel/contract';
import type { Database } from '../../platform/db/database.ts';
import type { Box } from '../../platform/secrets/box.ts';
import { rootOf } from '../data-models/index.ts';
import type { OpenSnapshot, RepositoryPlace } from '../git-hosts/index.ts';
import { parseProject } from './dbt-parse.ts';
import { DbtError } from './dbt-work.ts';
import type { RepositorySettings } from './source.ts';
import type { ManifestFiles, SourceRow } from './store.ts';

export interface ProjectOptions {
  box: Box;
  openSnapshot: OpenSnapshot;
  /** The Python in which dbt is installed, if it is. */
  dbtPython: string;
}

interface Candidate {
  deploymentId: number;
  source: SourceRow;
  /** Null for the branch of the settings. */
  ref: string | null;
}

interface ReadContext {
  db: Database;
  signal: AbortSignal;
  tell(stage: 'parsing'): void;
}

const MANIFEST = 'target/manifest.json';
const CATALOG = 'target/catalog.json';

/** Returns the files, compressed, and the commit that they are of. */
export async function readProject(
  { box, openSnapshot, dbtPython }: ProjectOptions,
  { source, ref }: Candidate,
  { db, signal, tell }: ReadContext,
): Promise<ManifestFiles & { commit: string }> {
  const { repository, targetSchema } = source.settings!;
  const { branch, projectPath } = repository!;
  const snapshot = await openSnapshot({ db, signal }, placeOf(repository!, source, box), ref ?? branch);
  const folder = rootOf(projectPath);
  const made = await snapshot.readFiles(folder, [MANIFEST, CATALOG]);
  let manifest = made.get(MANIFEST);
  if (!manifest) {
    tell('parsing');
    const files = await snapshot.readFiles(folder);
    manifest = await parseProject(dbtPython, { files, schema: targetSchema }, signal);
  }
  const catalog = made.get(CATALOG);
  return {
    commit: snapshot.commit,
    manifest: await compressed(manifest, MANIFEST),
    catalog: catalog ? await compressed(catalog, CATALOG) : null,
  };
}

function placeOf(
  { installationId, name, url, username }: RepositorySettings,
  { tokenId, token }: SourceRow,
  box: Box,
): RepositoryPlace {
  if (installationId !== null) return { installationId, name: name! };
  if (token !== null && !token.length)
    throw new DbtError('The token of the repository was lost with the secret key: give it again.');
  return {
    url: url!,
    username,
    token: token === null ? null : box.open(tokenId!, token).toString('utf8'),
  };
}

const compress = promisify(gzip);

async function compressed(content: Uint8Array, name: string): Promise<Buffer> {
  if (content.length > limits.dbtFile)
    throw new DbtError(`${name} has more than ${limits.dbtFile / 1024 / 1024} MB.`);
  return compress(content, { level: 1 });
}
