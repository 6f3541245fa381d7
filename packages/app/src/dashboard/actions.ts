/** What a person can do to widgets, by pointer, key or menu. Each says to screen readers what has happened. */

import { type Editor, kindText } from './editor.ts';
import {
  type Alignment,
  addWidget,
  alignWidgets,
  copied,
  itemsOf,
  moveWidget,
  pasteWidgets,
  removeWidgets,
  resizeWidget,
  setLayout,
  siblingsOf,
  widgetsIn,
} from './edits.ts';
import { bottomOf, type Item, move, moveAll } from './grid/grid.ts';
import { say } from './say.ts';
import type { WidgetType } from './state/doc.ts';

export type Direction = 'left' | 'right' | 'up' | 'down';

/** As it is arranged for the device that the editor shows. */
const placeOf = (editor: Editor, id: string) => {
  const widget = editor.widget(id);
  if (!widget) return undefined;
  return itemsOf(siblingsOf(editor.doc, id), editor.device.peek()).find((item) => item.id === id);
};

function sayPlace(editor: Editor, id: string) {
  const widget = editor.widget(id);
  if (!widget) return;
  const { x, y } = placeOf(editor, id)!;
  editor.announce(say('moved', { title: editor.titleOf(widget), x: x + 1, y: y + 1 }));
}

function saySize(editor: Editor, id: string) {
  const widget = editor.widget(id);
  if (!widget) return;
  const { w, h } = placeOf(editor, id)!;
  editor.announce(say('resized', { title: editor.titleOf(widget), w, h }));
}

/** Widgets that stand in one grid move together. */
const together = (editor: Editor, id: string, ids: readonly string[]): string[] => {
  const siblings = new Set(siblingsOf(editor.doc, id).map((one) => one.id));
  return ids.includes(id) ? ids.filter((one) => siblings.has(one)) : [id];
};

/** Moves all selected widgets of one grid, as one step of the history. */
export function stepAll(editor: Editor, id: string, selected: readonly string[], direction: Direction) {
  const ids = together(editor, id, selected);
  if (ids.length < 2) return step(editor, id, direction);
  const layout = itemsOf(siblingsOf(editor.doc, id), editor.device.peek());
  const placesOf = (list: readonly Item[]) =>
    JSON.stringify(list.filter((item) => ids.includes(item.id)).map(({ x, y }) => [x, y]));
  const across = direction === 'left' || direction === 'right';
  const towards = direction === 'left' || direction === 'up' ? -1 : 1;
  for (let far = 1; far <= (across ? 1 : bottomOf(layout)); far++) {
    const by = across ? { x: towards, y: 0 } : { x: 0, y: towards * far };
    const moved = moveAll(layout, ids, by);
    if (placesOf(moved) === placesOf(layout)) continue;
    changeAll(
      editor,
      ids,
      'stepMove',
      (doc) => setLayout(doc, moved, editor.device.peek()),
      `move ${ids.join()}`,
    );
    break;
  }
  sayPlace(editor, id);
}

export function stretchAll(editor: Editor, id: string, selected: readonly string[], direction: Direction) {
  const ids = together(editor, id, selected);
  if (ids.length < 2) return stretch(editor, id, direction);
  const by = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] }[direction] as [number, number];
  changeAll(
    editor,
    ids,
    'stepResize',
    (doc) => {
      for (const one of ids) {
        const { w, h } = placeOf(editor, one)!;
        resizeWidget(doc, one, { w: w + by[0], h: h + by[1] }, editor.device.peek());
      }
    },
    `resize ${ids.join()}`,
  );
  saySize(editor, id);
}

export function align(editor: Editor, selected: readonly string[], how: Alignment) {
  const ids = together(editor, selected[0]!, selected);
  changeAll(editor, ids, 'stepMove', (doc) => alignWidgets(doc, ids, how, editor.device.peek()));
  sayPlace(editor, ids[0]!);
}

function changeAll(
  editor: Editor,
  ids: readonly string[],
  name: 'stepMove' | 'stepResize',
  recipe: Parameters<Editor['session']['change']>[1],
  key?: string,
) {
  if (!editor.canEdit) return;
  const title = say('widgetsCount', { count: ids.length });
  editor.session.change(say(name, { title }), recipe, key);
}

/** Selects one more widget by keys. From then on, moving the focus does not deselect the others. */
export function pick(editor: Editor, id: string) {
  const ids = editor.selected.peek();
  // The first one is selected by the focus already.
  if (editor.isPicking || !ids.includes(id))
    editor.select(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]);
  editor.isPicking = true;
  editor.announce(say('selectedCount', { count: editor.selected.peek().length }));
}

export function selectAll(editor: Editor, id: string) {
  editor.select(siblingsOf(editor.doc, id).map((one) => one.id));
  editor.isPicking = true;
  editor.announce(say('selectedCount', { count: editor.selected.peek().length }));
}

/**
 * Moves a widget by one column across; up or down, by as many rows as it takes to change its place, because widgets
 * fall up until they touch another.
 */
