/** Colours as numbers. */
export type Rgb = [number, number, number];

/** Only colours that are written as numbers: `#rgb`, `#rrggbb` and `rgb(…)`. */
export function toRgb(text: unknown): Rgb | undefined {
  if (typeof text !== 'string') return undefined;
  const value = text.trim().toLowerCase();
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(value);
  if (short) return short.slice(1).map((digit) => Number.parseInt(digit + digit, 16)) as Rgb;
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/.exec(value);
  if (long) return long.slice(1).map((pair) => Number.parseInt(pair, 16)) as Rgb;
  const rgb = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/.exec(value);
  return rgb ? (rgb.slice(1).map((part) => Math.min(255, Number(part))) as Rgb) : undefined;
}

export const toHex = (rgb: Rgb) =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;

export const mix = (a: string, b: string, part: number): string => {
  const [from, to] = [toRgb(a)!, toRgb(b)!];
  return toHex(from.map((value, i) => value + (to[i]! - value) * part) as Rgb);
};

function luminance(color: string): number {
  const [r, g, b] = toRgb(color)!.map((part) => {
    const value = part / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}
