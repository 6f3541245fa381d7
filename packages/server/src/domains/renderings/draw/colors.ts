/** Colours between two others, written as SVG takes them. */
const partsOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Both are written as `#rrggbb`, as tokens are. */
export function mix(from: string, to: string, part: number): string {
  const ends = partsOf(to);
  const mixed = partsOf(from).map((value, i) => Math.round(value + (ends[i]! - value) * part));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
