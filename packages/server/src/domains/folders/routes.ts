import { operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import { ApiError } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { EDIT, embedTenantOf, MANAGE, READ, viewerOf } from '../access/index.ts';
import { requireFolder, requireTarget, requireTree } from './folders.ts';
import type { FolderRemoval } from './removal.ts';
import { fits } from './rules.ts';
import * as store from './store.ts';
import type { Trees } from './trees.ts';

const LIST = 'folders by position';

export const folderRoutes = ({ trees, removal }: { trees: Trees; removal: FolderRemoval }) => [
  handle(operations.getFolders, async ({ actor, db, cursors }, { params, query }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const filter = {
      parentId: query.parentId || null,
      recursive: query.recursive ?? false,
      embedTenant: embedTenantOf(actor, query.embedTenantName),
    };
    const size = pageSize(query.first);
    const after = query.after ? (cursors.decode(LIST, query.after) as [number, number]) : null;
    const [rows, count] = await Promise.all([
      store.listFolders(db, viewer, filter, { after, limit: size + 1 }),
      store.countFolders(db, viewer, filter),
    ]);
    const { items, pageInfo } = toPage(rows, {
      size,
      after: query.after,
      cursorOf: ({ position, id }) => cursors.encode(LIST, [position, id]),
    });
    return { items, data: items, count, pageInfo };
  }),

  handle(operations.createFolder, async ({ actor, change, db }, { params, body }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const parentId = body.parentId ?? null;
    const embedTenants = parentId === null ? [] : [await requireTree(db, viewer, parentId, EDIT)];
    // The tree must not change, so that the path of the parent is still correct when the folder is put below it.
    return trees.extend(change, viewer, embedTenants, async (tx, home) => {
      const parent = await requireTarget(tx, viewer, parentId);
      if (!fits(parent?.path.length ?? 0, 1)) throw new ApiError('folder_too_deep');
      const id = await store.insertFolder(tx, {
        deploymentId: params.deploymentId,
        parent,
        name: body.name,
        position: body.position ?? null,
        embedTenant: parent ? parent.embedTenant : home,
        userId: actor.userId,
      });
      const folder = await requireFolder(tx, viewer, id, READ);
      return { reply: folder, changes: created(folder) };
    });
  }),

  handle(operations.updateFolder, async ({ actor, change, db }, { params, body }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const embedTenant = await requireTree(db, viewer, params.folderId, EDIT);
    // The tree must not change, so that the new name gets into the paths of all folders below.
    return trees.change(change, viewer, [embedTenant], async (tx) => {
      const before = await requireFolder(tx, viewer, params.folderId, EDIT);
      const renames = body.name != null && body.name !== before.name;
      const repositions = body.position != null && body.position !== before.position;
      if (!renames && !repositions) return { reply: before, changes: [] };
      if (renames) await store.renameFolder(tx, before, body.name!);
      await store.updateFolder(tx, {
        id: before.id,
        position: body.position ?? null,
        updatedBy: actor.userId,
      });
      const after = await requireFolder(tx, viewer, params.folderId, READ);
      return { reply: after, changes: changed(before, after) };
    });
  }),

  handle(operations.deleteFolder, async ({ actor, change, db }, { params, query }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const embedTenant = await requireTree(db, viewer, params.folderId, MANAGE);
    return trees.change(change, viewer, [embedTenant], async (tx) => {
      const recursive = query.recursive ?? false;
      const { before } = await removal.deleteFolder(tx, viewer, params.folderId, { recursive });
      return { reply: undefined, changes: deleted(before) };
    });
  }),

  handle(operations.getFolderAncestors, async ({ actor, db }, { params }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const folder = await requireFolder(db, viewer, params.folderId, READ);
    const ancestors = await store.findFolders(db, viewer, folder.path);
    return ancestors.sort((a, b) => a.path.length - b.path.length);
  }),
];
