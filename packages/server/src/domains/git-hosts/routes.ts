import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '@oriel/contract';
import { type Change, changed } from '../../platform/audit/change.ts';
import { mayIn } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { newPublicId } from '../../platform/public-id.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import {
  type EnqueueBuild,
  lockBranch,
  moveBranch,
  normalRoot,
  renameBranch,
  requireDataModelLock,
  rootProblem,
} from '../data-models/index.ts';
import { lockDeployment, updateSource } from '../deployments/index.ts';
import {
  type Connections,
  lookAt,
  newWebhookSecret,
  placeOf,
  remoteOf,
  requestSync,
  requireDeployed,
} from './connections.ts';
import { withHost } from './failures.ts';
import type { GitHubApp } from './github-app.ts';
import {
  createRepository,
  type Host,
  listRepositories,
  repositoryUrl,
  testWebhook,
  tryToken,
} from './hosts.ts';
import { type Installations, toInstallation } from './installations.ts';
import { requireRepositoryName } from './rules.ts';
import { requestStatus } from './statuses.ts';
import * as store from './store.ts';
import { fetchCommit, requireFits } from './sync.ts';
import { deliveryOf, isSigned } from './webhooks.ts';

export const WEBHOOK_SECRET_COLUMN: BoxedColumn = {
  table: 'git_connections',
  column: 'webhook_secret',
  keyColumn: 'webhook_id',
  holds: 'secrets of webhooks of git hosts',
};

interface GitHostOptions {
  installations: Installations;
  connections: Connections;
  enqueueBuild: EnqueueBuild;
  app: GitHubApp | undefined;
}

/** The operations on git hosts in the reference, whose first lines say how to connect one. */
const GUIDE_PATH = '/docs#/GitHost';

/** How long a test waits for the webhook, if it is not said, and how often it looks. */
const WEBHOOK_WAIT_SECONDS = 15;
const WEBHOOK_LOOK_MS = 250;

const allOf = <Item>(items: Item[]) => ({
  data: items,
  items,
  pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
});