export function step(editor: Editor, id: string, direction: Direction) {
  const at = placeOf(editor, id);
  if (!at) return;
  const { x, y } = at;
  if (direction === 'left' || direction === 'right')
    return moveTo(editor, id, { x: x + (direction === 'left' ? -1 : 1), y });
  const layout = itemsOf(siblingsOf(editor.doc, id), editor.device.peek());
  const towards = direction === 'up' ? -1 : 1;
  for (let rows = 1; rows <= bottomOf(layout); rows++) {
    const target = { x, y: y + towards * rows };
    if (target.y < 0) break;
    const found = move(layout, id, target).find((item) => item.id === id);
    if (found && found.y !== y) return moveTo(editor, id, target);
  }
  sayPlace(editor, id);
}

export function moveTo(editor: Editor, id: string, to: { x: number; y: number }) {
  const widget = editor.widget(id);
  if (!widget || !editor.canEdit) return;
  const name = say('stepMove', { title: editor.titleOf(widget) });
  editor.session.change(name, (doc) => moveWidget(doc, id, to, editor.device.peek()), `move ${id}`);
  sayPlace(editor, id);
}

export function resizeTo(editor: Editor, id: string, to: { w: number; h: number }) {
  const widget = editor.widget(id);
  if (!widget || !editor.canEdit) return;
  const name = say('stepResize', { title: editor.titleOf(widget) });
  editor.session.change(name, (doc) => resizeWidget(doc, id, to, editor.device.peek()), `resize ${id}`);
  saySize(editor, id);
}

export function stretch(editor: Editor, id: string, direction: Direction) {
  const at = placeOf(editor, id);
  if (!at) return;
  const across = { left: -1, right: 1, up: 0, down: 0 }[direction];
  const down = { left: 0, right: 0, up: -1, down: 1 }[direction];
  resizeTo(editor, id, { w: at.w + across, h: at.h + down });
}

/** Where a drag has ended. */
export function settle(
  editor: Editor,
  id: string,
  layout: readonly Item[],
  kind: 'move' | 'resize',
  count = 1,
) {
  const widget = editor.widget(id);
  if (!widget) return;
  const title = count > 1 ? say('widgetsCount', { count }) : editor.titleOf(widget);
  const name = kind === 'move' ? say('stepMove', { title }) : say('stepResize', { title });
  editor.session.change(name, (doc) => setLayout(doc, layout, editor.device.peek()));
  if (kind === 'move') sayPlace(editor, id);
  else saySize(editor, id);
}

export function add(editor: Editor, type: WidgetType, config: Record<string, unknown> = {}, title?: string) {
  const isKpi = editor.report(config.reportId)?.meta?.chart?.kind === 'kpi';
  let id = '';
  const what = title ?? kindText(type);
  editor.session.change(say('stepAdd', { title: what }), (doc) => {
    id = addWidget(doc, type, config, { isKpi });
  });
  editor.setPreview(false);
  editor.select([id]);
  editor.announce(say('added', { title: what }));
  focusWidget(id);
}

export function remove(editor: Editor, ids: readonly string[]) {
  const widgets = ids.flatMap((id) => editor.widget(id) ?? []);
  if (!widgets.length || !editor.canEdit) return;
  const title = widgets.map((widget) => editor.titleOf(widget)).join(', ');
  const order = siblingsOf(editor.doc, ids[0]!).map(({ id }) => id);
  const next = order.filter((id) => !ids.includes(id))[Math.max(0, order.indexOf(ids[0]!) - 1)];
  editor.session.change(say('stepRemove', { title }), (doc) => removeWidgets(doc, ids));
  editor.select([]);
  editor.announce(say('removed', { title }));
  if (next) focusWidget(next);
}

export function duplicate(editor: Editor, ids: readonly string[]) {
  const widgets = widgetsIn(copied(editor.doc, ids));
  if (widgets) pasteAll(editor, widgets);
}

/** Copies the widgets. Rejects if the browser gives no clipboard, as on pages without HTTPS from another machine. */
export const copy = async (editor: Editor, ids: readonly string[]) =>
  navigator.clipboard.writeText(copied(editor.doc, ids));

/** Returns whether the text held widgets. */
export function paste(editor: Editor, text: string): boolean {
  const widgets = widgetsIn(text);
  if (!widgets?.length) return false;
  pasteAll(editor, widgets);
  return true;
}

function pasteAll(editor: Editor, widgets: NonNullable<ReturnType<typeof widgetsIn>>) {
  let ids: string[] = [];
  editor.session.change(say('stepPaste'), (doc) => {
    ids = pasteWidgets(doc, widgets);
  });
  editor.select(ids);
  const first = editor.widget(ids[0]!);
  if (first) editor.announce(say('added', { title: editor.titleOf(first) }));
  if (ids[0]) focusWidget(ids[0]);
}

/** After the widget is on the page. */
export const focusWidget = (id: string) =>
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>(`[data-widget="${CSS.escape(id)}"]`)?.focus(),
  );

export function openSettings(editor: Editor, id: string) {
  editor.select([id]);
  editor.isPanelOpen.value = true;
  requestAnimationFrame(() => document.getElementById('widget-panel')?.focus());
}
