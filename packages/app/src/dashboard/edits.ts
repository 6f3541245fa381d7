/** What an author does to a draft. Each is one step of the history. */
import type { Draft } from 'immer';
import { bounded, COLUMNS, compact, type Item, move, place, resize } from './grid/grid.ts';
import { type Doc, newId, type Widget, type WidgetType, widgetsOf } from './state/doc.ts';
import { familyOf, heldBy, parentOf, tabsOf, topLevelOf } from './state/widgets.ts';

/** How large new widgets are, and what they hold at first. */
const NEW: Record<string, { w: number; h: number; config?: Record<string, unknown> }> = {
  CHART: { w: 6, h: 5 },
  TEXT: { w: 6, h: 2, config: { markdown: '' } },
  FILTER: { w: 3, h: 1, config: { kind: 'select', faceted: true } },
  TIME_GRAIN: { w: 3, h: 1, config: { grains: ['day', 'week', 'month'], default: 'month' } },
  CONTAINER: { w: 12, h: 6, config: { widgets: [] } },
  DIVIDER: { w: 12, h: 1 },
  SPACER: { w: 12, h: 1 },
  APP: { w: 6, h: 6 },
};
const KPI_SIZE = { w: 3, h: 2 };

/** The widgets of one grid: that of the page, or that of the container that holds this widget. */
export function siblingsOf(doc: Doc, id: string): Widget[] {
  const widgets = widgetsOf(doc);
  const parent = parentOf(widgets, id);
  if (!parent) return topLevelOf(widgets);
  const tab = tabsOf(parent).find((one) => one.widgets?.includes(id));
  const ids = new Set(tab?.widgets ?? heldBy(parent));
  return widgets.filter((widget) => ids.has(widget.id));
}

/** The widths of pages that widgets are arranged for. */
export type Device = 'desk' | 'tablet' | 'phone';

type Size = keyof NonNullable<Widget['responsiveLayouts']>;

/** Those of the grid for a device. A phone may be held across. */
const SIZES: Record<Exclude<Device, 'desk'>, readonly [Size, ...Size[]]> = {
  tablet: ['sm'],
  phone: ['xxs', 'xs'],
};

/** Whether the widgets were arranged for this device. Before, their places follow from those of the desk. */
export const isArranged = (widgets: readonly Widget[], device: Device) =>
  device !== 'desk' && widgets.some((widget) => widget.responsiveLayouts?.[SIZES[device][0]]);

/** The places of widgets of one grid on a device. */
export function itemsOf(widgets: readonly Widget[], device: Device = 'desk'): Item[] {
  const items = widgets.map(({ id, position, responsiveLayouts }) => {
    const own = device === 'desk' ? undefined : responsiveLayouts?.[SIZES[device][0]];
    return bounded({ ...(own ?? position), id });
  });
  if (device !== 'phone' || isArranged(widgets, device)) return items;
  // Below each other, in their order.
  const order = items.toSorted((a, b) => a.y - b.y || a.x - b.x).map(({ id }) => id);
  const tops = new Map<string, number>();
  let top = 0;
  for (const id of order) {
    tops.set(id, top);
    top += items.find((item) => item.id === id)!.h;
  }
  return items.map((item) => ({ ...item, x: 0, w: COLUMNS, y: tops.get(item.id)! }));
}

/** Widgets that came later stand below those that were arranged for a device. */
export function fillDevices(doc: Draft<Doc>) {
  const widgets = topLevelOf(widgetsOf(doc as Doc));
  for (const device of ['tablet', 'phone'] as const) {
    if (!isArranged(widgets, device)) continue;
    const [size] = SIZES[device];
    let bottom = Math.max(
      ...widgets.flatMap(({ responsiveLayouts }) => {
        const place = responsiveLayouts?.[size];
        return place ? [place.y + place.h] : [];
      }),
    );
    for (const { id, position, responsiveLayouts } of widgets) {
      if (responsiveLayouts?.[size]) continue;
      const { w, h } = position;
      setPlace(doc, id, { x: 0, y: bottom, w: device === 'phone' ? COLUMNS : w, h }, device);
      bottom += h;
    }
  }
}

/** Removes the places for a device, so that they follow from those of the desk again. */
export function forgetDevice(doc: Draft<Doc>, device: Exclude<Device, 'desk'>) {
  for (const widget of Object.values(doc.widgets))
    for (const size of SIZES[device]) delete widget.responsiveLayouts?.[size];
}

function setPlace(doc: Draft<Doc>, id: string, place: Widget['position'], device: Exclude<Device, 'desk'>) {
  const widget = doc.widgets[id]!;
  widget.responsiveLayouts ??= {};
  for (const size of SIZES[device]) widget.responsiveLayouts[size] = { ...place };
}