export function gitHostRoutes(
  platform: Platform,
  { installations, connections, enqueueBuild, app }: GitHostOptions,
) {
  const { outbound, publicUrl, box: boxOf } = platform;
  const box = boxOf(WEBHOOK_SECRET_COLUMN);
  const guide = `${publicUrl}${GUIDE_PATH}`;
  const webhookUrl = ({ webhookId }: store.ConnectionRow) =>
    `${publicUrl}/api/v1/git-host/webhooks/${webhookId}`;

  return [
    handle(operations.status, async ({ db }) => {
      await installations.refresh(db);
      return {
        connected: (await store.countInstallations(db)) > 0,
        linkUrl: app?.linkUrl ?? guide,
        settingsUrl: app?.settingsUrl ?? guide,
      };
    }),

    handle(operations.installations, async ({ db }) => {
      await installations.refresh(db);
      return allOf((await store.listInstallations(db)).map(toInstallation));
    }),

    handle(operations.createGitHostInstallation, ({ change }, { body }) =>
      change(async (tx) => {
        const made = await installations.create(tx, body);
        const reply = toInstallation(made);
        return { reply, changes: { id: made.id, before: null, after: reply } };
      }),
    ),

    handle(operations.updateGitHostInstallation, ({ change }, { params, body }) =>
      change(async (tx) => {
        const { before, after } = await installations.update(tx, params.installationId, body);
        // A new token in the place of another is a change, although neither is shown.
        const isNew = before.tokenId !== after.tokenId;
        return {
          reply: toInstallation(after),
          changes: changed(
            { ...toInstallation(before), ...(isNew && { token: 'former' }) },
            { ...toInstallation(after), ...(isNew && { token: 'new' }) },
          ),
        };
      }),
    ),

    handle(operations.deleteGitHostInstallation, ({ change }, { params }) =>
      change(async (tx) => {
        if (await store.isInstallationUsed(tx, params.installationId))
          throw new ApiError('git_installation_in_use');
        const before = found(
          await store.deleteInstallation(tx, params.installationId),
          'git_installation_not_found',
        );
        return { reply: undefined, changes: { id: before.id, before: toInstallation(before), after: null } };
      }),
    ),

    handle(operations.testGitHostInstallation, async ({ actor, db, signal }, { params, body }) => {
      try {
        return await withHost(async () => {
          const host = await installations.open(db, params.installationId);
          const asked = await tryToken(outbound, host);
          if (body?.deploymentId != null) {
            requireVisible(actor, body.deploymentId);
            const connection = found(await store.findConnection(db, body.deploymentId), 'not_connected');
            if (connection.installationId !== params.installationId) throw new ApiError('not_connected');
            const seconds = body.waitSeconds ?? WEBHOOK_WAIT_SECONDS;
            return await waitForWebhook(db, host, connection, seconds, signal);
          }
          if (!body?.repository) {
            const message = asked
              ? 'The git host accepts the token.'
              : 'A host of the kind `git` can only be tried with a repository: name one.';
            return { works: asked, message };
          }
          requireRepositoryName(body.repository, 'repository');
          const remote = remoteOf(platform, host, repositoryUrl(host, body.repository));
          const { heads } = await remote.listBranches(signal);
          return {
            works: true,
            message: `The repository can be read: it has ${count(heads.size, 'branch')}.`,
          };
        });
      } catch (error) {
        const isAnswer = error instanceof ApiError && isTestAnswer(error.code);
        if (!isAnswer) throw error;
        return { works: false, message: error.message };
      }
    }),

    handle(operations.repositories, async ({ db }, { params }) => {
      const host = await installations.open(db, params.installationId);
      return allOf(await withHost(() => listRepositories(outbound, host)));
    }),

    handle(operations.branches, async ({ db, signal }, { params: { owner, repo }, query }) => {
      const host = await installations.open(db, query.installationId);
      requireRepositoryName(`${owner}/${repo}`, 'repo');
      const remote = remoteOf(platform, host, repositoryUrl(host, `${owner}/${repo}`));
      const { heads, defaultBranch } = await withHost(() => remote.listBranches(signal));
      return allOf([...heads.keys()].sort().map((name) => ({ name, isDefault: name === defaultBranch })));
    }),

    handle(operations.connect, async ({ actor, db, change, signal }, { params: { deploymentId }, body }) => {
      // The repository may be that of a deployment outside of the key's scope.
      if (actor.deploymentIds !== null) throw new ApiError('outside_key_scope');
      const root = body.deployProjectRoot ?? null;
      if (root !== null && rootProblem(root)) throw invalid('deployProjectRoot', rootProblem(root)!);
      requireRepositoryName(body.name, 'name');
      if (await store.findConnection(db, deploymentId)) throw new ApiError('already_connected');
      const host = await installations.open(db, body.installationId);
      const own = await requireDeployed(db, deploymentId);
      const { repository, url, seen } = await withHost(async () => {
        const name = body.isNewRepo
          ? await createRepository(outbound, host, body.name, body.private !== false)
          : body.name;
        const address = repositoryUrl(host, name);
        const remote = remoteOf(platform, host, address);
        const found = await lookAt(remote, body.deployBranchName ?? body.branch ?? null, own.name, signal);
        if (found.remoteHead !== undefined) {
          await fetchCommit(
            { db, remote, packs: connections.packs, signal },
            deploymentId,
            found.remoteHead,
            [],
          );
          await requireFits(db, deploymentId, found.remoteHead);
        }
        const { branchName, remoteHead } = found;
        const formerHead = await store.findFormerHead(db, deploymentId, address, branchName);
        const acceptRewritten = body.acceptRewritten ?? null;
        const place =
          remoteHead === undefined
            ? undefined
            : await placeOf(db, own, { branchName, remoteHead, formerHead, acceptRewritten });
        return { repository: name, url: address, seen: { branchName: found.branchName, place } };
      });
      return change(async (tx) => {
        const before = found(await lockDeployment(tx, deploymentId), 'deployment_not_found');
        found(await store.lockInstallation(tx, body.installationId), 'git_installation_not_found');
        const made = await store.insertConnection(tx, {
          deploymentId,
          installationId: body.installationId,
          repository,
          url,
          webhookId: newPublicId(),
        });
        if (!made) throw new ApiError('already_connected');
        await store.restoreFormerHeads(tx, deploymentId);
        const branchChange = await takePlace(tx, { deploymentId, branchId: own.id, head: own.head }, seen);
        const after = await updateSource(tx, deploymentId, {
          deployBranchName: seen.branchName,
          deployProjectRoot: root === null ? before.deployProjectRoot : normalRoot(root),
        });
        await enqueueBuild(tx, { deploymentId, branchId: own.id });
        await requestSync(tx, deploymentId, true);
        if (seen.place) await requestStatus(tx, deploymentId, seen.place.seenHead);
        const changes: Change[] = [
          { id: deploymentId, before: null, after: { installationId: body.installationId, repository, url } },
          { ...changed(before, after), resourceType: 'deployment' },
          ...branchChange,
        ];
        const { id, name, creationStep } = after;
        const deploymentUrl = `${publicUrl}/query/api/v1/deployments/${id}`;
        return { reply: { id, name, creationStep, deploymentUrl }, changes };
      });
    }),

    handle(operations.getGitHostConnection, async ({ db }, { params }) => {
      const row = found(await store.findConnection(db, params.deploymentId), 'not_connected');
      const { installationId, repository, url, message, checkedAt } = row;
      return {
        installationId: String(installationId),
        repository,
        url,
        state: message === null ? ('synced' as const) : ('failed' as const),
        message,
        checkedAt,
        webhookUrl: webhookUrl(row),
      };
    }),

    handle(operations.deleteGitHostConnection, ({ change }, { params: { deploymentId } }) =>
      change(async (tx) => {
        await store.keepFormerHeads(tx, deploymentId);
        const before = found(await store.deleteConnection(tx, deploymentId), 'not_connected');
        const { installationId, repository, url } = before;
        return {
          reply: undefined,
          changes: { id: deploymentId, before: { installationId, repository, url }, after: null },
        };
      }),
    ),

    handle(operations.rotateGitHostWebhookSecret, ({ change }, { params: { deploymentId } }) =>
      change(async (tx) => {
        const { webhookId } = found(await store.findConnection(tx, deploymentId), 'not_connected');
        const secret = newWebhookSecret();
        const sealed = box.seal(webhookId, Buffer.from(secret));
        const row = found(await store.updateWebhookSecret(tx, deploymentId, sealed), 'not_connected');
        const changes = {
          id: deploymentId,
          before: { webhookSecret: 'former' },
          after: { webhookSecret: 'new' },
        };
        return { reply: { webhookUrl: webhookUrl(row), secret }, changes };
      }),
    ),

    handle(operations.receiveGitHostWebhook, async ({ db }, { params, headers, body }) => {
      const row = found(await store.findConnectionByWebhook(db, params.webhookId), 'not_connected');
      if (row.webhookSecret === null) throw new ApiError('webhook_refused');
      const secret = box.open(row.webhookId, row.webhookSecret).toString('utf8');
      if (!isSigned(headers, await body.bytes(), secret)) throw new ApiError('webhook_refused');
      const { deploymentId } = row;
      const delivery = deliveryOf(headers);
      await db.transaction(async (tx) => {
        if (delivery !== undefined && !(await store.insertDelivery(tx, deploymentId, delivery))) return;
        await store.updateWebhookReceived(tx, deploymentId);
        await requestSync(tx, deploymentId, true);
      });
    }),
  ];

  /** Has the host send its webhook, if it can, and waits for it. The person who set it up can also send one there. */
  async function waitForWebhook(
    db: Database,
    host: Host,
    connection: store.ConnectionRow,
    seconds: number,
    signal: AbortSignal,
  ) {
    const { deploymentId, repository, webhookSecret } = connection;
    if (webhookSecret === null)
      return {
        works: false,
        message: 'There is no secret for webhooks yet: make one, and give it to the host.',
      };
    const since = await store.findNow(db);
    const wasAsked = await testWebhook(outbound, host, repository, webhookUrl(connection)).catch(
      (error: unknown) => {
        // The token may be one for repositories only, or the webhook be one of the whole organization.
        if (error instanceof RemoteError && error.failure !== 'unreachable') return false;
        throw error;
      },
    );
    for (const end = Date.now() + 1000 * seconds; Date.now() < end; ) {
      if (await store.wasWebhookReceived(db, deploymentId, since))
        return { works: true, message: 'The git host accepts the token, and its webhook was received.' };
      await sleep(WEBHOOK_LOOK_MS, undefined, { signal });
    }
    const message = wasAsked
      ? 'The git host was asked to send its webhook, and none with the right signature came. Can it reach the address, and does it have the newest secret?'
      : 'No webhook came. Send one from the settings of the repository on the git host while this waits, or set it up there first.';
    return { works: false, message };
  }

  /** Gives the deploy branch the name and the newest commit that the repository has. */
  async function takePlace(
    tx: Tx,
    own: { deploymentId: number; branchId: number; head: string },
    { branchName, place }: { branchName: string; place: Awaited<ReturnType<typeof placeOf>> | undefined },
  ): Promise<Change[]> {
    const { deploymentId, branchId } = own;
    await requireDataModelLock(tx, deploymentId);
    const branch = await lockBranch(tx, { deploymentId, userId: 0 }, branchId);
    if (branch.head !== own.head || !branch.isDeploy) throw new ApiError('branch_changed');
    if (branch.name !== branchName) await renameBranch(tx, branch, branchName);
    if (place === undefined) return [];
    await store.upsertRemoteHead(tx, deploymentId, branchName, place.seenHead);
    if (place.head === branch.head) return [];
    const to = { head: place.head, workingTree: null, uploadedTree: null };
    return [{ ...(await moveBranch(tx, branch, to, enqueueBuild)), resourceType: 'branch' }];
  }
}

/** What a test answers. Other errors are about the request. */
const isTestAnswer = (code: string) => code.startsWith('git_') && code !== 'git_installation_not_found';

/** Checks the rights on a deployment that is not in the path. */
function requireVisible(actor: Person, deploymentId: number): void {
  if (!mayIn(actor, deploymentId, 'DeploymentRead')) throw new ApiError('deployment_not_found');
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 'es'}`;
