/** The files of a branch: listing, writing, removing, renaming. */
import { dataModelLimits, operations, type QueryOf } from '@oriel/contract';
import { ApiError } from '../../platform/errors.ts';
import { createObjects, listSizes } from '../../platform/git/objects.store.ts';
import { blobOf, type Hash, MissingObjectError, type Objects } from '../../platform/git/objects.ts';
import { EMPTY_TREE, listTree } from '../../platform/git/trees.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { branchToRead, branchToWrite } from './branches.ts';
import { readContents } from './contents.ts';
import {
  type Files,
  planRemoval,
  planRenames,
  refuseAny,
  requireKnownPaths,
  requireListedPaths,
} from './edits.ts';
import { nodeBytes, toSourceTree } from './listing.ts';
import type { DataModelOptions } from './options.ts';
import { contentProblem } from './paths.ts';
import { requireRoom } from './room.ts';
import type { BranchRow } from './store.ts';
import { changeFiles, treeOfCommit, visibleTree, visibleUpload } from './trees.ts';

async function treeToList(
  objects: Objects,
  branch: BranchRow,
  { commit, showLastCLIUpload }: QueryOf<typeof operations.listFiles>,
): Promise<Hash> {
  if (showLastCLIUpload) return (await visibleUpload(objects, branch)) ?? EMPTY_TREE;
  if (commit == null) return visibleTree(objects, branch);
  if (!/^[0-9a-f]{40}$/.test(commit)) throw new ApiError('commit_not_found');
  return treeOfCommit(objects, commit).catch((error) => {
    throw error instanceof MissingObjectError ? new ApiError('commit_not_found') : error;
  });
}

export const fileRoutes = ({ enqueueBuild, branchTurns }: DataModelOptions) => [
  handle(operations.listFiles, async ({ actor, db, cursors }, { params: { deploymentId }, query }) => {
    const where = { deploymentId, userId: actor.userId };
    const branch = await branchToRead(db, where, query);
    const objects = createObjects(db, deploymentId);
    const tree = await treeToList(objects, branch, query);
    const files = [...(await listTree(objects, tree))];
    const { items, pageInfo } = await pageOfFiles(
      cursors,
      `files of branch ${branch.id}${query.commit ? ` in ${query.commit}` : ''}`,
      files,
      query,
      (blobs) => listSizes(db, deploymentId, blobs),
    );
    const contents = query.withContent ? await readContents(db, deploymentId, items) : null;
    const nodes = toSourceTree(items.map(([path]) => ({ path, ...contents?.get(path) })));
    return { items: nodes, data: nodes, pageInfo };
  }),

  handle(
    operations.updateFiles,
    async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      const paths = requireListedPaths(body.files.map(({ path }) => path));
      const blobs = body.files.map(({ content, encoding }) =>
        blobOf(Buffer.from(content, encoding ?? 'utf8')),
      );
      refuseAny(
        'invalid_file',
        blobs.flatMap(({ content }, i) => {
          const message = contentProblem(paths[i]!, content) ?? encodingProblem(body.files[i]!);
          return message ? [{ path: `files[${i}].content`, message: `${paths[i]} ${message}` }] : [];
        }),
      );
      const branch = await branchToWrite(db, actor, deploymentId, body);
      await requireRoom(db, deploymentId, sum(blobs.map(({ content }) => content.length)));
      return branchTurns([branch.id], signal, async () => {
        // Write before the lock, because this may be megabytes. They are invisible until the branch refers to them.
        const hashes = await createObjects(db, deploymentId).write(blobs);
        const edits = new Map(paths.map((path, i) => [path, hashes[i]!]));
        const writing = {
          plan: () => edits,
          nameOf: (path: string) => `files[${paths.indexOf(path)}].path`,
        };
        return change(async (tx) => ({
          reply: { success: true },
          changes: await changeFiles(tx, actor, branch, writing, enqueueBuild),
        }));
      });
    },
  ),

  handle(
    operations.removeFiles,
    async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      const paths = requireKnownPaths(body.files.map(({ path }) => path));
      const branch = await branchToWrite(db, actor, deploymentId, body);
      const removal = { plan: (files: Files) => planRemoval(files, paths), nameOf: (path: string) => path };
      return branchTurns([branch.id], signal, () =>
        change(async (tx) => ({
          reply: { success: true },
          changes: await changeFiles(tx, actor, branch, removal, enqueueBuild),
        })),
      );
    },
  ),

  handle(
    operations.renameFiles,
    async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      const from = requireKnownPaths(body.files.map(({ path }) => path));
      const to = requireListedPaths(
        body.files.map(({ newPath }) => newPath),
        'newPath',
      );
      const branch = await branchToWrite(db, actor, deploymentId, body);
      await requireRoom(db, deploymentId);
      const renames = {
        plan: (files: Files) => planRenames(files, from, to),
        nameOf: (path: string) => `files[${to.indexOf(path)}].newPath`,
      };
      return branchTurns([branch.id], signal, () =>
        change(async (tx) => ({
          reply: { success: true },
          changes: await changeFiles(tx, actor, branch, renames, enqueueBuild),
        })),
      );
    },
  ),
];

/** Base64 that Node reads differently from how it was meant would become another file. */
const encodingProblem = ({ content, encoding }: { content: string; encoding?: string | null }) =>
  encoding === 'base64' && !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(content)
    ? 'must be base64'
    : undefined;

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

type File = readonly [path: string, blob: Hash];
type FilesQuery = QueryOf<typeof operations.listFiles>;

/** A page of files, by path. Without `first`, it is all files, if they are not too large for a reply. */
async function pageOfFiles(
  cursors: Cursors,
  list: string,
  files: File[],
  { first, after, withContent }: FilesQuery,
  sizesOf: (blobs: Hash[]) => Promise<Map<Hash, number>>,
) {
  const rest =
    after === undefined ? files : files.slice(placeAfter(files, cursors.decode(list, after)[0] as string));
  const size = first === undefined ? rest.length : pageSize(first);
  const rows = rest.slice(0, size + 1);
  const sizes = withContent ? await sizesOf(rows.map(([, blob]) => blob)) : undefined;
  const bytes = new Map(
    rows.map((file, i) => {
      const [path, blob] = file;
      return [file, nodeBytes(path, rows[i - 1]?.[0]) + (sizes?.get(blob) ?? 0)];
    }),
  );
  if (first === undefined && sum(bytes.values()) > dataModelLimits.listedBytes)
    throw new ApiError('page_required');
  return toPage(rows, {
    size,
    after,
    cursorOf: ([path]) => cursors.encode(list, [path]),
    bytesOf: (file) => (first === undefined ? 0 : bytes.get(file)!),
  });
}

/** Files are in the order of the bytes of their paths. The file itself may be gone. */
function placeAfter(files: readonly File[], path: string): number {
  const bytes = Buffer.from(path);
  const place = files.findIndex(([other]) => Buffer.compare(Buffer.from(other), bytes) > 0);
  return place < 0 ? files.length : place;
}
