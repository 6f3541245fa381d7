/** What a dashboard shows where, for small pictures of it: kinds and places, and nothing of the data. */
import type { DashboardOutline } from '@oriel/contract';
import type { DashboardConfig, Widget } from './config-rules.ts';
import type { StoredSnapshot } from './snapshots.ts';

type OutlineKind = DashboardOutline[number]['shows'];

/** What is below would be outside of the picture. */
const ITEMS_MAX = 60;

export function outlineOf(
  { kind, widgets }: DashboardConfig,
  snapshots: readonly Pick<StoredSnapshot, 'reportId' | 'kind' | 'spec' | 'source'>[],
): DashboardOutline | null {
  if (kind === 'APP' || !widgets?.length) return null;
  const charts = new Map(snapshots.map((snapshot) => [snapshot.reportId, snapshot]));
  const inside = new Set(widgets.flatMap(heldBy));
  return widgets
    .filter(({ id, type }) => !inside.has(id) && type !== 'SPACER' && type !== 'DIVIDER')
    .toSorted((a, b) => a.position.y - b.position.y || a.position.x - b.position.x)
    .slice(0, ITEMS_MAX)
    .map(({ type, position: { x, y, w, h }, config }) => {
      const chart = charts.get(Number((config as { reportId?: unknown } | null)?.reportId));
      if (type === 'CHART' && chart) return { x, y, w, h, shows: shownBy(chart) };
      return { x, y, w, h, shows: type === 'FILTER' || type === 'TIME_GRAIN' ? 'control' : 'text' };
    });
}

/** Returns the widgets in a container. They are left out, because their places are relative to the container. */
function heldBy({ type, config }: Widget): unknown[] {
  if (type !== 'CONTAINER') return [];
  const { widgets, tabs } = (config ?? {}) as { widgets?: unknown[]; tabs?: { widgets?: unknown[] }[] };
  return [...(widgets ?? []), ...(tabs ?? []).flatMap((tab) => tab.widgets ?? [])];
}

const MARKS: Record<string, OutlineKind> = {
  line: 'line',
  trail: 'line',
  area: 'area',
  arc: 'pie',
  circle: 'point',
  point: 'point',
  square: 'point',
  rect: 'heatmap',
};

function shownBy({ kind, spec, source }: Pick<StoredSnapshot, 'kind' | 'spec' | 'source'>): OutlineKind {
  if (kind === 'table' || kind === 'kpi' || kind === 'map') return kind;
  if (kind !== 'vega') return 'text';
  const [mark, encoding] = drawnFirst(source ?? spec);
  const isAcross = ['nominal', 'ordinal'].includes(encoding?.y?.type ?? '');
  return MARKS[mark ?? ''] ?? (isAcross ? 'bar' : 'column');
}

interface Unit {
  mark?: string | { type?: string };
  encoding?: { y?: { type?: string } };
  layer?: Unit[];
  spec?: Unit;
}

/** The first mark of Vega-Lite, also in layers and small multiples. */
function drawnFirst({ mark, encoding, layer, spec }: Unit): [string | undefined, Unit['encoding']] {
  const name = typeof mark === 'string' ? mark : mark?.type;
  if (name) return [name, encoding];
  const inner = layer?.[0] ?? spec;
  if (!inner) return [undefined, encoding];
  const [found, its] = drawnFirst(inner);
  return [found, its ?? encoding];
}
