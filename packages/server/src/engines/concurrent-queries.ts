/** The queries that run at once in one process, and so share its memory. */
export interface ConcurrentQueries {
  enter(): Guest;
}

export interface Guest {
  /** Whether others were there at any time since it came. */
  readonly hadOthers: boolean;
  leave(): void;
  /** Resolves when all who are there now have left. */
  whenOthersLeft(): Promise<unknown>;
}

interface Presence {
  hadOthers: boolean;
  left: Promise<void>;
}

export function createConcurrentQueries(): ConcurrentQueries {
  const present = new Set<Presence>();
  return {
    enter() {
      let onLeft = () => {};
      const left = new Promise<void>((resolve) => {
        onLeft = resolve;
      });
      const own: Presence = { hadOthers: present.size > 0, left };
      for (const other of present) other.hadOthers = true;
      present.add(own);
      return {
        get hadOthers() {
          return own.hadOthers;
        },
        leave() {
          present.delete(own);
          onLeft();
        },
        whenOthersLeft: () =>
          Promise.all([...present].filter((other) => other !== own).map((other) => other.left)),
      };
    },
  };
}
