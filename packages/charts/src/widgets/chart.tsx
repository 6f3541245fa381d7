/** A card with the data of a report: its title and menu, and the chart, the figure or the table in it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { csvOf, download } from '../csv.ts';
import { canDrill, type DrillTarget, namesOf } from '../drill-query.ts';
import { shownOf } from '../format.ts';
import { SafeHtml } from '../html.tsx';
import { lazy } from '../lazy.tsx';
import { crossing } from '../query.ts';
import type { DrawProps } from '../rows.ts';
import { useBoard, useShared } from '../shared.ts';
import { columnsOf } from '../table.ts';
import type { Problem, Snapshot, Widget } from '../types.ts';
import { useRows } from '../use-rows.ts';
import { Kpi } from './kpi.tsx';
import { PivotTable } from './pivot-table.tsx';
import { Table } from './table.tsx';

const Vega = lazy(() => import('../vega/vega-chart.tsx').then(({ VegaChart }) => VegaChart));
const WorldMap = lazy(() => import('../map/world-map.tsx').then(({ WorldMap }) => WorldMap));

export function Chart({ widget }: { widget: Widget }) {
  const board = useBoard();
  const snapshot = board.dashboard!.reportSnapshots.find(
    ({ reportId }) => reportId === widget.config?.reportId,
  );
  const isPending = !snapshot && board.dashboard!.pendingReports?.has(widget.config?.reportId) === true;
  const isMissing = snapshot === undefined && !isPending;
  const refusal = snapshot?.meta?.problem;
  useEffect(() => {
    if (isMissing || refusal) board.rendered(widget.id);
    if (refusal) board.refused(widget.id, refusal);
  }, [isMissing, refusal]);
  if (isPending) return <Card title={String(widget.config?.title ?? '')} body={<Skeleton />} />;
  if (!snapshot || refusal)
    return <Card title={String(widget.config?.title ?? '')} body={<Failure problem={undefined} />} />;
  return <Report widget={widget} snapshot={snapshot} />;
}

function Report({ widget, snapshot }: { widget: Widget; snapshot: Snapshot }) {
  const board = useBoard();
  const [asTable, setAsTable] = useState(false);
  const { rows, problem, isLoading, retry } = useRows(board, snapshot, widget.id);
  const title = String(widget.config?.title ?? (snapshot.title || snapshot.name || ''));
  const isDrawn = snapshot.kind === 'vega' || snapshot.kind === 'map';
  const isEmpty = rows?.rows.length === 0;
  const drawsItself = isDrawn && !asTable && !isEmpty;
  useEffect(() => {
    if (problem)
      board.tell('error', {
        message: problem.message,
        code: problem.code,
        context: widget.id,
        fatal: false,
      });
    if (problem || (rows && !drawsItself)) board.rendered(widget.id);
  }, [rows, problem, drawsItself]);

  const items: MenuItem[] = [];
  if (isDrawn)
    items.push({ label: board.say(asTable ? 'showChart' : 'showTable'), run: () => setAsTable(!asTable) });
  if (board.mayExport && rows && !isEmpty) items.push({ label: board.say('csv'), run: () => exportCsv() });

  if (board.explore && rows && snapshot.kind !== 'html')
    items.push({ label: board.say('exploreFrom'), run: () => board.explore!(rows.query) });

  function exportCsv() {
    const columns = columnsOf(rows!.rows, rows!.result.annotation, rows!.query, snapshot, board.formats);
    download(`${title || 'data'}.csv`, csvOf(rows!.rows, columns));
    board.tell('download', {
      format: 'csv',
      target: 'widget',
      widgetId: widget.id,
      title,
      rowCount: rows!.rows.length,
    });
  }

  const props = rows && { widgetId: widget.id, snapshot, title, rows };
  const body = problem ? (
    <Failure problem={problem} onRetry={retry} />
  ) : !props ? (
    <Skeleton />
  ) : isEmpty && snapshot.kind !== 'kpi' ? (
    <div class="empty">
      <strong>{board.say('noRows')}</strong>
      <span>{board.say('noRowsHint')}</span>
    </div>
  ) : (
    <Draw {...props} asTable={asTable} />
  );
  return (
    <Card
      title={title}
      description={snapshot.description ?? undefined}
      items={items}
      body={body}
      isStale={isLoading && rows !== undefined}
      kind={snapshot.kind ?? 'table'}
      marks={<CrossMarks widgetId={widget.id} snapshot={snapshot} />}
    />
  );
}

/** What the viewer clicked on in this chart, and that clicks on others filter it. */
function CrossMarks({ widgetId, snapshot }: { widgetId: string; snapshot: Snapshot }) {
  const board = useBoard();
  const { crossFilters, formats, say } = board;
  const clicked = crossFilters.get(widgetId);
  const sources = new Set(
    crossing(snapshot.meta?.query ?? {}, widgetId, crossFilters).map(({ source }) => source),
  );
  const names = [...sources].map((source) => namesOf(crossFilters.get(source)!, formats).join(', '));
  return (
    <>
      {names.length > 0 && (
        <span class="crossed" role="img" aria-label={say('crossFiltered', { names: names.join('; ') })}>
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <title>{say('crossFiltered', { names: names.join('; ') })}</title>
            <path d="M2 3h12l-4.6 5.6V13l-2.8-1.6V8.6z" />
          </svg>
        </span>
      )}
      {clicked && <Chip clicked={clicked} />}
    </>
  );
}

