/** Alerts: a notification with a condition is sent when the condition becomes true for a reader. */
import type { Query } from '@oriel/charts/pure';
import { invalid } from '../../platform/errors.ts';
import type { PublishedVersion } from '../dashboards/index.ts';
import type { Queries, QueryCall } from '../queries/index.ts';
import type { Condition } from './store.ts';
import type { Board } from './widget-queries.ts';

/** Throws a 400 unless the published dashboard has a chart with the measure. */
export function requireCondition(
  version: Pick<PublishedVersion, 'config' | 'snapshots'>,
  condition: Condition,
) {
  const { operator, value, measure } = condition;
  if (operator !== 'no_data' && value == null)
    throw invalid('condition.value', `is needed for ${operator}`, 'control_not_found');
  if (operator === 'changed_by_percent' && value! <= 0)
    throw invalid('condition.value', 'must be more than 0', 'control_not_found');
  if (!queryOf(version, condition))
    throw invalid(
      'condition',
      `The dashboard has no such chart with the measure ${measure}.`,
      'control_not_found',
    );
}

function queryOf(
  { config, snapshots }: Pick<PublishedVersion, 'config' | 'snapshots'>,
  condition: Condition,
) {
  const widget = (config.widgets ?? []).find(({ id, type }) => id === condition.widgetId && type === 'CHART');
  const asked = (widget?.config as { reportId?: unknown } | null | undefined)?.reportId;
  const snapshot = snapshots.find(({ reportId }) => reportId === asked);
  const query = (snapshot?.meta as { query?: Query | null } | undefined)?.query;
  return query?.measures?.includes(condition.measure) ? query : undefined;
}

/** The measure over all rows of the chart, or nothing if the dashboard has no such chart any more. */
export function conditionQuery({ version, asked, askedOf }: Board, condition: Condition): Query | undefined {
  if (!queryOf(version, condition)) return undefined;
  const [query] = askedOf.get(condition.widgetId)?.map((i) => asked[i] as Query) ?? [];
  if (!query) return undefined;
  const ranges = (query.timeDimensions ?? []).flatMap(({ dimension, dateRange }) =>
    dateRange ? [{ dimension, dateRange }] : [],
  );
  const { filters, segments, timezone } = query;
  return {
    measures: [condition.measure],
    ...(ranges.length ? { timeDimensions: ranges } : {}),
    ...(filters?.length ? { filters } : {}),
    ...(segments?.length ? { segments } : {}),
    ...(timezone ? { timezone } : {}),
  };
}

/** What the reader sees; null if there is no data. */
export async function measureCondition(
  queries: Pick<Queries, 'load' | 'meta'>,
  call: QueryCall,
  query: Query,
  { measure, operator }: Condition,
): Promise<number | null> {
  const loaded = await queries.load(call, query, { isMulti: false, isRenewed: false });
  const { data } = JSON.parse(Buffer.from(loaded as Uint8Array).toString('utf8')) as {
    data: Record<string, unknown>[];
  };
  const found = data[0]?.[measure];
  const value = found == null || found === '' ? null : Number(found);
  // A count says 0 where there are no rows.
  return operator === 'no_data' && value === 0 && (await counts(queries, call, measure)) ? null : value;
}

async function counts(queries: Pick<Queries, 'meta'>, call: QueryCall, measure: string): Promise<boolean> {
  const { cubes } = JSON.parse(Buffer.from(await queries.meta(call, false)).toString('utf8')) as {
    cubes: { measures: { name: string; aggType?: string }[] }[];
  };
  const { aggType } = cubes.flatMap(({ measures }) => measures).find(({ name }) => name === measure) ?? {};
  return aggType?.startsWith('count') === true;
}

export function isMet({ operator, value }: Condition, now: number | null, before: number | null): boolean {
  if (operator === 'no_data') return now === null;
  if (now === null) return false;
  if (operator === 'above') return now > value!;
  if (operator === 'below') return now < value!;
  if (before === null) return false;
  if (before === 0) return now !== 0;
  return (Math.abs(now - before) / Math.abs(before)) * 100 >= value!;
}
