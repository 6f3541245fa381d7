/**
 * Colours, fonts and how texts are put together, without anything that draws: a page that shows no chart loads no widget.
 * esbuild splits files by who reaches them, so `index.ts` would bring all of its parts.
 */
export { isScheme } from './appearance.ts';
export { applyTokens } from './apply-tokens.ts';
export { isRightToLeft, knownLocale, sayWith } from './texts/index.ts';
export { type Scheme, type ThemeOptions, themeOptionsOf, tokensOf } from './theme.ts';