function Chip({ clicked }: { clicked: DrillTarget }) {
  const { board, details } = useShared();
  const { formats, say } = board;
  const names = namesOf(clicked, formats).join(', ');
  return (
    <span class="cross-chip">
      {details && canDrill(clicked.annotation, clicked.member) ? (
        <button type="button" title={`${names}: ${say('details')}`} onClick={() => details(clicked)}>
          {names}
        </button>
      ) : (
        <span title={names}>{names}</span>
      )}
      <button
        type="button"
        class="no-print"
        aria-label={say('clearCrossFilter', { names })}
        onClick={() => board.clearCrossFilter(clicked.widgetId)}
      >
        <span aria-hidden="true">×</span>
      </button>
    </span>
  );
}

const isPivot = ({ spec }: Snapshot) =>
  ['rows', 'columns', 'measures'].every((part) => Array.isArray(spec?.pivot?.[part]));

/** What a report is drawn as, by its kind. */
export function Draw({ asTable, ...props }: DrawProps & { asTable: boolean }) {
  const { kind } = props.snapshot;
  if (kind === 'vega' && !asTable) return <Vega {...props} />;
  if (kind === 'map' && !asTable) return <WorldMap {...props} />;
  if (kind === 'kpi') return <Kpi {...props} />;
  if (kind === 'html') return <Html {...props} />;
  if (kind === 'table' && isPivot(props.snapshot) && !asTable) return <PivotTable {...props} />;
  return <Table {...props} spec={kind === 'table' ? props.snapshot.spec : undefined} />;
}

/** The template is filled with the first row. */
function Html({ snapshot, rows: { rows, result } }: DrawProps) {
  const { formats } = useBoard();
  const template = String(snapshot.spec?.template ?? '');
  const row = rows[0] ?? {};
  const fill = (text: string) =>
    text.replaceAll(/\{\{\s*([\w.]+)\s*\}\}/g, (_all, member: string) =>
      formats.value(
        row[member],
        shownOf(result.annotation, member),
        snapshot.preferences?.columnFormats?.[member],
      ),
    );
  return <SafeHtml template={template} fill={fill} />;
}

export function Skeleton() {
  const { say } = useBoard();
  return (
    <div class="skeleton fill" role="status">
      <span class="hidden">{say('loading')}</span>
    </div>
  );
}

const HINTS: Record<number, 'offline' | 'busy' | 'tooLong'> = {
  0: 'offline',
  429: 'busy',
  431: 'tooLong',
  503: 'busy',
};

/** Messages of the server are for developers: the host gets them, the viewer does not. */
export function Failure({ problem, onRetry }: { problem: Problem | undefined; onRetry?: () => void }) {
  const { say } = useBoard();
  const { status } = problem ?? {};
  const hint = (status !== undefined && HINTS[status]) || 'failedHint';
  return (
    <div class="empty" role="alert">
      <strong>{say('failed')}</strong>
      <span>{say(hint)}</span>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          {say('tryAgain')}
        </button>
      )}
    </div>
  );
}

interface MenuItem {
  label: string;
  run(): void;
}

interface CardProps {
  title: string;
  description?: string | undefined;
  items?: MenuItem[];
  body: ComponentChildren;
  isStale?: boolean;
  kind?: string;
  /** Marks in the head of the card, beside the title. */
  marks?: ComponentChildren;
}

export function Card({ title, description, items = [], body, isStale = false, kind = '', marks }: CardProps) {
  return (
    <section class={`card card-${kind}`} role="group" aria-label={title} aria-busy={isStale}>
      {(title || items.length > 0) && (
        <header class="card-head">
          <h2 title={description}>{title}</h2>
          {marks}
          {items.length > 0 && <Menu title={title} items={items} />}
        </header>
      )}
      <div class={isStale ? 'card-body stale' : 'card-body'}>{body}</div>
    </section>
  );
}

function Menu({ title, items }: { title: string; items: MenuItem[] }) {
  const { say } = useBoard();
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  useClosing(root, isOpen, () => setOpen(false));
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const buttons = [...root.current!.querySelectorAll<HTMLElement>('[role=menuitem]')];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  };
  return (
    <div class="menu no-print" ref={root} onKeyDown={onKey}>
      <button
        type="button"
        class="icon"
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={say('menu', { title })}
        onClick={() => setOpen(!isOpen)}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <circle cx="3" cy="8" r="1.4" />
          <circle cx="8" cy="8" r="1.4" />
          <circle cx="13" cy="8" r="1.4" />
        </svg>
      </button>
      {isOpen && (
        <div role="menu" class="popover right">
          {items.map(({ label, run }) => (
            <button
              key={label}
              type="button"
              role="menuitem"
              onClick={() => {
                setOpen(false);
                run();
              }}
            >
              {label}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Closes what is open by Escape, and by a click elsewhere. */
export function useClosing(root: { current: HTMLElement | null }, isOpen: boolean, close: () => void) {
  useEffect(() => {
    if (!isOpen) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      close();
      root.current?.querySelector<HTMLElement>('button')?.focus();
    };
    const onPress = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) close();
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', onPress);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('pointerdown', onPress);
    };
  }, [isOpen]);
}
