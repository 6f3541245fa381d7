/**
 * Two people have changed one draft. What only one of them changed is taken; what both changed differently is for a person to
 * decide. Nothing is left out: every change of either side is in the result, or in `conflicts`.
 */
import { current, type Draft, isDraft } from 'immer';
import { bounded, compact } from '../grid/grid.ts';
import { type Change, changesBetween, isSame, type Path, setIn, startsWith, withChange } from './changes.ts';
import { type Doc, newId, type Widget, widgetsOf } from './doc.ts';
import { topLevelOf } from './widgets.ts';

export interface Conflict {
  path: Path;
  mine: unknown;
  theirs: unknown;
}

export interface MergedDraft {
  /** The merged draft. For a conflict it has the version of the others, until a person decides. */
  doc: Doc;
  /** What the others changed, for a note. */
  theirs: Change[];
  conflicts: Conflict[];
}

const isPosition = ({ path }: Change) =>
  path[0] === 'widgets' && (path[2] === 'position' || path[2] === 'responsiveLayouts');

export function merge(base: Doc, mine: Doc, others: Doc): MergedDraft {
  const theirs = changesBetween(base, others);
  const conflicts: Conflict[] = [];
  let doc = others;
  let hasMoved = false;
  for (const change of changesBetween(base, mine)) {
    const against = theirs.filter(
      ({ path }) => startsWith(path, change.path) || startsWith(change.path, path),
    );
    const same = against.some(
      ({ path, after }) => path.length === change.path.length && isSame(after, change.after),
    );
    if (same) continue;
    if (isPosition(change)) {
      // Places are no conflict: mine win, and widgets that then overlap make way.
      hasMoved = true;
      doc = withChange(doc, change);
    } else if (against.length === 0) {
      hasMoved ||= change.path.length === 2 && change.path[0] === 'widgets';
      doc = withChange(doc, change);
    } else if (change.after === undefined && against.every(isPosition)) {
      doc = withChange(doc, change);
    } else conflicts.push(conflictOf(change, against, mine, others));
  }
  return { doc: hasMoved || theirs.length ? settleLayout(doc) : doc, theirs, conflicts };
}

/** Whether both sides can be kept: as two widgets. */
export const canKeepBoth = ({ path, mine, theirs }: Conflict) =>
  path[0] === 'widgets' && (path.length > 2 || (mine !== undefined && theirs !== undefined));

/** A second widget beside theirs, with what is mine of it. */
export function addMine(draft: Draft<Doc>, { path, mine }: Conflict) {
  const theirs = draft.widgets[path[1]!] as Widget | undefined;
  if (!theirs) return setIn(draft as Doc, path, mine);
  const copy = structuredClone(
    path.length === 2 ? (mine as Widget) : isDraft(theirs) ? current(theirs) : theirs,
  ) as Widget;
  const id = newId(draft as Doc, theirs.type);
  const { x, y, w, h } = theirs.position;
  draft.widgets[id] = { ...copy, id, position: { x, y: y + h, w, h } };
  draft.order.push(id);
  if (path.length > 2) setIn(draft as Doc, ['widgets', id, ...path.slice(2)], mine);
  const { widgets } = settleLayout(current(draft) as Doc);
  for (const [key, { position }] of Object.entries(widgets)) draft.widgets[key]!.position = position;
}

/** About the whole widget if one side has removed it, and otherwise about the field. */
function conflictOf(change: Change, against: Change[], mine: Doc, others: Doc): Conflict {
  const path = [change.path, ...against.map((other) => other.path)].reduce((a, b) =>
    a.length <= b.length ? a : b,
  );
  return { path, mine: valueAt(mine, path), theirs: valueAt(others, path) };
}

export const valueAt = (doc: Doc, path: Path): unknown =>
  path.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], doc);

/** Without overlaps in the grid of the page. Those of containers are theirs. */
export function settleLayout(doc: Doc): Doc {
  const items = topLevelOf(widgetsOf(doc)).map(({ id, position }) => bounded({ ...position, id }));
  const widgets = { ...doc.widgets };
  for (const { id, ...position } of compact(items)) {
    const widget = widgets[id] as Widget;
    if (!isSame(widget.position, position)) widgets[id] = { ...widget, position };
  }
  return { ...doc, widgets };
}
