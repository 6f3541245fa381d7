/** Which widgets are inside which containers, and which the page shows at first. */
import type { Widget } from './types.ts';

export interface Tab {
  title?: string;
  widgets: string[];
}

const idsIn = (list: unknown): string[] => (Array.isArray(list) ? list : []);

/** The tabs of a container: one without a title if it has none. Beside tabs, its own `widgets` are not shown. */
export function tabsOf({ config }: Widget): Tab[] {
  return Array.isArray(config?.tabs) && config.tabs.length
    ? config.tabs.map((tab) => ({ ...tab, widgets: idsIn(tab?.widgets) }))
    : [{ widgets: idsIn(config?.widgets) }];
}

/** Widgets that no container holds. */
export function topLevel(widgets: readonly Widget[]): Widget[] {
  const inside = new Set(
    widgets
      .filter(({ type }) => type === 'CONTAINER')
      .flatMap((widget) => [
        ...idsIn(widget.config?.widgets),
        ...tabsOf(widget).flatMap((tab) => tab.widgets),
      ]),
  );
  return widgets.filter(({ id }) => !inside.has(id));
}

/** Charts that are drawn while no tab but the first of each container is open. */
export const chartsInSight = (widgets: readonly Widget[]) =>
  reachedCharts(widgets, (tabs) => tabs.slice(0, 1));

/** Charts of all tabs. */
export const chartsOf = (widgets: readonly Widget[]) => reachedCharts(widgets, (tabs) => tabs);

function reachedCharts(widgets: readonly Widget[], open: (tabs: Tab[]) => Tab[]): Widget[] {
  const seen = new Set<Widget>();
  const visit = (widget: Widget | undefined) => {
    if (!widget || seen.has(widget)) return;
    seen.add(widget);
    if (widget.type !== 'CONTAINER') return;
    for (const tab of open(tabsOf(widget)))
      for (const inner of tab.widgets) visit(widgets.find(({ id }) => id === inner));
  };
  for (const widget of topLevel(widgets)) visit(widget);
  return [...seen].filter(({ type }) => type === 'CHART');
}
