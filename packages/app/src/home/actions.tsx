/** What can be done with items: rename, move, duplicate, delete. Each can be undone where the server allows it. */
import { batch } from '@preact/signals';
import { api } from '../data/api.ts';
import { invalidate } from '../data/cache.ts';
import { askText, openDialog } from '../parts/dialog.tsx';
import { attempt, toast, toastProblem } from '../parts/toasts.tsx';
import { cacheKey, leaving } from './data.ts';
import { type Item, isFolder, isReport, isWorkbook, keyOfItem, nameOfItem, type Report } from './items.ts';
import { MoveDialog } from './move-dialog.tsx';
import { say } from './say.ts';

const refresh = (deploymentId: number) => invalidate(cacheKey(deploymentId));

export function askForFolder(deploymentId: number, parentId: number | undefined) {
  askText({
    title: say('newFolder'),
    label: say('name'),
    action: say('create'),
    onAnswer: (name) =>
      attempt(async () => {
        await api.createFolder({ deploymentId, body: { name, ...(parentId ? { parentId } : {}) } });
        refresh(deploymentId);
      }),
  });
}

export function askForWorkbook(
  deploymentId: number,
  folderId: number | undefined,
  onCreated: (id: number) => void,
) {
  askText({
    title: say('newWorkbook'),
    label: say('name'),
    action: say('create'),
    onAnswer: (name) =>
      attempt(async () => {
        const body = { name, ...(folderId ? { folderId } : {}) };
        const { id } = await api.createWorkbook({ deploymentId, body });
        refresh(deploymentId);
        onCreated(id);
      }),
  });
}

function rename(item: Item, name: string): Promise<unknown> {
  const { deploymentId, id } = item;
  if (isFolder(item)) return api.updateFolder({ deploymentId, folderId: id, body: { name } });
  if (isWorkbook(item)) return api.updateWorkbook({ deploymentId, workbookId: id, body: { name } });
  // People see the title of a report that has one.
  return api.updateReport({
    deploymentId,
    reportId: id,
    body: item.title ? { name, title: name } : { name },
  });
}

export function askForName(item: Item) {
  const before = nameOfItem(item);
  const change = (name: string) => async () => {
    await rename(item, name);
    refresh(item.deploymentId);
  };
  askText({
    title: say('renameItem', { name: before }),
    label: say('name'),
    action: say('save'),
    value: before,
    onAnswer: async (name) => {
      if (name === before) return;
      const isDone = await attempt(async () => {
        await change(name)();
        return true;
      });
      if (isDone) toast(say('renamed', { name }), { undo: change(before) });
    },
  });
}

export const duplicate = (item: Item) =>
  attempt(async () => {
    const { deploymentId, id } = item;
    const { name } = isWorkbook(item)
      ? await api.duplicateWorkbook({ deploymentId, workbookId: id })
      : await copyReport(item as Report);
    refresh(deploymentId);
    toast(say('duplicated', { name }));
  });

/** Lists may leave out large fields, so the report is read again. */
async function copyReport({ deploymentId, id }: Report) {
  const report = await api.getReport({ deploymentId, reportId: id });
  const { name, title, description, folderId, workbookId, jsonQuery, sqlQuery, meta, pivotItems } = report;
  const copyName = `${name} (2)`;
  return api.createReport({
    deploymentId,
    body: {
      name: copyName,
      ...(title ? { title: copyName } : {}),
      ...without({ description, folderId, workbookId, jsonQuery, sqlQuery, meta, pivotItems }),
    },
  });
}

const without = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as T;

const placeOf = (item: Item) => (isFolder(item) ? item.parentId : item.folderId) ?? null;

const refOf = ({ id, type }: Item) => ({ id, type });

/** Moves items into a folder, or to the root. They go back to where each of them was if the person says so. */
export const moveTo = (items: readonly Item[], folder: { id: number; name: string } | null) =>
  attempt(async () => {
    const { deploymentId } = items[0]!;
    const move = (some: readonly Item[], folderId: number | null) =>
      api.bulkMoveWorkspaceObjects({ deploymentId, body: { items: some.map(refOf), folderId } });
    const { moved, failed } = await move(items, folder?.id ?? null);
    refresh(deploymentId);
    if (failed.length > 0)
      toast(say('notMoved', { count: failed.length, why: failed[0]!.error.message }), { isProblem: true });
    if (moved.length === 0) return;
    const done = items.filter((item) => moved.some((one) => keyOfItem(one) === keyOfItem(item)));
    const values = { count: done.length, name: nameOfItem(done[0]!), folder: folder?.name ?? say('root') };
    toast(say(done.length === 1 ? 'movedOne' : 'moved', values), {
      undo: async () => {
        for (const place of new Set(done.map(placeOf)))
          await move(
            done.filter((item) => placeOf(item) === place),
            place,
          );
        refresh(deploymentId);
      },
    });
  });

export const askForPlace = (items: readonly Item[], onMoved: () => void) =>
  openDialog((close) => (
    <MoveDialog
      items={items}
      onClose={close}
      onChoose={(folder) => {
        close();
        void moveTo(items, folder).then(onMoved);
      }}
    />
  ));

/** Deletions that wait until they can no longer be undone. They are done when the page is left. */
const waiting = new Set<() => void>();
addEventListener('pagehide', () => {
  for (const commit of waiting) commit();
});

/**
 * Hides the items at once, and deletes them when the time for undo is over: the server cannot restore deleted items.
 */
export function remove(items: readonly Item[]) {
  const keys = items.map(keyOfItem);
  const show = () => {
    leaving.value = new Set([...leaving.peek()].filter((key) => !keys.includes(key)));
  };
  const commit = () => {
    if (!waiting.delete(commit)) return;
    void removeNow(items)
      .catch(toastProblem)
      .finally(() =>
        batch(() => {
          show();
          refresh(items[0]!.deploymentId);
        }),
      );
  };
  waiting.add(commit);
  leaving.value = new Set([...leaving.peek(), ...keys]);
  const [first] = items;
  const text =
    items.length > 1
      ? say('removed', { count: items.length })
      : say(isFolder(first!) ? 'removedFolder' : 'removedOne', { name: nameOfItem(first!) });
  toast(text, {
    undo: () => {
      waiting.delete(commit);
      show();
    },
    onEnd: commit,
  });
}

async function removeNow(items: readonly Item[]) {
  const { deploymentId } = items[0]!;
  const others = items.filter((item) => !isFolder(item));
  // All at once: nothing that is sent later leaves a page that is closed.
  const [{ failed }] = await Promise.all([
    others.length === 0
      ? { failed: [] }
      : api.bulkDeleteWorkspaceObjects({ deploymentId, body: { items: others.map(refOf) } }),
    ...items
      .filter(isFolder)
      .map(({ id }) => api.deleteFolder({ deploymentId, folderId: id, recursive: true })),
  ]);
  if (failed.length > 0)
    toast(say('notRemoved', { count: failed.length, why: failed[0]!.error.message }), { isProblem: true });
}

export const canDuplicate = (item: Item) => isWorkbook(item) || isReport(item);
