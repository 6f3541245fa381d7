/** Widgets inside of others. */
import type { Doc, Widget } from './doc.ts';

interface Tab {
  title?: string;
  widgets?: string[];
}

const idsIn = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((id) => typeof id === 'string') : [];
const configOf = (widget: Widget) => (widget.config ?? {}) as Record<string, unknown>;

export const tabsOf = (widget: Widget): Tab[] => {
  const { tabs } = configOf(widget);
  return Array.isArray(tabs) ? (tabs as Tab[]) : [];
};

/** The ids of the widgets that a container holds, in all of its tabs. */
export const heldBy = (widget: Widget): string[] =>
  widget.type === 'CONTAINER'
    ? [...idsIn(configOf(widget).widgets), ...tabsOf(widget).flatMap((tab) => idsIn(tab?.widgets))]
    : [];

export function topLevelOf(widgets: readonly Widget[]): Widget[] {
  const inside = new Set(widgets.flatMap(heldBy));
  return widgets.filter(({ id }) => !inside.has(id));
}

/** The widget, and all that is inside of it. */
export function familyOf(doc: Pick<Doc, 'widgets'>, id: string, seen = new Set<string>()): string[] {
  const widget = doc.widgets[id];
  if (!widget || seen.has(id)) return [];
  seen.add(id);
  return [id, ...heldBy(widget).flatMap((inner) => familyOf(doc, inner, seen))];
}

export const parentOf = (widgets: readonly Widget[], id: string): Widget | undefined =>
  widgets.find((widget) => heldBy(widget).includes(id));
