/** The rows of a report: asked for in one request, with those of the periods that it is compared with. */
import {
  type Choices,
  compare,
  fillMissing,
  filteredMembers,
  type Period,
  periodOf,
  queryFor,
  shifted,
  totalQuery,
  typed,
} from './query.ts';
import type { MetaCube, Offset, Query, Result, Row, Snapshot, Widget } from './types.ts';

export interface Rows {
  result: Result;
  rows: Row[];
  query: Query;
  /** Rows of the earlier period and of the sparkline of a KPI. */
  before?: Row[];
  trend?: Row[];
  /** The periods that the rows and those before are about. */
  period?: Period;
  earlierPeriod?: Period;
  /** The measures of the whole query, also of rows that its limit leaves out. */
  total?: Row;
}

/** What a report is drawn from. */
export interface DrawProps {
  widgetId: string;
  snapshot: Snapshot;
  title: string;
  rows: Rows;
}

/** What is asked for depends on what the viewer has chosen. */
export interface AskContext extends Choices {
  askedAt: Date;
  filterWidgets(): Widget[];
}

export interface Ask {
  queries: Query[];
  read(results: Result[]): Rows;
  /** The query for the total, which is sent last; only if a total makes sense. */
  total?: Query | undefined;
}

const isOffset = (offset: unknown): offset is Offset =>
  typeof (offset as Offset)?.amount === 'number' && typeof (offset as Offset)?.unit === 'string';

export function askFor(chosen: AskContext, snapshot: Snapshot, widgetId: string): Ask {
  const query = queryFor(snapshot, widgetId, chosen, chosen.filterWidgets());
  return snapshot.kind === 'kpi'
    ? askForKpi(chosen, query, snapshot, widgetId)
    : askForRows(chosen, query, snapshot);
}

function askForRows({ askedAt }: AskContext, query: Query, snapshot: Snapshot): Ask {
  const comparisons = (snapshot.periodComparisons ?? []).filter(({ offset }) => isOffset(offset));
  const earlier = comparisons.map(({ timeDimension, offset }) =>
    shifted(query, timeDimension, offset, askedAt),
  );
  return {
    queries: [query, ...earlier.filter((each) => each !== undefined)],
    total: snapshot.kind === 'table' && snapshot.spec?.totals === true ? totalQuery(query) : undefined,
    read([result, ...others]) {
      let rows = fillMissing(typed(result!), query, snapshot);
      for (const [i, comparison] of comparisons.entries()) {
        // Without a range of time that can be moved, rows are compared with earlier ones of the same answer.
        const before = earlier[i] ? typed(others.shift()!) : rows;
        rows = compare(rows, before, query, comparison);
      }
      const total = others[0] && typed(others[0])[0];
      return { result: result!, rows, query, ...(total ? { total } : {}) };
    },
  };
}

function askForKpi(chosen: AskContext, query: Query, snapshot: Snapshot, widgetId: string): Ask {
  const { spec } = snapshot;
  const { comparison, sparkline } = spec ?? {};
  const period = comparison?.periodComparison ?? (isOffset(comparison?.offset) ? comparison : undefined);
  const earlier: Query | undefined = comparison?.query
    ? queryFor({ ...snapshot, meta: { query: comparison.query } }, widgetId, chosen, chosen.filterWidgets())
    : period && isOffset(period.offset)
      ? shifted(query, period.timeDimension, period.offset, chosen.askedAt)
      : undefined;
  const trend: Query | undefined = sparkline?.timeDimension && {
    ...query,
    // A calculated field needs what it is computed from.
    measures: query.measures?.includes(spec.measure) ? [spec.measure] : query.measures,
    timeDimensions: [
      ...(query.timeDimensions ?? []).filter(({ dimension }) => dimension !== sparkline.timeDimension),
      {
        dimension: sparkline.timeDimension,
        granularity: sparkline.granularity ?? 'day',
        dateRange:
          sparkline.dateRange ??
          query.timeDimensions?.find(({ dimension }) => dimension === sparkline.timeDimension)?.dateRange,
      },
    ],
    order: { [sparkline.timeDimension]: 'asc' },
  };
  const shownPeriod = periodOf(query, chosen.askedAt);
  const earlierPeriod = earlier && periodOf(earlier, chosen.askedAt);
  return {
    queries: [query, earlier, trend].filter((each) => each !== undefined),
    read([result, ...others]) {
      const before = earlier ? typed(others.shift()!) : undefined;
      return {
        result: result!,
        rows: typed(result!),
        query,
        ...(shownPeriod ? { period: shownPeriod } : {}),
        ...(before ? { before } : {}),
        ...(before && earlierPeriod ? { earlierPeriod } : {}),
        ...(trend ? { trend: typed(others.shift()!) } : {}),
      };
    },
  };
}

/**
 * The query for the total; none if a filter may be by a measure. Such a filter chooses among the rows, but would keep
 * all or nothing of a total.
 */
export async function totalOf(
  chosen: AskContext & { meta(): Promise<MetaCube[]> },
  { total }: Ask,
): Promise<Query[]> {
  if (!total) return [];
  const dimensions = new Set(chosen.filterWidgets().map(({ config }) => config!.member));
  const unsure = filteredMembers(total.filters).filter((member) => !dimensions.has(member));
  if (unsure.length === 0) return [total];
  const cubes = await chosen.meta().catch(() => undefined);
  const known = new Set(cubes?.flatMap((cube) => cube.dimensions.map(({ name }) => name)));
  return unsure.every((member) => known.has(member)) ? [total] : [];
}
