/**
 * Replaces the secret that stored values are sealed with, while servers run that have both the old and the new secret.
 */
import type { Database } from '../db/database.ts';
import { StartupError } from '../startup-error.ts';
import { type BoxedColumn, createBox, headerOf, MARK_OF_SEALED } from './box.ts';
import { KEY_ID_BYTES, type Keyring } from './keyring.ts';
import * as store from './store.ts';

/** Small enough that a request that waits for one of the rows is hardly delayed. */
const BATCH_ROWS = 200;

/**
 * Seals every value of these columns with the newest secret. If it is interrupted, the finished part stays, and another
 * run does the rest. Returns how many values it sealed.
 */
export async function resealAll(
  db: Database,
  keyring: Keyring,
  columns: readonly BoxedColumn[],
  batchRows = BATCH_ROWS,
): Promise<number> {
  let count = 0;
  for (const place of columns) {
    // New rows may be inserted before the position that a pass has reached, so passes are repeated until one finds
    // nothing.
    for (;;) {
      const found = await resealColumn(db, keyring, place, batchRows);
      if (found === 0) break;
      count += found;
    }
  }
  return count;
}

async function resealColumn(db: Database, keyring: Keyring, place: BoxedColumn, batchRows: number) {
  const box = createBox(place, keyring);
  const header = headerOf(keyring.ids[0]);
  let count = 0;
  for (let after: string | null = null; ; ) {
    const keys: string[] = await db.transaction(async (tx) => {
      // The rows are locked, so a concurrent change either waits for us or is already read here. No change is lost.
      const rows = await store.lockOutdated(tx, place, header, after, batchRows);
      for (const { key, sealed } of rows) {
        await store.updateSealed(tx, place, key, box.seal(key, box.open(key, sealed)));
      }
      return rows.map(({ key }) => key);
    });
    if (keys.length === 0) return count;
    count += keys.length;
    after = keys.at(-1)!;
  }
}

/** Throws a StartupError if a value was sealed with a secret that is not given. */
export async function requireSecretsOf(db: Database, keyring: Keyring, columns: readonly BoxedColumn[]) {
  for (const place of columns) {
    const foreign = await store.findForeign(db, place, MARK_OF_SEALED, keyring.ids.map(headerOf));
    if (!foreign) continue;
    const id = foreign.header.subarray(-KEY_ID_BYTES).toString('hex');
    throw new StartupError(
      `This database holds secrets that were sealed with another secret key, of the id ${id} (${place.holds}, in the table ${place.table}): set ORIEL_SECRET_KEY_PREVIOUS to that key, and run the command \`rotate-secret\`. If the key is lost, see "A lost secret key" in docs/operating.md.`,
    );
  }
}
