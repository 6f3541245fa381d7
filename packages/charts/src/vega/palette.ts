/** More colours for series, each as far as can be from those before it. */
import { contrast, type Rgb, toHex, toRgb } from '../color.ts';

/** Enough for every chart that can be read. */
export const SERIES_MAX = 32;
/** What marks need to be seen on the card. */
const CONTRAST_MIN = 3;
const STEPS = { hue: 24, saturation: [0.35, 0.6, 0.9], lightness: [0.25, 0.38, 0.5, 0.62, 0.75, 0.86] };

/** In Oklab, distances are as far as people see them. */
function oklab(color: string): Rgb {
  const [r, g, b] = toRgb(color)!.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const apart = (from: Rgb, to: Rgb) => Math.hypot(from[0] - to[0], from[1] - to[1], from[2] - to[2]);

export const distance = (a: string, b: string): number => apart(oklab(a), oklab(b));

function fromHsl(hue: number, saturation: number, lightness: number): string {
  const spread = saturation * Math.min(lightness, 1 - lightness);
  const part = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    return 255 * (lightness - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return toHex([part(0), part(8), part(4)]);
}

const candidates = () =>
  Array.from({ length: STEPS.hue }, (_, i) => (i * 360) / STEPS.hue).flatMap((hue) =>
    STEPS.saturation.flatMap((saturation) =>
      STEPS.lightness.map((lightness) => fromHsl(hue, saturation, lightness)),
    ),
  );

export function extended(series: readonly string[], surface: string): string[] {
  const chosen = [...series];
  const seen = chosen.map(oklab);
  const free = candidates()
    .filter((color) => contrast(color, surface) >= CONTRAST_MIN)
    .map((color) => ({ color, at: oklab(color) }))
    .map(({ color, at }) => ({ color, at, nearest: Math.min(...seen.map((other) => apart(at, other))) }));
  while (chosen.length < SERIES_MAX && free.length) {
    const farthest = free.reduce((best, each, i) => (each.nearest > free[best]!.nearest ? i : best), 0);
    const [{ color, at }] = free.splice(farthest, 1) as [(typeof free)[number]];
    chosen.push(color);
    for (const other of free) other.nearest = Math.min(other.nearest, apart(at, other.at));
  }
  return chosen;
}
