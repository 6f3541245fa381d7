/** The rows behind a figure, a mark or a cell. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { add, addDays } from '../dates.ts';
import { useApp } from '../page.tsx';
import { membersOf, typed } from '../query.ts';
import type { Problem, Query, Row } from '../types.ts';
import { Failure } from './chart.tsx';
import type { Rows } from './rows.ts';
import { Table } from './table.tsx';

const ROWS_MAX = 200;

export interface Drilled {
  widgetId: string;
  title: string;
  member: string;
  value: unknown;
  /** The query of the widget, narrowed down to the row. */
  query: Query;
}

export function drillFrom({
  widgetId,
  title,
  member,
  row,
  query,
  value,
}: {
  widgetId: string;
  title: string;
  member: string;
  row: Row;
  query: Query;
  value: unknown;
}): Drilled {
  const filters = [...(query.filters ?? [])];
  for (const dimension of query.dimensions ?? []) {
    const found = row[dimension];
    if (found === undefined) continue;
    filters.push(
      found === null
        ? { member: dimension, operator: 'notSet' }
        : { member: dimension, operator: 'equals', values: [String(found)] },
    );
  }
  const timeDimensions = (query.timeDimensions ?? []).map(({ dimension, granularity, dateRange }) => {
    const bucket = granularity && row[`${dimension}.${granularity}`];
    if (!bucket) return { dimension, ...(dateRange ? { dateRange } : {}) };
    const day = (typeof bucket === 'number' ? new Date(bucket).toISOString() : String(bucket)).slice(0, 10);
    return { dimension, dateRange: [day, addDays(add(day, 1, granularity), -1)] };
  });
  return { widgetId, title, member, value, query: { ...query, filters, timeDimensions } };
}

export function Drill({ widgetId, title, member, value, query, onClose }: Drilled & { onClose(): void }) {
  const app = useApp();
  const { say } = app;
  const dialog = useRef<HTMLDialogElement>(null);
  const [rows, setRows] = useState<Rows>();
  const [problem, setProblem] = useState<Problem>();
  const [isEmpty, setEmpty] = useState(false);

  useEffect(() => {
    dialog.current!.showModal();
    app.host.send('drilldown', { member, value: value ?? null, widgetId });
    void load().catch(setProblem);
  }, []);

  async function load() {
    const cubes = await app.meta();
    const measure = cubes.flatMap(({ measures }) => measures).find(({ name }) => name === member);
    const asked = detailsOf(cubes, member, measure?.drillMembers ?? [], query);
    if (!asked) return setEmpty(true);
    const [result] = await app.load([asked]);
    if (result!.data.length === 0) return setEmpty(true);
    setRows({ result: result!, rows: typed(result!), query: asked });
  }

  return (
    <dialog
      ref={dialog}
      class="drill-dialog"
      aria-label={`${title}: ${say('details')}`}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <header class="card-head">
        <h2>{`${title}: ${say('details')}`}</h2>
        <button type="button" onClick={() => dialog.current!.close()}>
          {say('close')}
        </button>
      </header>
      {problem ? (
        <Failure problem={problem} />
      ) : isEmpty ? (
        <div class="empty">{say('noDetails')}</div>
      ) : rows ? (
        <Table widgetId={widgetId} title={title} snapshot={{ reportId: 0 }} rows={rows} />
      ) : (
        <div class="skeleton fill" role="status" />
      )}
    </dialog>
  );
}

/** By the drill members of the measure; of a view, by those of its own members that mean the same. */
function detailsOf(
  cubes: { name: string; dimensions: { name: string; aliasMember?: string }[] }[],
  member: string,
  drillMembers: string[],
  query: Query,
): Query | undefined {
  const owner = member.split('.')[0];
  const own = cubes.find(({ name }) => name === owner)?.dimensions ?? [];
  const dimensions = drillMembers.map(
    (drilled) => own.find(({ aliasMember }) => aliasMember === drilled)?.name ?? drilled,
  );
  const used = membersOf(query);
  const asked = [...new Set([...dimensions, ...(query.dimensions ?? [])])];
  if (!asked.length || !used.length) return undefined;
  const { filters, segments, timezone, timeDimensions } = query;
  return {
    dimensions: asked,
    measures: [member],
    timeDimensions: (timeDimensions ?? []).filter(({ dateRange }) => dateRange),
    ...(filters?.length ? { filters } : {}),
    ...(segments?.length ? { segments } : {}),
    ...(timezone ? { timezone } : {}),
    order: { [member]: 'desc' },
    limit: ROWS_MAX,
  };
}
