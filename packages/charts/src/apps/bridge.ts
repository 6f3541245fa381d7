/**
 * The page's side of an application: it runs the queries of this dashboard's charts for the viewer, and hands over rows.
 * The application may send anything; it never gets a token, and asks for nothing but these charts and filters.
 */
import type { Board } from '../board.ts';
import { askFor, type Rows } from '../rows.ts';
import { type FilterValue, Problem, type Snapshot, type Widget } from '../types.ts';
import type { Answer, DashboardDescription, Settings, ToApplication } from './messages.ts';

const AT_ONCE = 4;
const WAITING_MAX = 100;
const ROWS_MAX = 50_000;
const MESSAGES = { max: 500, withinMs: 10_000, length: 1_000_000 };
const VALUES = { max: 1000, length: 1000 };

export interface Bridge {
  /** Tells the application that rows or settings have changed. */
  changed(settings: Settings): void;
  close(): void;
}

export type SetFilter = (member: string, filter: FilterValue | undefined) => void;

export function connectApplication(
  board: Board,
  port: MessagePort,
  { onStarted, onStopped, setFilter }: { onStarted(): void; onStopped(): void; setFilter: SetFilter },
): Bridge {
  const waiting: { id: number; chart: string }[] = [];
  let running = 0;
  let counted = 0;
  let countedFrom = 0;
  let isOpen = true;
  let hasStarted = false;

  const send = (message: ToApplication) => {
    if (isOpen) port.postMessage(message);
  };

  function close() {
    isOpen = false;
    waiting.length = 0;
    port.close();
  }

  /**
   * An application that sends without end, or too much at once, would keep the page from doing anything else. A message is
   * a text, so that its length is known before anything is made of it.
   */
  function isTooMuch(data: unknown): boolean {
    if (typeof data !== 'string' || data.length > MESSAGES.length) return true;
    const now = performance.now();
    if (now - countedFrom > MESSAGES.withinMs) {
      countedFrom = now;
      counted = 0;
    }
    return ++counted > MESSAGES.max;
  }

  async function answer({ id, chart }: { id: number; chart: string }) {
    running++;
    try {
      send({ type: 'rows', id, answer: await rowsOf(board, chart) });
    } catch (error) {
      const { code, message } =
        error instanceof Problem ? error : new Problem(0, 'error', 'The rows could not be loaded.');
      send({ type: 'failed', id, code, message });
    }
    running--;
    next();
  }

  function next() {
    while (isOpen && running < AT_ONCE && waiting.length) void answer(waiting.shift()!);
    if (hasStarted && running === 0 && isOpen) onStarted();
  }

  function take(message: Record<string, unknown>) {
    const { type, id, chart, member, filter } = message;
    if (type === 'started') {
      hasStarted = true;
      next();
    } else if (type === 'load' && Number.isSafeInteger(id) && typeof chart === 'string') {
      if (waiting.length >= WAITING_MAX)
        return send({
          type: 'failed',
          id: id as number,
          code: 'busy',
          message: 'Too many queries are waiting.',
        });
      waiting.push({ id: id as number, chart });
      next();
    } else if (type === 'filter') takeFilter(board, member, filter, setFilter);
  }

  port.onmessage = ({ data }) => {
    if (!isOpen) return;
    const message = isTooMuch(data) ? undefined : parsed(data);
    if (message) return take(message);
    close();
    onStopped();
  };
  return { close, changed: (settings) => send({ type: 'changed', settings }) };
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' ? ((message ?? undefined) as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

const chartsOf = (board: Board): { widget: Widget; snapshot: Snapshot }[] =>
  board.widgets.flatMap((widget) => {
    const snapshot =
      widget.type === 'CHART' &&
      board.dashboard!.reportSnapshots.find(({ reportId }) => reportId === widget.config?.reportId);
    return snapshot ? [{ widget, snapshot }] : [];
  });

async function rowsOf(board: Board, chart: string): Promise<Answer> {
  const named = chartsOf(board).find(({ widget }) => widget.id === chart);
  if (!named) throw new Problem(404, 'chart_not_found', 'The dashboard has no chart with this id.');
  const { queries, read } = askFor(board, { ...named.snapshot, kind: 'table' }, chart);
  const { rows, result }: Rows = read(await board.load(queries));
  const { measures, dimensions, timeDimensions } = result.annotation;
  // A time is a column in its granularities, not under its plain name.
  const times = Object.entries(timeDimensions).filter(([, { granularity }]) => granularity);
  const columns = Object.entries({ ...dimensions, ...Object.fromEntries(times), ...measures }).map(
    ([member, { title, type }]) => ({ member, title, type }),
  );
  return { rows: rows.slice(0, ROWS_MAX), columns };
}

const isPlain = (value: unknown) =>
  value === null ||
  ['number', 'boolean'].includes(typeof value) ||
  (typeof value === 'string' && value.length <= VALUES.length);

function takeFilter(board: Board, member: unknown, given: unknown, setFilter: SetFilter) {
  if (typeof member !== 'string' || !board.filterWidgets().some(({ config }) => config!.member === member))
    return;
  if (given === null) return setFilter(member, undefined);
  const { operator = 'equals', value } = (given ?? {}) as Partial<FilterValue>;
  const values = Array.isArray(value) ? value : [value];
  if (typeof operator !== 'string' || values.length > VALUES.max || !values.every(isPlain)) return;
  setFilter(member, { operator, value: Array.isArray(value) ? [...value] : value });
}

const stringOrNull = (text: unknown) => (typeof text === 'string' ? text : null);

export const describe = (board: Board): DashboardDescription => ({
  title: board.title,
  description: board.dashboard!.description || board.dashboard!.config.description || null,
  charts: chartsOf(board).map(({ widget, snapshot }) => ({
    id: widget.id,
    title: stringOrNull(widget.config?.title) ?? snapshot.title ?? snapshot.name ?? null,
    kind: snapshot.kind ?? null,
  })),
  filters: board
    .filterWidgets()
    .map(({ config }) => ({ member: config!.member, title: stringOrNull(config!.title) })),
});

export const settingsOf = ({ locale, timezone, tokens, filters }: Board): Settings => ({
  locale,
  timezone: timezone ?? null,
  theme: tokens,
  filters: Object.fromEntries(filters),
});
