/** A chart that is made on the way: the author goes to explore, saves a report in this workbook, and finds it placed on return. */
import { toast } from '../parts/toasts.tsx';
import { add } from './actions.ts';
import type { Editor } from './editor.ts';
import { say } from './say.ts';
import { widgetsOf } from './state/doc.ts';

/** The reports that a workbook had when its author left to make one, by the id of the workbook. */
const left = new Map<number, ReadonlySet<number>>();

export function leaveForChart({ where, reports }: Editor) {
  left.set(where.workbookId, new Set((reports.peek() ?? []).map(({ id }) => id)));
  toast(say('newChartHint'));
}

/** After the reports are known. */
export function placeNewCharts(editor: Editor) {
  const { workbookId } = editor.where;
  const before = left.get(workbookId);
  if (!before || !editor.canEdit) return;
  const placed = new Set(widgetsOf(editor.doc).map(({ config }) => config?.reportId));
  const made = (editor.reports.peek() ?? []).filter(({ id }) => !before.has(id) && !placed.has(id));
  if (!made.length) return;
  left.delete(workbookId);
  for (const { id, title, name } of made) add(editor, 'CHART', { reportId: id }, title || name);
}
