/** Everything that the page of a dashboard asks for, with the filters and time grains of a notification. */
import { beginsWithAttributes, type Dashboard, withAttributes } from '@oriel/charts/pure';
import type { PublishedVersion } from '../dashboards/index.ts';
import type { QueryOrSql } from '../queries/index.ts';
import { type Layout, layOut } from '../renderings/index.ts';
import type { RunRow } from './runs.store.ts';

export interface Board {
  version: PublishedVersion;
  /** What copies are drawn by, so that a drawing asks for nothing that is not in `asked`. */
  layout: Layout;
  asked: QueryOrSql[];
  /** The places in `asked` of what each chart asks for, by its id; first the rows that it shows. */
  askedOf: Map<string, number[]>;
  /** What else decides how a copy looks: the same text means the same look. */
  look: string;
}

type RunChoices = Pick<RunRow, 'filters' | 'timeGrains' | 'timezone' | 'notificationFormat'>;

/** That of one reader: filters may begin with an attribute of theirs. */
export async function boardFor(
  board: Board,
  run: RunChoices,
  attributes: () => Promise<Readonly<Record<string, unknown>>>,
): Promise<Board> {
  const { version, layout } = board;
  if (!beginsWithAttributes(version.config)) return board;
  const config = withAttributes(version.config, await attributes());
  return boardOf({ ...version, config }, run, layout.chosen.askedAt);
}

export function boardOf(version: PublishedVersion, run: RunChoices, askedAt?: Date): Board {
  const { config, snapshots } = version;
  const settings = (config.settings ?? {}) as { timezone?: string };
  const layout = layOut({ config, reportSnapshots: snapshots } as object as Dashboard, {
    filters: run.filters ?? [],
    timeGrains: run.timeGrains ?? [],
    timezone: settings.timezone ?? run.timezone,
    askedAt,
  });
  const asked: QueryOrSql[] = [];
  const askedOf = new Map<string, number[]>();
  for (const { widget, ask } of layout.charts) {
    const sql = sqlOf(version, widget.config?.reportId);
    const own = sql ? [sql] : ask ? [...ask.queries, ...(ask.total ? [ask.total] : [])] : [];
    askedOf.set(
      widget.id,
      own.map((_, i) => asked.length + i),
    );
    asked.push(...own);
  }
  const { filters, grains, timezone } = layout.chosen;
  const look = JSON.stringify([version.id, [...filters], [...grains], timezone, run.notificationFormat]);
  return { version, layout, asked, askedOf, look };
}

/** The SQL of a report without a query; null for all others. */
function sqlOf({ snapshots }: PublishedVersion, reportId: unknown): string | null {
  const snapshot = snapshots.find((each) => each.reportId === reportId);
  const { meta, sqlQuery } = (snapshot ?? {}) as {
    meta?: { query?: object | null };
    sqlQuery?: string | null;
  };
  return meta?.query ? null : (sqlQuery ?? null);
}