export function setLayout(doc: Draft<Doc>, layout: readonly Item[], device: Device = 'desk') {
  for (const { id, x, y, w, h } of layout) {
    const widget = doc.widgets[id];
    if (!widget) continue;
    if (device !== 'desk') {
      setPlace(doc, id, { x, y, w, h }, device);
      continue;
    }
    const { position } = widget;
    if (position.x !== x || position.y !== y || position.w !== w || position.h !== h)
      widget.position = { x, y, w, h };
  }
}

/** Adds a widget at the first free place, or below the widget that is given. Returns its id. */
export function addWidget(
  doc: Draft<Doc>,
  type: WidgetType,
  config: Record<string, unknown> = {},
  options: { isKpi?: boolean } = {},
): string {
  const { config: usualConfig, ...usual } = NEW[type]!;
  // A picture stands in place of words.
  const first = 'image' in config ? {} : usualConfig;
  const size = options.isKpi ? KPI_SIZE : usual;
  const layout = itemsOf(topLevelOf(widgetsOf(doc as Doc)));
  const id = newId(doc as Doc, type);
  const isControl = type === 'FILTER' || type === 'TIME_GRAIN';
  // Controls stand above what they filter: in the row of those that are there, or in a new first row.
  const position = isControl ? controlPlace(doc as Doc, layout, size) : place(layout, size);
  doc.widgets[id] = { id, type, position, config: { ...first, ...config } };
  doc.order.push(id);
  setLayout(doc, compact([{ ...position, id }, ...layout]));
  fillDevices(doc);
  return id;
}

function controlPlace(doc: Doc, layout: Item[], size: { w: number; h: number }) {
  const controls = layout.filter(({ id }) => ['FILTER', 'TIME_GRAIN'].includes(doc.widgets[id]!.type));
  const row = controls.length ? Math.min(...controls.map(({ y }) => y)) : 0;
  const end = Math.max(
    0,
    ...layout.filter(({ y }) => controls.length > 0 && y === row).map(({ x, w }) => x + w),
  );
  return controls.length && end + size.w <= 12 ? { ...size, x: end, y: row } : { ...size, x: 0, y: row };
}

export function moveWidget(doc: Draft<Doc>, id: string, to: { x: number; y: number }, device?: Device) {
  setLayout(doc, move(itemsOf(siblingsOf(doc as Doc, id), device), id, to), device);
}

export function resizeWidget(doc: Draft<Doc>, id: string, to: { w: number; h: number }, device?: Device) {
  setLayout(doc, resize(itemsOf(siblingsOf(doc as Doc, id), device), id, to), device);
}

const groupOf = (doc: Doc, ids: readonly string[], device: Device | undefined) => {
  const layout = itemsOf(siblingsOf(doc, ids[0]!), device);
  return { layout, own: layout.filter(({ id }) => ids.includes(id)) };
};

/** Several widgets of one grid in one line, or in one size. */
export type Alignment = 'left' | 'right' | 'width' | 'height';

export function alignWidgets(doc: Draft<Doc>, ids: readonly string[], how: Alignment, device?: Device) {
  const { layout, own } = groupOf(doc as Doc, ids, device);
  const left = Math.min(...own.map(({ x }) => x));
  const right = Math.max(...own.map(({ x, w }) => x + w));
  const wanted = (item: Item): Item => {
    if (how === 'left') return { ...item, x: left };
    if (how === 'right') return { ...item, x: right - item.w };
    if (how === 'width') return { ...item, w: own[0]!.w };
    return { ...item, h: own[0]!.h };
  };
  setLayout(doc, compact(layout.map((item) => (own.includes(item) ? wanted(item) : item))), device);
}

/** Removes widgets with all that is inside of them, and from the container and the controls that name them. */
export function removeWidgets(doc: Draft<Doc>, ids: readonly string[]) {
  const gone = new Set(ids.flatMap((id) => familyOf(doc as Doc, id)));
  for (const id of gone) delete doc.widgets[id];
  doc.order = doc.order.filter((id) => !gone.has(id));
  for (const widget of Object.values(doc.widgets)) forget(widget as Widget, gone);
  const left = topLevelOf(widgetsOf(doc as Doc));
  for (const device of ['desk', 'tablet', 'phone'] as const)
    if (device === 'desk' || isArranged(left, device)) setLayout(doc, compact(itemsOf(left, device)), device);
}

/** Takes ids out of a container or a control. */
export function forget(widget: Widget, gone: ReadonlySet<string>) {
  const config = widget.config as
    | { widgets?: string[]; tabs?: { widgets?: string[] }[]; mapping?: Record<string, unknown> | null }
    | null
    | undefined;
  if (!config) return;
  const kept = (list: string[]) => list.filter((id) => !gone.has(id));
  for (const id of Object.keys(config.mapping ?? {})) if (gone.has(id)) delete config.mapping![id];
  if (config.widgets?.some((id) => gone.has(id))) config.widgets = kept(config.widgets);
  for (const tab of Array.isArray(config.tabs) ? config.tabs : [])
    if (tab.widgets?.some((id) => gone.has(id))) tab.widgets = kept(tab.widgets);
}

