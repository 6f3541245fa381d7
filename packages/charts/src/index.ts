/** What pages draw dashboards with. Charts, maps and filters are loaded when a dashboard first needs them. */

export type { QueryApi } from './answers.ts';
export { Appearance, type ChosenScheme, isScheme } from './appearance.ts';
export { applyTokens } from './apply-tokens.ts';
export { Board, type Surroundings } from './board.ts';
export { BoardView } from './board-view.tsx';
export { type CellRule, COLORS, cellColors, OPERATORS } from './cell-colors.ts';
export { csvOf, download, downloadBlob, plainCell } from './csv.ts';
export { type DrillTarget, drillFrom } from './drill-query.ts';
export { Grid } from './grid.tsx';
export { type FilterInForce, inForce } from './in-force.ts';
export { Language } from './language.ts';
export { chartsInSight, tabsOf, topLevel } from './layout.ts';
export { lazy } from './lazy.tsx';
export { Markdown } from './markdown.tsx';
export { OPERATORS_BY_KIND, operatorsOf, WITHOUT_VALUE } from './operators.ts';
export { isPicture, PICTURE_MAX, PICTURE_PIXELS_MAX } from './picture.ts';
export { type Visibility, visibilityOf, withAttributes } from './presets.ts';
export { lacksValue, membersOf, reachedBy, valuesQuery } from './query.ts';
export { askFor, type DrawProps, type Rows } from './rows.ts';
export { SharedContext, useBoard } from './shared.ts';
export { type Column as TableColumn, columnsOf, largestOf } from './table.ts';
export {
  isRightToLeft,
  knownLocale,
  type Say,
  sayWith,
  type TextKey,
  type Texts,
  textsLoader,
} from './texts/index.ts';
export { type Scheme, type ThemeOptions, type Tokens, themeOptionsOf, tokensOf } from './theme.ts';
export * from './types.ts';
export { Draw } from './widgets/chart.tsx';
export { Drill } from './widgets/drill.tsx';
export { WidgetView } from './widgets/widget.tsx';
