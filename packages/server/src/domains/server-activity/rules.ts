import type { SourceHealth } from '../../engines/engines.ts';

/** Estimates the 95th percentile by linear interpolation between two bounds. `counts` has one more than `bounds`. */
export function p95Of(bounds: readonly number[], counts: readonly number[]): number | null {
  const total = counts.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let left = total * 0.95;
  for (const [i, n] of counts.entries()) {
    if (left <= n) {
      const from = bounds[i - 1] ?? 0;
      const to = bounds[i] ?? from;
      return Math.round(from + (to - from) * (n ? left / n : 0));
    }
    left -= n;
  }
  return bounds.at(-1)!;
}

/** What several servers know of the same source, as one. */
export function mergeHealth(all: readonly SourceHealth[]): SourceHealth[] {
  const merged = new Map<string, SourceHealth>();
  for (const one of all) {
    const key = `${one.deploymentId} ${one.dataSource}`;
    const known = merged.get(key);
    if (!known) {
      merged.set(key, one);
      continue;
    }
    const failed = (one.lastErrorAt ?? '') > (known.lastErrorAt ?? '') ? one : known;
    const answered = (one.lastOkAt ?? '') > (known.lastOkAt ?? '') ? one : known;
    merged.set(key, {
      ...answered,
      lastErrorAt: failed.lastErrorAt,
      lastError: failed.lastError,
    });
  }
  return [...merged.values()];
}
