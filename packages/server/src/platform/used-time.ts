/** How much time each of many has used lately. What was used a while ago counts less and less. */
export interface UsedTime {
  add(name: string, ms: number): void;
  of(name: string): number;
}

const HALF_LIFE_MS = 60_000;
/** Of more, those are forgotten who have used nothing for the longest time. */
const NAMES_MAX = 10_000;

export function createUsedTime(): UsedTime {
  const known = new Map<string, { ms: number; at: number }>();
  const of = (name: string) => {
    const entry = known.get(name);
    return entry ? entry.ms * 0.5 ** ((performance.now() - entry.at) / HALF_LIFE_MS) : 0;
  };
  return {
    of,
    add(name, ms) {
      const sum = of(name) + ms;
      known.delete(name);
      known.set(name, { ms: sum, at: performance.now() });
      if (known.size > NAMES_MAX) known.delete(known.keys().next().value!);
    },
  };
}
