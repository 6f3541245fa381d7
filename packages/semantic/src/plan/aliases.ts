/** PostgreSQL cuts names off after 63 bytes, and DuckDB takes names that differ only by case for the same. */
const LENGTH_MAX = 56;

export interface Aliases {
  /** The name itself, or one like it that is not taken. */
  next(name: string): string;
}

export function createAliases(): Aliases {
  const taken = new Set<string>();
  return {
    next(name) {
      const short = name.slice(0, LENGTH_MAX);
      let alias = short;
      for (let i = 2; taken.has(alias.toLowerCase()); i++) alias = `${short}_${i}`;
      taken.add(alias.toLowerCase());
      return alias;
    },
  };
}
