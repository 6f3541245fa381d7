/**
 * Seals entries in the background, in the order of their ids, so that writers need not wait for one another. Each seal
 * holds a digest of each entry, and is signed together with the seal before it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../db/database.ts';
import type { Box, BoxedColumn } from '../secrets/box.ts';
import { type ChainState, macOfChain, macOfSeal } from './macs.ts';
import * as store from './seals.store.ts';

/** The key is stored, because seals must be valid for longer than the installation's secret. */
export const CHAIN_KEY: BoxedColumn = {
  table: 'audit_log_chain',
  column: 'key',
  keyColumn: 'singleton',
  holds: 'the key that seals the audit log',
};
const ROW = 'true';
const KEY_BYTES = 32;

export class AlteredChainError extends Error {}

/** Returns the key of the chain. Throws if the chain is not as a server left it. */
export function keyOfChain(box: Box, chain: store.ChainRow): Buffer | undefined {
  if (chain.key === null) {
    if (chain.headNo === 0 && chain.sealedTo === 0) return undefined;
    throw new AlteredChainError('the key of the audit log is gone from audit_log_chain');
  }
  const key = box.open(ROW, chain.key);
  if (!chain.mac?.equals(macOfChain(key, chain)))
    throw new AlteredChainError('the row of audit_log_chain was altered');
  return key;
}

/** Locks the chain against other transactions, and returns it with its key and a function that stores it. */
export async function openChain(tx: Tx, box: Box) {
  const chain = await store.lockChain(tx);
  const key = keyOfChain(box, chain) ?? randomBytes(KEY_BYTES);
  const save = (state: ChainState, nextTo: number | null) =>
    store.updateChain(tx, {
      ...state,
      key: chain.key ?? box.seal(ROW, key),
      mac: macOfChain(key, state),
      nextTo,
    });
  return { chain, key, save };
}

const BATCH_ROWS = 1000;
const BATCHES_PER_RUN = 200;
const LOOK_AGAIN_MS = 100;
const LOOKS = 10;

/**
 * Seals all entries that exist now. Waits for transactions that may still add entries before them, but only for a
 * second: if they take longer, a later call seals the entries.
 */
export async function sealEntries(db: Database, box: Box, signal: AbortSignal): Promise<void> {
  await store.markNext(db, await store.findLastId(db));
  let looks = 0;
  for (let batches = 0; batches < BATCHES_PER_RUN && !signal.aborted; ) {
    const outcome = await sealBatch(db, box);
    if (outcome === 'done') return;
    if (outcome === 'sealed') batches++;
    else if (++looks >= LOOKS) return;
    else await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}

/** Exported for tests. */
export const sealBatch = (db: Database, box: Box): Promise<'sealed' | 'waiting' | 'done'> =>
  db.transaction(async (tx) => {
    const { chain, key, save } = await openChain(tx, box);
    if (chain.nextTo === null) return 'done';
    if (!chain.isQuiet) return 'waiting';
    const entries = await store.listDigests(tx, {
      after: chain.sealedTo,
      to: chain.nextTo,
      limit: BATCH_ROWS,
    });
    const state: ChainState = { ...chain };
    const sealedAt = new Date().toISOString();
    for (const [month, ofMonth] of byMonth(entries)) {
      const seal = {
        no: state.headNo + 1,
        month,
        ids: ofMonth.map(({ id }) => id),
        digests: ofMonth.map(({ digest }) => digest),
        sealedAt,
      };
      const mac = macOfSeal(key, seal, state.headMac);
      await store.insertSeal(tx, { ...seal, mac });
      state.headNo = seal.no;
      state.headMac = mac;
    }
    const isLast = entries.length < BATCH_ROWS;
    state.sealedTo = isLast ? chain.nextTo : entries.at(-1)!.id;
    await save(state, isLast ? null : chain.nextTo);
    return isLast ? 'done' : 'sealed';
  });

function byMonth(entries: store.EntryDigest[]): Map<string, store.EntryDigest[]> {
  const months = new Map<string, store.EntryDigest[]>();
  for (const entry of entries) {
    const others = months.get(entry.month);
    if (others) others.push(entry);
    else months.set(entry.month, [entry]);
  }
  return months;
}
