/** A small generator of random numbers, so that a seed repeats a run. */
export interface Random {
  /** Less than the number. */
  below(count: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** Some of the items, in their order. */
  some<T>(items: readonly T[], most: number): T[];
}

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const random: Random = {
    below: (count) => Math.floor(next() * count),
    chance: (probability) => next() < probability,
    pick: (items) => items[random.below(items.length)]!,
    some(items, most) {
      const count = random.below(most + 1);
      const left = [...items];
      while (left.length > count) left.splice(random.below(left.length), 1);
      return left;
    },
  };
  return random;
}
