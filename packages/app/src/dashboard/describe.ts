/** Changes of a draft in the words of people. */
import type { Editor } from './editor.ts';
import { KIND_TEXTS } from './editor.ts';
import { say } from './say.ts';
import type { Change, Path } from './state/changes.ts';
import type { Widget } from './state/doc.ts';

const FIELDS: Record<string, Parameters<typeof say>[0]> = {
  title: 'title',
  description: 'description',
  markdown: 'text',
  reportId: 'report',
  member: 'field',
  kind: 'control',
  default: 'atFirst',
  multiple: 'multiple',
  widgets: 'reaches',
  tabs: 'tabs',
  grains: 'grains',
  position: 'placeAndSize',
  timezone: 'timezone',
  refreshSeconds: 'refresh',
  restrictDataDownload: 'noDownload',
  primaryColor: 'accentColor',
  backgroundColor: 'backgroundColor',
  mapping: 'reaches',
  operators: 'operators',
  visibility: 'forViewers',
  faceted: 'faceted',
  crossFilter: 'crossFilter',
  image: 'picture',
  alt: 'alt',
  fontFamily: 'font',
  color: 'borderColor',
  width: 'borderWidth',
  radius: 'corners',
};

export const fieldText = (path: Path) => {
  const name = path.at(-1)!;
  const key = FIELDS[name];
  return key ? say(key) : name;
};

/** The widget that a path is about, on either side. */
export function widgetIn(editor: Editor, change: Pick<Change, 'path'>, values: readonly unknown[]): string {
  const widget =
    (values.find((value) => (value as Widget | undefined)?.type) as Widget | undefined) ??
    editor.widget(change.path[1]!);
  return widget ? editor.titleOf(widget) : change.path[1]!;
}

/** One line for each thing that a person would tell: all widgets that moved are one. */
export function describe(editor: Editor, changes: readonly Change[]): string[] {
  const lines: string[] = [];
  let moved = 0;
  for (const change of changes) {
    const { path, before, after } = change;
    if (path[0] !== 'widgets') {
      lines.push(say('changeDashboard', { field: fieldText(path) }));
      continue;
    }
    if (path[2] === 'position' || path[2] === 'responsiveLayouts') {
      moved++;
      continue;
    }
    const title = widgetIn(editor, change, [after, before]);
    if (path.length === 2) lines.push(say(after === undefined ? 'changeRemoved' : 'changeAdded', { title }));
    else lines.push(say('changeEdited', { title, field: fieldText(path) }));
  }
  if (moved) lines.push(say('changeMoved', { count: moved }));
  return lines;
}

/** A value of a field as text. */
export function valueText(editor: Editor, path: Path, value: unknown): string {
  if (value === undefined || value === null) return path.length === 2 ? say('isRemoved') : say('none');
  if (path.length === 2 && path[0] === 'widgets') {
    const widget = value as Widget;
    return `${say(KIND_TEXTS[widget.type])}: ${editor.titleOf(widget)}`;
  }
  if (path.at(-1) === 'reportId') return editor.report(value)?.name ?? String(value);
  if (path.at(-1) === 'image') return say('picture');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
