/** What people read about cubes and members whose model says nothing. */
import type { Granularity, Interval, ModelElement } from '../model.ts';

/** `created_at` becomes `Created At`. */
export const titleOf = ({ title, name }: Pick<ModelElement, 'title' | 'name'>): string =>
  title ??
  name
    .split('_')
    .filter(Boolean)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join(' ');

export interface ShownGranularity {
  readonly name: string;
  readonly title: string;
  readonly interval: string;
  readonly offset?: string;
  readonly origin?: string;
}

export const shownGranularity = (granularity: Granularity): ShownGranularity => ({
  name: granularity.name,
  title: titleOf(granularity),
  interval: intervalText(granularity.interval),
  ...(granularity.offset ? { offset: intervalText(granularity.offset) } : {}),
  ...(granularity.origin === undefined ? {} : { origin: granularity.origin }),
});

const intervalText = (interval: Interval) => interval.map(({ count, unit }) => `${count} ${unit}`).join(' ');
