/** Limits how many bytes many callers hold in memory together, and how many of them one sharer holds. */
import type { Excess } from './admission/admission.ts';

/** The part of the budget that one body, file or result uses. */
export interface ByteReservation {
  /** Returns false if not enough is left. */
  take(bytes: number): boolean;
  /** Why this many more bytes are not left: the sharer has too many, or all together. */
  excessOf(bytes: number): Excess;
  /** Returns everything that was taken to the budget. */
  giveBack(): void;
}

/** One sharer gets at most a quarter, so that no sharer can prevent the others from sending large bodies. */
export function createByteBudget(maxBytes: number) {
  const shares = new Map<string, number>();
  let total = 0;
  const add = (sharer: string, bytes: number) => {
    total += bytes;
    const sum = (shares.get(sharer) ?? 0) + bytes;
    if (sum) shares.set(sharer, sum);
    else shares.delete(sharer);
  };
  return {
    reservationOf(sharer: string): ByteReservation {
      let taken = 0;
      const isOverShare = (bytes: number) => (shares.get(sharer) ?? 0) + bytes > maxBytes / 4;
      return {
        excessOf: (bytes) => (isOverShare(bytes) ? 'sharer' : 'all'),
        take(bytes) {
          if (total + bytes > maxBytes || isOverShare(bytes)) return false;
          taken += bytes;
          add(sharer, bytes);
          return true;
        },
        giveBack() {
          if (taken) add(sharer, -taken);
          taken = 0;
        },
      };
    },
  };
}
