/** Compares the log with its seals, and names the first entry that was changed, removed or added. */
import type { Database } from '../db/database.ts';
import type { Box } from '../secrets/box.ts';
import { macOfDroppedMonth, macOfSeal } from './macs.ts';
import * as months from './months.store.ts';
import { AlteredChainError, keyOfChain } from './seal.ts';
import * as store from './seals.store.ts';

export interface Verification {
  /** The first mismatch; undefined if the log is as it was sealed. */
  problem: string | undefined;
  /** How many entries were compared with their seals. */
  entries: number;
  /** How many entries are too new to be sealed. Nothing is known about them. */
  unsealed: number;
  droppedMonths: string[];
  /** When the first of the seals was made. A chain that an attacker began anew is younger than its entries. */
  sealedSince: string | undefined;
  /** The newest seal, as `number:code`. A later verification can be told to expect it. */
  newestSeal: string | undefined;
}

class AuditProblemError extends Error {}

const SEALS_AT_ONCE = 20;
const TRIES = 5;

/**
 * `expected` is a seal that an earlier verification named. It shows whether an attacker put back an old copy of the
 * tables, which is consistent in itself.
 */
export async function verifyAuditLog(db: Database, box: Box, expected?: string): Promise<Verification> {
  for (let tries = 1; ; tries++) {
    const chain = await store.findChain(db);
    const checked = await verify(db, box, chain, expected);
    // A month that was dropped meanwhile looks as if its entries were removed.
    if (!checked.problem || tries >= TRIES) return checked;
    const dropped = (await months.listMonths(db)).filter(({ isDropped }) => isDropped);
    if (dropped.length === checked.droppedMonths.length) return checked;
  }
}

async function verify(
  db: Database,
  box: Box,
  chain: store.ChainRow,
  expected: string | undefined,
): Promise<Verification> {
  const known = await months.listMonths(db);
  const result: Verification = {
    problem: undefined,
    entries: 0,
    unsealed: await store.countUnsealed(db, chain.sealedTo),
    droppedMonths: known.filter(({ isDropped }) => isDropped).map(({ month }) => month.slice(0, 7)),
    sealedSince: undefined,
    newestSeal: chain.headMac ? `${chain.headNo}:${chain.headMac.toString('hex')}` : undefined,
  };
  try {
    const key = keyOfChain(box, chain);
    if (!key) {
      if (expected !== undefined)
        throw new AuditProblemError('nothing is sealed yet, although a seal is expected');
      return result;
    }
    const dropped = requireDropped(key, known);
    const lastIds = await checkSeals(db, { key, chain, dropped, result });
    await checkAdded(db, { known, chain, dropped, lastIds });
    if (expected !== undefined) await checkExpected(db, chain, expected);
  } catch (error) {
    if (!(error instanceof AuditProblemError || error instanceof AlteredChainError)) throw error;
    result.problem = error.message;
  }
  return result;
}

/** Returns the months that retention has dropped. Throws if one was marked as dropped without the key. */
function requireDropped(key: Buffer, known: months.MonthRow[]): Set<string> {
  const dropped = known.filter(({ isDropped }) => isDropped);
  for (const { month, entries, mac } of dropped) {
    if (!mac?.equals(macOfDroppedMonth(key, month, entries ?? -1)))
      throw new AuditProblemError(`the month ${month.slice(0, 7)} was not dropped by retention`);
  }
  return new Set(dropped.map(({ month }) => month));
}

/** Checks each seal and its entries. Returns the last id that is sealed in each month. */
async function checkSeals(
  db: Database,
  options: { key: Buffer; chain: store.ChainRow; dropped: Set<string>; result: Verification },
): Promise<Map<string, number>> {
  const { key, chain, dropped, result } = options;
  const lastIds = new Map<string, number>();
  let before = chain.anchorMac;
  for (let no = chain.anchorNo; no < chain.headNo; ) {
    const seals = await store.listSeals(db, { after: no, to: chain.headNo, limit: SEALS_AT_ONCE });
    if (!seals.length) throw new AuditProblemError(`seal ${no + 1} was removed`);
    for (const seal of seals) {
      if (seal.no !== no + 1) throw new AuditProblemError(`seal ${no + 1} was removed`);
      if (!seal.mac.equals(macOfSeal(key, seal, before)))
        throw new AuditProblemError(`seal ${seal.no} was altered`);
      if (!dropped.has(seal.month)) result.entries += await checkEntries(db, seal, lastIds);
      result.sealedSince ??= seal.sealedAt;
      before = seal.mac;
      no = seal.no;
    }
  }
  if (chain.headMac && !before?.equals(chain.headMac))
    throw new AuditProblemError(`seal ${chain.headNo} was altered`);
  return lastIds;
}

async function checkEntries(db: Database, seal: store.SealRow, lastIds: Map<string, number>) {
  const { month, ids, digests } = seal;
  const to = ids.at(-1)!;
  const range = { month, after: lastIds.get(month) ?? 0, to, limit: ids.length + 1 };
  const found = await store.listDigestsOfMonth(db, range);
  for (const [i, id] of ids.entries()) {
    const entry = found[i];
    if (!entry || entry.id > id) throw new AuditProblemError(`entry ${id} was removed`);
    if (entry.id < id) throw new AuditProblemError(`entry ${entry.id} was added after its time`);
    if (!entry.digest.equals(digests[i]!)) throw new AuditProblemError(`entry ${id} was changed`);
  }
  if (found.length > ids.length)
    throw new AuditProblemError(`entry ${found.at(-1)!.id} was added after its time`);
  lastIds.set(month, to);
  return ids.length;
}

/** Throws if an entry is in no seal, although all entries with such ids were sealed. */
async function checkAdded(
  db: Database,
  options: {
    known: months.MonthRow[];
    chain: store.ChainRow;
    dropped: Set<string>;
    lastIds: Map<string, number>;
  },
) {
  const { known, chain, dropped, lastIds } = options;
  const all = new Set([...known.map(({ month }) => month), ...(await months.listStrayMonths(db))]);
  for (const month of [...all].filter((other) => !dropped.has(other))) {
    const range = { month, after: lastIds.get(month) ?? 0, to: chain.sealedTo, limit: 1 };
    const [added] = await store.listDigestsOfMonth(db, range);
    if (added) throw new AuditProblemError(`entry ${added.id} was added after its time`);
  }
}

async function checkExpected(db: Database, chain: store.ChainRow, expected: string) {
  const [no, mac] = expected.split(':') as [string, string];
  // Seals before the anchor were removed with their months.
  if (Number(no) < chain.anchorNo) return;
  const found = Number(no) === chain.anchorNo ? chain.anchorMac : await store.findSealMac(db, Number(no));
  if (found?.toString('hex') !== mac)
    throw new AuditProblemError(`seal ${no} is not the one that was expected`);
}
