/** Decides which server a database belongs to: the server whose session holds a lock in it. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { StartupError } from '../../startup-error.ts';
import type { Cluster } from './cluster.ts';
import { connect } from './connect.ts';

/** Held as long as the server runs, so that a second server on the same data dir is refused. */
const OWNER_LOCK = 7_023_455_202;
const TRY_AGAIN_AFTER_MS = 50;

export interface Claim {
  /** Rejects with a StartupError if the database belongs to another server. */
  take(): Promise<void>;
  release(): Promise<void>;
}

/** Calls `onLost` if the claim was lost and another server has it now. */
export function createClaim(cluster: Cluster, onLost: (error: Error) => void): Claim {
  let owner: pg.Client | undefined;
  let isReleased = false;

  // The claim ends with its connection. When the connection breaks, the claim is made again at once, before another
  // server can make it.
  const hold = (client: pg.Client) => {
    owner = client;
    client.once('end', () => void claimAgain());
  };

  async function claimAgain() {
    while (!isReleased) {
      try {
        return hold(await claim(cluster));
      } catch (error) {
        if (!isReleased && error instanceof StartupError) return onLost(error);
        // For any other error, the database cannot be reached yet.
        await sleep(TRY_AGAIN_AFTER_MS);
      }
    }
  }

  return {
    async take() {
      if (!owner) hold(await claim(cluster));
    },
    async release() {
      isReleased = true;
      await owner?.end().catch(() => {});
    },
  };
}

async function claim(cluster: Cluster): Promise<pg.Client> {
  const client = await connect(cluster);
  if (await takesLock(client)) return client;
  await client.end();
  throw inUse(cluster);
}

export const takesLock = async (client: pg.Client) =>
  (await client.query('select pg_try_advisory_lock($1) as free', [OWNER_LOCK])).rows[0].free as boolean;

export const inUse = ({ pgData }: Cluster) =>
  new StartupError(
    `The data dir ${join(pgData, '..')} is in use by another running server: stop that one, or set ORIEL_DATA_DIR to another folder.`,
  );
