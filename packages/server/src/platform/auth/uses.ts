/** Records when credentials were last used: noted at each request, written from time to time. */
import type { Logger } from '../log.ts';

const WRITE_EVERY_MS = 15_000;

export interface Use {
  id: number;
  at: string;
}

export interface Uses {
  note(id: number): void;
  /** Returns the uses that were noted but not written yet. */
  take(): Use[];
}

/** A use within `everyMs` of a noted one is not written. */
export function createUses(everyMs: number): Uses {
  const lastNoted = new Map<number, number>();
  const due = new Map<number, string>();
  return {
    note(id) {
      const now = Date.now();
      if (now - (lastNoted.get(id) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
      lastNoted.set(id, now);
      due.set(id, new Date(now).toISOString());
    },
    take() {
      const taken = [...due].map(([id, at]) => ({ id, at }));
      due.clear();
      const now = Date.now();
      for (const [id, at] of lastNoted) if (now - at >= everyMs) lastNoted.delete(id);
      return taken;
    },
  };
}

export interface WrittenUses {
  note(id: number): void;
  /** Writes the uses that are not written yet. */
  stop(): Promise<void>;
}

/** Writes uses in the background. A failure is only logged, because nothing waits for the write. */
export function writeUses(options: {
  everyMs?: number;
  write: (uses: Use[]) => Promise<unknown>;
  log: Logger;
}): WrittenUses {
  const { everyMs = WRITE_EVERY_MS, write, log } = options;
  const uses = createUses(everyMs);
  async function flush() {
    const due = uses.take();
    if (!due.length) return;
    try {
      await write(due);
    } catch (error) {
      log.warn({ err: error }, 'could not record the use of credentials');
    }
  }
  const timer = setInterval(flush, WRITE_EVERY_MS).unref();
  return {
    note: uses.note,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
