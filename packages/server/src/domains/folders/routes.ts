import { operations } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { EDIT, embedTenantOf, MANAGE, READ, requireHome, viewerOf } from '../access/index.ts';
import { requireFolder, requireTarget } from './folders.ts';
import { fits } from './rules.ts';
import * as store from './store.ts';

const LIST = 'folders by position';

export const folderRoutes = () => [
  handle(operations.getFolders, async ({ actor, db, cursors }, { params, query }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const filter = {
      parentId: query.parentId == null ? undefined : query.parentId || null,
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

  handle(operations.createFolder, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const home = await requireHome(tx, viewer);
      // The tree holds still, so that the parent's path is still true when the folder is put below it.
      if (body.parentId != null) await store.lockTreeShared(tx, params.deploymentId);
      const parent = await requireTarget(tx, viewer, body.parentId ?? null);
      if (!fits(parent?.path.length ?? 0, 1)) throw new ApiError('folder_too_deep');
      const id = await store.insertFolder(tx, {
        deploymentId: params.deploymentId,
        parent,
        name: body.name,
        position: body.position ?? null,
        embedTenant: parent ? parent.embedTenant : home,
        userId: actor.userId,
      });
      const created = await requireFolder(tx, viewer, id, READ);
      return { reply: created, changes: { id, before: null, after: created } };
    }),
  ),

  handle(operations.updateFolder, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      // The tree holds still, so that the name reaches all that is below.
      if (body.name != null) await store.lockTree(tx, params.deploymentId);
      const before = await requireFolder(tx, viewer, params.folderId, EDIT);
      if (body.name != null) await store.renameFolder(tx, before, body.name);
      await store.updateFolder(tx, {
        id: before.id,
        position: body.position ?? null,
        updatedBy: actor.userId,
      });
      const after = await requireFolder(tx, viewer, params.folderId, READ);
      return { reply: after, changes: { id: after.id, before: before, after } };
    }),
  ),

  handle(operations.deleteFolder, ({ actor, change }, { params }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await requireFolder(tx, viewer, params.folderId, MANAGE);
      await store.deleteFolder(tx, before.id);
      return { reply: undefined, changes: { id: before.id, before: before, after: null } };
    }),
  ),

  handle(operations.getFolderAncestors, async ({ actor, db }, { params }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const folder = await requireFolder(db, viewer, params.folderId, READ);
    const ancestors = await store.findFolders(db, viewer, folder.path.slice(0, -1));
    return ancestors.sort((a, b) => a.path.length - b.path.length);
  }),
];
