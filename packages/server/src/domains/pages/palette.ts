/** Colours of the pages, made from the colours of the account. Every text can be read, whatever those colours are. */
import { clampRgb, formatHex, interpolate, parse, wcagContrast } from 'culori';

export interface Scheme {
  accentColor: string;
  backgroundColor: string;
  foregroundColor: string;
}

/** The names are those of the custom properties in `style.css`. */
export type Palette = Record<
  'page' | 'surface' | 'text' | 'muted' | 'line' | 'field-line' | 'accent' | 'on-accent' | 'link' | 'danger',
  string
>;

/** The contrast that WCAG 2.2 requires of texts, and of the parts of a page that one uses. */
export const TEXT_CONTRAST = 4.5;
export const PART_CONTRAST = 3;

/** A text that is not a colour, such as a misspelt name, counts as not given. */
export function paletteOf(scheme: Scheme, fallback: Scheme): Palette {
  const color = (name: keyof Scheme) => hexOf(scheme[name]) ?? hexOf(fallback[name])!;
  const surface = color('backgroundColor');
  const text = readable(color('foregroundColor'), surface, TEXT_CONTRAST);
  const accent = readable(color('accentColor'), surface, PART_CONTRAST);
  return {
    page: surface,
    surface,
    text,
    muted: readable(mix(text, surface, 0.35), surface, TEXT_CONTRAST),
    line: mix(text, surface, 0.85),
    'field-line': readable(mix(text, surface, 0.55), surface, PART_CONTRAST),
    accent,
    'on-accent': farther(accent),
    link: readable(accent, surface, TEXT_CONTRAST),
    danger: readable('#c4302b', surface, TEXT_CONTRAST),
  };
}

/** Without transparency, and within what screens can show. */
function hexOf(text: string): string | undefined {
  const color = parse(text);
  return color && formatHex(clampRgb({ ...color, alpha: 1 }));
}

/** Black or white: one of the two has a contrast of at least 4.58 to any colour. */
const farther = (color: string) =>
  wcagContrast('#000000', color) > wcagContrast('#ffffff', color) ? '#000000' : '#ffffff';

const mix = (from: string, to: string, part: number) =>
  formatHex(clampRgb(interpolate([from, to], 'oklab')(part)));

/** The colour itself, or the first one on the way to black or white that has the contrast. */
function readable(color: string, background: string, contrast: number): string {
  const end = farther(background);
  for (let part = 0; part < 1; part += 0.05) {
    const candidate = mix(color, end, part);
    if (wcagContrast(candidate, background) >= contrast) return candidate;
  }
  return end;
}