/** Widgets as text, for the clipboard, with all that is inside of them. */
export function copied(doc: Doc, ids: readonly string[]): string {
  const family = new Set(ids.flatMap((id) => familyOf(doc, id)));
  return JSON.stringify({ orielWidgets: widgetsOf(doc).filter(({ id }) => family.has(id)) }, null, 2);
}

/** Widgets in a text that was copied here or from another workbook, or undefined if it holds none. */
export function widgetsIn(text: string): Widget[] | undefined {
  try {
    const { orielWidgets } = JSON.parse(text) as { orielWidgets?: unknown };
    if (!Array.isArray(orielWidgets) || orielWidgets.length > 200) return undefined;
    const all = orielWidgets as Partial<Widget>[];
    const isWidget = ({ id, type, position }: Partial<Widget>) =>
      typeof id === 'string' && typeof type === 'string' && type in NEW && typeof position?.x === 'number';
    return all.every((one) => one !== null && typeof one === 'object' && isWidget(one))
      ? (all as Widget[])
      : undefined;
  } catch {
    return undefined;
  }
}

/** Adds copies below everything, in the same arrangement. Returns the ids of the outer ones. */
export function pasteWidgets(doc: Draft<Doc>, widgets: readonly Widget[]): string[] {
  const names = new Map<string, string>();
  for (const { id, type } of widgets) {
    const name = newId(doc as Doc, type);
    names.set(id, name);
    // Taken, so that the next one gets another.
    doc.widgets[name] = {} as Widget;
  }
  const layout = itemsOf(topLevelOf(widgetsOf(doc as Doc)));
  const below = Math.max(0, ...layout.map(({ y, h }) => y + h));
  const outer = new Set(topLevelOf(widgets).map(({ id }) => id));
  const top = Math.min(...widgets.filter(({ id }) => outer.has(id)).map(({ position }) => position.y));
  for (const widget of widgets) {
    const id = names.get(widget.id)!;
    const { y } = widget.position;
    const position = outer.has(widget.id) ? { ...widget.position, y: below + y - top } : widget.position;
    const { responsiveLayouts: _ofAnother, ...copy } = widget;
    doc.widgets[id] = { ...copy, id, position, config: renamed(widget.config, names) };
    doc.order.push(id);
  }
  setLayout(doc, compact(itemsOf(topLevelOf(widgetsOf(doc as Doc)))));
  fillDevices(doc);
  return [...outer].map((id) => names.get(id)!);
}

function renamed(config: Widget['config'], names: ReadonlyMap<string, string>): Widget['config'] {
  if (!config) return config;
  const copy = structuredClone(config) as { widgets?: unknown; tabs?: unknown; mapping?: object | null };
  if (copy.mapping)
    copy.mapping = Object.fromEntries(
      Object.entries(copy.mapping).flatMap(([id, member]) => {
        const name = names.get(id);
        return name ? [[name, member]] : [];
      }),
    );
  const known = (list: unknown) =>
    Array.isArray(list) ? list.flatMap((id: string) => names.get(id) ?? []) : list;
  if (copy.widgets !== undefined) copy.widgets = known(copy.widgets);
  if (Array.isArray(copy.tabs))
    copy.tabs = copy.tabs.map((tab: { widgets?: unknown }) => ({ ...tab, widgets: known(tab?.widgets) }));
  return copy as Widget['config'];
}

interface ContainerConfig {
  widgets?: string[];
  tabs?: ContainerConfig[];
}

/** The config of a widget, to be changed. */
export function configIn<T extends object>(doc: Draft<Doc>, id: string): T {
  const widget = doc.widgets[id]!;
  widget.config ??= {};
  return widget.config as T;
}

/** Puts a widget into a container, or back onto the page. */
export function putInto(doc: Draft<Doc>, id: string, container: { id: string; tab: number } | null) {
  for (const widget of Object.values(doc.widgets))
    if (widget.type === 'CONTAINER') forget(widget as Widget, new Set([id]));
  const widgets = () => widgetsOf(doc as Doc);
  const target = container && (doc.widgets[container.id] as Widget | undefined);
  if (target) {
    const config = configIn<ContainerConfig>(doc, container.id);
    const holder: ContainerConfig =
      (Array.isArray(config.tabs) ? config.tabs[container.tab] : undefined) ?? config;
    holder.widgets ??= [];
    const list = holder.widgets;
    const inside = itemsOf(widgets().filter((one) => list.includes(one.id)));
    const widget = doc.widgets[id]!;
    widget.position = place(inside, widget.position);
    list.push(id);
  } else {
    const widget = doc.widgets[id]!;
    const others = itemsOf(topLevelOf(widgets()).filter((one) => one.id !== id));
    widget.position = place(others, widget.position);
  }
  delete doc.widgets[id]!.responsiveLayouts;
  setLayout(doc, compact(itemsOf(topLevelOf(widgets()))));
  fillDevices(doc);
}
