/** How the pages look: the theme of the account if it applies to people of the account, and otherwise Oriel's own. */
import { createHash } from 'node:crypto';
import type { Platform } from '../../platform/module.ts';
import { type AppConfigRow, findAppConfig } from '../tenant-settings/index.ts';
import { type Palette, paletteOf, type Scheme } from './palette.ts';

export interface Theme {
  name: string;
  /** Addresses of images; undefined for none. */
  logo: { light: string; dark: string } | undefined;
  /** Sets custom properties of `style.css`; empty for Oriel's own colours. */
  css: string;
  contentSecurityPolicy: string;
}

const LIGHT: Scheme = { accentColor: '#3451c6', backgroundColor: '#ffffff', foregroundColor: '#171a21' };
const DARK: Scheme = { accentColor: '#91a6ff', backgroundColor: '#14171d', foregroundColor: '#e9ebf0' };
const NAME = 'Oriel';
const NAME_MAX = 60;

export const OWN_THEME: Theme = {
  name: NAME,
  logo: undefined,
  css: '',
  contentSecurityPolicy: policy([], ''),
};

export interface Themes {
  current(): Promise<Theme>;
}

export function createThemes({
  essential,
  createCache,
  log,
}: Pick<Platform, 'essential' | 'createCache' | 'log'>) {
  const cache = createCache<string, Theme>(() => ['tenant-settings']);
  const load = async () => themeOf(await findAppConfig(essential));
  return {
    /** Pages are also shown when the database does not answer: some say so. */
    async current(): Promise<Theme> {
      try {
        return cache.get('theme') ?? (await cache.load('theme', load));
      } catch (err) {
        log.warn({ err }, 'the theme of the account could not be read');
        return OWN_THEME;
      }
    },
  };
}

export function themeOf({ appConfig }: AppConfigRow): Theme {
  const { appTheme, applyThemeGlobally, creatorMode } = appConfig;
  if (!appTheme || !applyThemeGlobally) return OWN_THEME;
  const { light, dark } = appTheme;
  const css =
    `:root{${properties(paletteOf(light, LIGHT))}}` +
    `@media (prefers-color-scheme:dark){:root{${properties(paletteOf(dark, DARK))}}}`;
  const logo = logoOf(light.logoUrl, dark.logoUrl);
  const origins = logo ? [logo.light, logo.dark].map((address) => new URL(address).origin) : [];
  return {
    name: creatorMode?.workspaceTitle?.trim().slice(0, NAME_MAX) || NAME,
    logo,
    css,
    contentSecurityPolicy: policy([...new Set(origins)], css),
  };
}

const properties = (palette: Palette) =>
  Object.entries(palette)
    .map(([name, color]) => `--${name}:${color}`)
    .join(';');

/** An address may have a host such as `a;sandbox`, which would be read as a part of the policy. */
const ORIGIN = /^https?:\/\/[a-z0-9.:[\]_-]+$/;

const imageOf = (address: string) => {
  if (!URL.canParse(address)) return '';
  const { origin, href } = new URL(address);
  return ORIGIN.test(origin) ? href : '';
};

function logoOf(light: string, dark: string): Theme['logo'] {
  const [forLight, forDark] = [imageOf(light), imageOf(dark)];
  const any = forLight || forDark;
  return any ? { light: forLight || any, dark: forDark || any } : undefined;
}

/** No scripts, no frames, nothing from other servers but the logo. */
function policy(imageOrigins: string[], css: string): string {
  const hash = css && ` 'sha256-${createHash('sha256').update(css).digest('base64')}'`;
  return [
    "default-src 'none'",
    `style-src 'self'${hash}`,
    `img-src ${["'self'", ...imageOrigins].join(' ')}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
