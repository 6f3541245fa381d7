/** Commits as people read them, and the export of all of them. */
import { isDeepStrictEqual } from 'node:util';
import { dataModelLimits, operations } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { streamBundle } from '../../platform/git/bundle.ts';
import { type Commit, listCommits, type Start } from '../../platform/git/commits.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { type Hash, MissingObjectError } from '../../platform/git/objects.ts';
import type { TextWork } from '../../platform/git/text-work.ts';
import { type Cursors, pageSize } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireBranch } from './branches.ts';
import { findCommit } from './history.ts';
import type { DataModelOptions } from './options.ts';
import * as store from './store.ts';

export const historyRoutes = ({ texts }: Pick<DataModelOptions, 'texts'>) => [
  handle(operations.listCommits, async ({ actor, db, cursors }, { params, query }) => {
    const { deploymentId, name } = params;
    const branch = await requireBranch(db, { deploymentId, userId: actor.userId }, { branchName: name });
    const list = `commits of branch ${branch.id}`;
    const start =
      query.after === undefined ? { from: [branch.head] } : decodeStart(cursors.decode(list, query.after));
    const limit = pageSize(query.first);
    const { commits, rest } = await listCommits(createObjects(db, deploymentId), start, limit);
    return {
      items: commits.map(toCommit),
      pageInfo: {
        hasNextPage: rest.length > 0,
        hasPreviousPage: query.after !== undefined,
        ...cursorsOf(cursors, list, { start, commits, rest }),
      },
    };
  }),

  handle(operations.getCommit, async ({ db, signal }, { params: { deploymentId, hash } }) => {
    const objects = createObjects(db, deploymentId);
    const find = (work: TextWork) => findCommit(objects, hash, work);
    const { commit, changes } = found(await texts.during({ deploymentId, signal }, find), 'commit_not_found');
    return { ...toCommit(commit), ...changes };
  }),

  handle(operations.exportBundle, async ({ db, sendHeaders }, { params: { deploymentId } }) => {
    const refs = await refsOf(db, deploymentId);
    sendHeaders({ 'content-disposition': `attachment; filename="deployment-${deploymentId}.bundle"` });
    return {
      contentType: 'application/x-git-bundle',
      data: exported(db, deploymentId, refs),
    };
  }),
];

/** A cursor is part of an address, so it holds only so many hashes: about 3 KB. */
const CURSOR_COMMITS_MAX = 50;

/**
 * A cursor holds the commits from which the list goes on, so that what is committed meanwhile moves nothing. If these are
 * too many, it holds those from which the page began, and the commit after which the list goes on.
 */
function cursorsOf(
  cursors: Cursors,
  list: string,
  { start, commits, rest }: { start: Start; commits: Commit[]; rest: Hash[] },
) {
  const [first, last] = [commits[0], commits.at(-1)];
  if (!first || !last) return { startCursor: null, endCursor: null };
  const encode = ({ from, after }: Start) => cursors.encode(list, [after ?? null, ...from]);
  return {
    startCursor: encode({ from: start.from, after: first.hash }),
    endCursor: encode(
      rest.length > CURSOR_COMMITS_MAX ? { from: start.from, after: last.hash } : { from: rest },
    ),
  };
}

const decodeStart = ([after, ...from]: unknown[]): Start => ({
  from: from as Hash[],
  after: (after as Hash | null) ?? undefined,
});

const toCommit = ({ hash, parents, message, author }: Commit) => ({
  hash,
  parents,
  message: message.trimEnd(),
  author: { name: author.name, email: author.email },
  createdAt: author.at.toISOString(),
});

/** A branch, or the whole deployment, may be deleted meanwhile. That is no fault of the server. */
async function* exported(db: Queryable, deploymentId: number, seen: Refs) {
  try {
    yield* streamBundle(createObjects(db, deploymentId), seen.refs, seen.head);
  } catch (error) {
    const isGone =
      error instanceof MissingObjectError && !isDeepStrictEqual(await refsOf(db, deploymentId), seen);
    throw isGone ? new ApiError('branch_changed', { cause: error }) : error;
  }
}

interface Refs {
  refs: Map<string, Hash>;
  head: string | undefined;
}

/** Every branch. `head` is the deploy branch, which a clone checks out. */
async function refsOf(db: Queryable, deploymentId: number): Promise<Refs> {
  const page = { afterId: 0, limit: dataModelLimits.branches };
  const branches = await store.listBranches(db, deploymentId, null, page);
  const refOf = ({ name }: store.BranchRow) => `refs/heads/${name}`;
  const deployed = branches.find(({ isDeploy }) => isDeploy);
  return {
    refs: new Map(branches.map((branch) => [refOf(branch), branch.head])),
    head: deployed && refOf(deployed),
  };
}
