/** Reads files of a repository as one of its commits has them, without history, and without storing anything. */
import type { Queryable } from '../../platform/db/database.ts';
import type { PackReader } from '../../platform/git/remote/receive.ts';
import type { Remote } from '../../platform/git/remote/smart-http.ts';
import type { Platform } from '../../platform/module.ts';
import { remoteAt, remoteOf } from './connections.ts';
import { withHost } from './failures.ts';
import { repositoryUrl } from './hosts.ts';
import type { Installations } from './installations.ts';
import { RECEIVE_LIMITS } from './sync.ts';

/** A repository of a connection, or one with an address of its own. */
export type RepositoryPlace =
  | { installationId: number; name: string }
  | { url: string; username: string | null; token: string | null };

export interface Snapshot {
  commit: string;
  /** By their paths below the folder, which is empty or ends with a slash. With `only`, no others than these. */
  readFiles(folder: string, only?: readonly string[]): Promise<Map<string, Uint8Array>>;
}

export type OpenSnapshot = (
  call: { db: Queryable; signal: AbortSignal },
  place: RepositoryPlace,
  /** A branch, tag or commit; null for the branch that the repository is shown with. */
  ref: string | null,
) => Promise<Snapshot>;

/** Errors are those of the API, which say what is wrong with the repository or the host. */
export function createOpenSnapshot(
  platform: Pick<Platform, 'outbound'>,
  { installations, packs }: { installations: Installations; packs: PackReader },
): OpenSnapshot {
  async function open(db: Queryable, place: RepositoryPlace): Promise<Remote> {
    if ('url' in place) {
      const { url, username, token } = place;
      return remoteAt(platform, {
        url,
        // Many hosts refuse an empty token also where everybody may read.
        credentials: token === null ? undefined : { user: username ?? 'git', token },
      });
    }
    const host = await installations.open(db, place.installationId);
    return remoteOf(platform, host, repositoryUrl(host, place.name));
  }

  return ({ db, signal }, place, ref) =>
    withHost(async () => {
      const remote = await open(db, place);
      const commit = await remote.findCommit(ref, signal);
      const pack = await remote.fetchPack({ wants: [commit], haves: [], withoutHistory: true }, signal);
      return {
        commit,
        readFiles: (folder, only) =>
          withHost(() =>
            packs.readFiles(pack, { commit, folder, ...(only && { only }) }, RECEIVE_LIMITS, signal),
          ),
      };
    });
}
