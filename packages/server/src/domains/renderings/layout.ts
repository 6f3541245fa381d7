/**
 * What a dashboard asks for, with what is chosen in its controls: the same queries for every reader. Policies make other
 * statements of them for each.
 */
import {
  type Ask,
  type AskContext,
  askFor,
  chartsOf,
  type Dashboard,
  type FilterValue,
  type Narrowing,
  presetFilters,
  presetGrains,
  problemOf,
  type Widget,
} from '@oriel/charts/pure';
import { ApiError } from '../../platform/errors.ts';

export interface Choices {
  /** Filters that replace the presets of the dashboard. One that the dashboard has no control for is an error. */
  filters?: readonly { member: string; operator?: string | null; value?: unknown }[] | undefined;
  timeGrains?: readonly { member: string; grain: string }[] | undefined;
  /** What the reader clicked on in charts that filter the others. */
  crossFilters?: readonly ({ widgetId: string } & Narrowing)[] | undefined;
  timezone?: string | undefined;
  /** What relative times are relative to. */
  askedAt?: Date | undefined;
}

export type LaidChart = { widget: Widget; title: string } & (
  | { ask: Ask; problem?: undefined }
  /** Why it cannot be shown to anybody. */
  | { ask?: undefined; problem: string }
);

export interface Layout {
  chosen: AskContext & { crossFilters: Map<string, { narrowings: Narrowing[] }> };
  /** Charts in all tabs. */
  charts: LaidChart[];
}

type DashboardContent = Pick<Dashboard, 'config' | 'reportSnapshots'>;

/**
 * Throws a 409 `rendering_failed` for choices that the dashboard has no controls for. Uses the first known of `zones`
 * if neither the choices nor the dashboard name one.
 */
export function layOut(
  { config, reportSnapshots }: DashboardContent,
  choices: Choices,
  zones: readonly unknown[] = [],
): Layout {
  const widgets = config.widgets ?? [];
  const filterWidgets = widgets.filter(
    ({ type, config }) => type === 'FILTER' && typeof config?.member === 'string',
  );
  const chosen: Layout['chosen'] = {
    filters: withoutCleared(presetFilters(filterWidgets, filtersOf(choices, filterWidgets), new Map())),
    grains: presetGrains(widgets, grainsOf(choices, widgets)),
    crossFilters: crossFiltersOf(choices, { config, reportSnapshots }),
    timezone: [choices.timezone, config.settings?.timezone, ...zones].map(knownZone).find(Boolean),
    askedAt: choices.askedAt ?? new Date(),
    filterWidgets: () => filterWidgets,
  };
  const charts = chartsOf(widgets).map((widget): LaidChart => {
    const { reportId, problem } = widget.config ?? {};
    const snapshot = reportSnapshots.find((each) => each.reportId === reportId);
    const title = String(widget.config?.title ?? (snapshot?.title || snapshot?.name || widget.id));
    if (!snapshot) return { widget, title, problem: 'its report is missing' };
    if (snapshot.meta?.problem) return { widget, title, problem: String(snapshot.meta.problem) };
    if (typeof problem === 'string') return { widget, title, problem };
    return { widget, title, ask: askFor(chosen, snapshot, widget.id) };
  });
  return { chosen, charts };
}

export const failure = (title: string, reason: string) =>
  new ApiError('rendering_failed', {
    message: title
      ? `The widget “${title}” could not be drawn: ${reason}`
      : `The dashboard could not be drawn: ${reason}`,
  });

export function knownZone(zone: unknown): string | undefined {
  if (typeof zone !== 'string' || !zone) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** A filter that was cleared goes over a preset, and then is none. */
const withoutCleared = (filters: Map<string, FilterValue>) =>
  new Map(
    [...filters].filter(([, { operator, value }]) => operator !== 'equals' || (value ?? null) !== null),
  );

/** A filter that is gone from the dashboard, or says nothing, would otherwise leave the picture unfiltered. */
function filtersOf({ filters = [] }: Choices, filterWidgets: readonly Widget[]): Map<string, FilterValue> {
  const known = new Set(filterWidgets.map(({ config }) => config!.member));
  const given = new Map<string, FilterValue>();
  for (const { member, operator, value } of filters) {
    if (!known.has(member)) throw missingControl(member, 'filter');
    const filter = { operator: operator ?? 'equals', value };
    const problem = problemOf(filter);
    if (problem) throw new ApiError('rendering_failed', { message: `The filter for ${member} ${problem}.` });
    given.set(member, filter);
  }
  return given;
}

function grainsOf({ timeGrains = [] }: Choices, widgets: readonly Widget[]): Map<string, string> {
  const known = new Set(
    widgets.flatMap(({ type, config }) => (type === 'TIME_GRAIN' ? [config?.member] : [])),
  );
  return new Map(
    timeGrains.map(({ member, grain }) => {
      if (!known.has(member)) throw missingControl(member, 'choice of the time grain');
      return [member, grain];
    }),
  );
}

/** A click on a chart that filters no others, or on what it does not show, would leave the picture unfiltered too. */
function crossFiltersOf({ crossFilters = [] }: Choices, { config, reportSnapshots }: DashboardContent) {
  const given = new Map<string, { narrowings: Narrowing[] }>();
  for (const { widgetId, ...narrowing } of crossFilters) {
    const widget = config.widgets?.find(({ id }) => id === widgetId);
    const { dimensions = [], timeDimensions = [] } =
      reportSnapshots.find(({ reportId }) => reportId === widget?.config?.reportId)?.meta?.query ?? {};
    const shown = 'range' in narrowing ? timeDimensions.map(({ dimension }) => dimension) : dimensions;
    if (widget?.config?.crossFilter !== true || !shown.includes(narrowing.member))
      throw missingControl(narrowing.member, 'chart whose marks filter the others');
    const { narrowings } = given.get(widgetId) ?? { narrowings: [] };
    given.set(widgetId, { narrowings: [...narrowings, narrowing] });
  }
  return given;
}

const missingControl = (member: string, what: string) =>
  new ApiError('rendering_failed', { message: `The dashboard has no ${what} for ${member} any more.` });
