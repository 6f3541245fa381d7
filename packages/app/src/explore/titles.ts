/** What calculated fields are called. */
import type { Calculated, Kind } from './calculated.ts';
import type { Model } from './members.ts';
import { say, type TextKey } from './texts/say.ts';

const KIND_TEXTS: Record<Kind, TextKey> = {
  aggregate: 'kindAggregate',
  shareOfTotal: 'kindShare',
  difference: 'kindDifference',
  percentDifference: 'kindPercent',
  runningTotal: 'kindRunning',
  movingAverage: 'kindAverage',
  rank: 'kindRank',
  expression: 'kindExpression',
};

const AGGREGATE_TEXTS: Record<NonNullable<Calculated['function']>, TextKey> = {
  countDistinct: 'fnCountDistinct',
  sum: 'fnSum',
  avg: 'fnAvg',
  min: 'fnMin',
  max: 'fnMax',
};

export const kindText = (kind: Kind) => say(KIND_TEXTS[kind]);
export const aggregateText = (aggregate: NonNullable<Calculated['function']>) =>
  say(AGGREGATE_TEXTS[aggregate]);

/** The title that somebody gave it, or words for what it is: “Revenue: running total”. */
export function titleOfField(
  { title, kind, of, function: aggregate }: Calculated,
  { members }: Model,
): string {
  if (title) return title;
  const name = of === undefined ? '' : (members.get(of)?.title ?? of);
  const what = kind === 'aggregate' && aggregate ? aggregateText(aggregate) : kindText(kind);
  return name ? `${name}: ${what.toLocaleLowerCase()}` : what;
}
