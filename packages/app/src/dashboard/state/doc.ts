/**
 * A draft as the editor holds it. Widgets are known by their ids, not by their places in a list, so that a change of one
 * means the same whatever others have added or removed meanwhile.
 */
import type { OrielClient } from '@oriel/client';

type DraftInput = Parameters<OrielClient['updateWorkbookDashboard']>[0]['body'];
type StoredConfig = NonNullable<DraftInput['dashboardDraft']>;
type StoredWidget = NonNullable<StoredConfig['widgets']>[number];

/** What `config` of a widget holds depends on its type; none of it is trusted. */
export type Widget = Omit<StoredWidget, 'config'> & { config?: Record<string, unknown> | null };
export type Config = Omit<StoredConfig, 'widgets'> & { widgets?: Widget[] | null };
export type WidgetType = Widget['type'];

export interface Doc extends Omit<Config, 'widgets'> {
  widgets: Record<string, Widget>;
  /** The ids in the order of the stored list. */
  order: string[];
}

export function docOf(config: Config | null | undefined): Doc {
  const { widgets, ...rest } = config ?? {};
  const list = widgets ?? [];
  return {
    ...rest,
    widgets: Object.fromEntries(list.map((widget) => [widget.id, widget])),
    order: list.map(({ id }) => id),
  };
}

export const widgetsOf = ({ widgets, order }: Doc): Widget[] => order.flatMap((id) => widgets[id] ?? []);

export function configOf(doc: Doc): Config {
  const { widgets: _widgets, order: _order, ...rest } = doc;
  return { ...rest, widgets: widgetsOf(doc) };
}

/** A new id that no widget has, short enough to be read in messages of the server. */
export function newId(doc: Doc, type: WidgetType): string {
  const prefix = type.toLowerCase().replace('_', '-');
  for (let number = 1; ; number++) {
    const id = `${prefix}-${number}-${Math.floor(Math.random() * 36 ** 4).toString(36)}`;
    if (!doc.widgets[id]) return id;
  }
}
