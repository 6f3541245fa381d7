/**
 * Authentication codes of seals, of the chain and of dropped months. Only a server with the key can make them. The text
 * of each begins with its purpose, so that no code can stand for another.
 */
import { createHmac } from 'node:crypto';

/** The entries of one month that were sealed together. */
export interface Seal {
  /** Counts from 1, without gaps. */
  no: number;
  /** The first day of the month. */
  month: string;
  ids: number[];
  digests: Buffer[];
  sealedAt: string;
}

export interface ChainState {
  sealedTo: number;
  headNo: number;
  headMac: Buffer | null;
  anchorNo: number;
  anchorMac: Buffer | null;
}

const macOf = (key: Buffer, about: readonly (string | number | number[] | string[] | null)[]): Buffer =>
  createHmac('sha256', key).update(JSON.stringify(about)).digest();

const hex = (bytes: Buffer | null) => bytes?.toString('hex') ?? null;

export const macOfSeal = (key: Buffer, { no, month, ids, digests, sealedAt }: Seal, before: Buffer | null) =>
  macOf(key, [
    'seal',
    no,
    month,
    ids,
    digests.map((digest) => digest.toString('hex')),
    sealedAt,
    hex(before),
  ]);

export const macOfChain = (key: Buffer, chain: ChainState) =>
  macOf(key, [
    'chain',
    chain.sealedTo,
    chain.headNo,
    hex(chain.headMac),
    chain.anchorNo,
    hex(chain.anchorMac),
  ]);

export const macOfDroppedMonth = (key: Buffer, month: string, entries: number) =>
  macOf(key, ['dropped', month, entries]);
