/** When credentials were last used: noted at each request, written now and then. */

export interface Uses {
  note(id: number): void;
  /** What was noted and not written yet. */
  take(): { id: number; at: string }[];
}

/** A use within `everyMs` of one that was noted is not worth writing. */
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
