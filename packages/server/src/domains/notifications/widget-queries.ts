/** Everything that the page of a dashboard asks for, with the filters and time grains of a notification. */
import {
  askFor,
  type Chosen,
  type Dashboard,
  presetFilters,
  presetGrains,
  type Widget,
} from '@oriel/charts/pure';
import type { PublishedVersion } from '../dashboards/index.ts';
import type { QueryOrSql } from '../queries/index.ts';
import type { RunRow } from './runs.store.ts';

export interface Board {
  version: PublishedVersion;
  chosen: Chosen;
  asked: QueryOrSql[];
  /** The places in `asked` of what each chart asks for, by its id; first the rows that it shows. */
  askedOf: Map<string, number[]>;
  /** What else decides how a copy looks: the same text means the same look. */
  look: string;
}

type Choices = Pick<RunRow, 'filters' | 'timeGrains' | 'timezone' | 'notificationFormat'>;

export function boardOf(version: PublishedVersion, run: Choices): Board {
  const widgets = (version.config.widgets ?? []) as Widget[];
  const filterWidgets = widgets.filter(({ type, config }) => type === 'FILTER' && config?.member);
  const given = new Map(
    (run.filters ?? []).map(({ member, operator, value }) => [
      member,
      { operator: operator ?? 'equals', value },
    ]),
  );
  const grains = new Map((run.timeGrains ?? []).map(({ member, grain }) => [member, grain]));
  const settings = (version.config.settings ?? {}) as { timezone?: string };
  const chosen: Chosen = {
    filters: presetFilters(filterWidgets, given as never, new Map()),
    grains: presetGrains(widgets, grains),
    timezone: settings.timezone ?? run.timezone,
    askedAt: new Date(),
    filterWidgets: () => filterWidgets,
  };
  const asked: QueryOrSql[] = [];
  const askedOf = new Map<string, number[]>();
  for (const widget of widgets) {
    const own = askedBy(version, widget, chosen);
    askedOf.set(
      widget.id,
      own.map((_, i) => asked.length + i),
    );
    asked.push(...own);
  }
  const { filters, grains: chosenGrains, timezone } = chosen;
  const look = JSON.stringify([
    version.id,
    [...filters],
    [...chosenGrains],
    timezone,
    run.notificationFormat,
  ]);
  return { version, chosen, asked, askedOf, look };
}

function askedBy({ snapshots }: PublishedVersion, widget: Widget, chosen: Chosen): QueryOrSql[] {
  if (widget.type !== 'CHART') return [];
  const snapshot = snapshots.find(({ reportId }) => reportId === widget.config?.reportId);
  if (!snapshot) return [];
  const { meta, sqlQuery } = snapshot as { meta?: { query?: object | null }; sqlQuery?: string | null };
  if (!meta?.query) return sqlQuery ? [sqlQuery] : [];
  const { queries, total } = askFor(chosen, snapshot as Dashboard['reportSnapshots'][number], widget.id);
  return [...queries, ...(total ? [total] : [])];
}
