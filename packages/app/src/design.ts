/** What the app shares with the embedded page: colours, fonts, and how texts are put together. */
export {
  applyTokens,
  isRightToLeft,
  isScheme,
  knownLocale,
  type Scheme,
  sayWith,
  type ThemeOptions,
  themeOptionsOf,
  tokensOf,
} from '@oriel/charts/design';
