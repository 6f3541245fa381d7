/** What needs no browser: a server lays out, fits, colours and writes charts as pages do. */
export { daysOf, todayIn } from './dates.ts';
export { type Figure, figureOf } from './figure.ts';
export { createFormats, type Formats, measureIn, shownOf } from './format.ts';
export { crossInForce, inForce, titleOf } from './in-force.ts';
export { chartsInSight, chartsOf, tabsOf, topLevel } from './layout.ts';
export { type MapView, mapOf } from './map/places.ts';
export { markdownElements } from './markdown-elements.ts';
export { OPERATORS_BY_KIND, operatorsOf } from './operators.ts';
export {
  BOARD_PIXELS_MAX,
  isPicture,
  PICTURE_MAX,
  PICTURE_PIXELS_MAX,
  pictureOf,
  pixelsOf,
} from './picture.ts';
export {
  beginsWithAttributes,
  presetFilters,
  presetGrains,
  visibilityOf,
  withAttributes,
} from './presets.ts';
export { type Choices, type CrossFilters, type Narrowing, problemOf, queryFor, reachedBy } from './query.ts';
export { type Ask, type AskContext, askFor, type Rows, totalOf } from './rows.ts';
export { type TableView, tableOf } from './table.ts';
export { isRightToLeft, knownLocale, type Say, sayWith, type Texts, textsLoader } from './texts/index.ts';
export { type Scheme, type ThemeOptions, type Tokens, themeOptionsOf, tokensOf } from './theme.ts';
export * from './types.ts';
export { configOf } from './vega/config.ts';
export {
  type ChartSpec,
  createDrawing,
  type Drawing,
  type DrawnChart,
  type Look,
  type Room,
} from './vega/drawing.ts';
export { fitSpec } from './vega/fit-spec.ts';
export { chartLocale } from './vega/locale.ts';
export { unseenTimes } from './vega/spots.ts';
