/** Colours and fonts: our own, over them the account's, the dashboard's and the host's. See DESIGN.md. */
import { contrast, mix, toHex, toRgb } from './color.ts';

export type Scheme = 'light' | 'dark';

export interface Tokens {
  scheme: Scheme;
  background: string;
  surface: string;
  ink: string;
  inkSoft: string;
  line: string;
  accent: string;
  accentInk: string;
  good: string;
  bad: string;
  font: string;
  radius: number;
  /** The border of cards. */
  border: string;
  borderWidth: number;
  /** The background of controls. */
  control: string;
  series: string[];
  /** Colours from little to much, for heat maps and maps. */
  ramp: string[];
  /** The colour of places without a value. */
  land: string;
}

/** What a host, a dashboard or an account may choose. Anything that is not safe to use is left out. */
export interface ThemeOptions {
  accent?: string;
  background?: string;
  surface?: string;
  font?: string;
  radius?: number;
  border?: string;
  borderWidth?: number;
  control?: string;
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

const OWN: Record<
  Scheme,
  Omit<
    Tokens,
    'font' | 'radius' | 'scheme' | 'accentInk' | 'ramp' | 'land' | 'border' | 'borderWidth' | 'control'
  >
> = {
  light: {
    background: '#f6f7f9',
    surface: '#ffffff',
    ink: '#1a1e28',
    inkSoft: '#566072',
    line: '#e3e6ec',
    accent: '#3451c6',
    good: '#0b7a55',
    bad: '#c2362b',
    series: ['#3451c6', '#d9730d', '#0e9373', '#b8508f', '#a67c00', '#2a8fc7', '#7a5bd0', '#69707d'],
  },
  dark: {
    background: '#0f1217',
    surface: '#181c24',
    ink: '#eceff4',
    inkSoft: '#a4adbd',
    line: '#2b313d',
    accent: '#8fa5ff',
    good: '#4fcf9f',
    bad: '#ff8f84',
    series: ['#8fa5ff', '#ffa657', '#4fcf9f', '#ee9ccb', '#e6c451', '#6fc7f2', '#bfa4ff', '#a4adbd'],
  },
};

const safeColor = (text: unknown) => {
  const rgb = toRgb(text);
  return rgb && toHex(rgb);
};

/** Names of fonts, and nothing that could end the declaration or load a file. */
function safeFont(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > 200) return undefined;
  const names = text
    .split(',')
    .map((name) => name.trim().replaceAll(/^["']|["']$/g, ''))
    .filter((name) => /^[\p{L}\p{N} _-]+$/u.test(name));
  return names.length
    ? [...names.map((name) => (/^[a-z-]+$/.test(name) ? name : `"${name}"`)), FONT].join(', ')
    : undefined;
}

/** The colour, moved towards the text colour until it can be read on the background. */
export function readable(color: string, background: string, ink: string, ratio: number): string {
  for (let part = 0; part < 1; part += 0.1) {
    const candidate = mix(color, ink, part);
    if (contrast(candidate, background) >= ratio) return candidate;
  }
  return ink;
}

/** Reads a theme of any of the shapes that the platform has. */
export function themeOptionsOf(theme: unknown): ThemeOptions {
  const { primaryColor, font, fontFamily, borderRadius, backgroundColor, dashboard, widgets, controls } =
    (theme ?? {}) as Record<
      string,
      // biome-ignore lint/suspicious/noExplicitAny: each part is checked
      any
    >;
  const number = (text: unknown, most: number) => {
    const value = Number.parseFloat(String(text ?? ''));
    return Number.isFinite(value) ? Math.min(Math.max(value, 0), most) : undefined;
  };
  return {
    accent: safeColor(primaryColor),
    background: safeColor(dashboard?.backgroundColor ?? backgroundColor),
    surface: safeColor(widgets?.backgroundColor),
    font: safeFont(font ?? fontFamily ?? widgets?.text?.fontFamily),
    radius: number(borderRadius ?? widgets?.border?.radius, 32),
    border: safeColor(widgets?.border?.color),
    borderWidth: number(widgets?.border?.width, 8),
    control: safeColor(controls?.backgroundColor),
  };
}

/** Later overrides win. */
export function tokensOf(scheme: Scheme, overrides: readonly ThemeOptions[]): Tokens {
  const own = OWN[scheme];
  const chosen: ThemeOptions = {};
  for (const override of overrides) {
    for (const [name, value] of Object.entries(override))
      if (value !== undefined) Object.assign(chosen, { [name]: value });
  }
  const background = fitting(chosen.background, scheme) ?? own.background;
  const surface = fitting(chosen.surface, scheme) ?? own.surface;
  const { ink } = own;
  const accent = readable(chosen.accent ?? own.accent, surface, ink, 4.5);
  const first = readable(chosen.accent ?? own.accent, surface, ink, 3);
  return {
    ...own,
    scheme,
    background,
    surface,
    accent,
    accentInk: contrast('#ffffff', accent) >= 4.5 ? '#ffffff' : '#000000',
    font: chosen.font ?? FONT,
    radius: chosen.radius ?? 10,
    border: chosen.border ?? own.line,
    borderWidth: chosen.borderWidth ?? 1,
    control: fitting(chosen.control, scheme) ?? surface,
    series: [first, ...own.series.slice(1)],
    ramp: [0.4, 0.54, 0.68, 0.84, 1].map((part) => mix(surface, first, part)),
    land: mix(surface, ink, 0.04),
  };
}

/** A background of a light theme is not used in the dark, because the text would not be readable. */
const fitting = (color: string | undefined, scheme: Scheme) =>
  color && contrast(color, OWN[scheme].ink) >= 7 && contrast(color, OWN[scheme].inkSoft) >= 4.5
    ? color
    : undefined;
