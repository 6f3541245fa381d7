import { operations } from '@oriel/contract';
import { deleted } from '../../platform/audit/change.ts';
import { found } from '../../platform/errors.ts';
import { pageByIdOrOffset } from '../../platform/http/pages.ts';
import { type Handler, handle } from '../../platform/http/routes.ts';
import {
  countEnvironments,
  type EnvironmentRow,
  findEnvironment,
  listEnvironments,
} from './branches.store.ts';
import { branchIdOf } from './rules.ts';
import { maskedToken } from './secret.ts';
import * as store from './store.ts';
import { createToken, ownContext, requireContext } from './tokens.ts';

export function environmentRoutes({ publicUrl }: { publicUrl: string }) {
  const toEnvironment = (deploymentId: number, { id, name, type, user }: EnvironmentRow) => ({
    id: String(id),
    type,
    branch: name,
    user,
    // A token says which environment it is for, so all of them have one address.
    api_credentials: [
      { type: 'rest' as const, version: 1, url: `${publicUrl}/query/api/v1/deployments/${deploymentId}` },
    ],
  });

  const create =
    (purpose: 'query' | 'meta_sync'): Handler<typeof operations.createDeploymentEnvironmentToken> =>
    ({ actor, change }, { params, body }) => {
      requireContext(body.security_context);
      const request = {
        deploymentId: params.deploymentId,
        environment: branchIdOf(params.environmentId),
        purpose,
        securityContext: body.security_context,
        scopes: body.scopes,
        lifeSeconds: body.expires_in,
      };
      return change(async (tx) => {
        const made = await createToken(tx, actor, request);
        return { reply: { data: { ...shown(made.token), token: made.token.text } }, changes: made.change };
      });
    };

  return [
    handle(operations.getDeploymentEnvironments, async ({ actor, db, cursors }, { params, query }) => {
      const { deploymentId } = params;
      const type = query.type ?? null;
      const viewed = { deploymentId, userId: actor.userId };
      const page = await pageByIdOrOffset(cursors, 'environments by id', query, (by) =>
        listEnvironments(db, viewed, type, by),
      );
      const total = await countEnvironments(db, viewed, type);
      const items = page.items.map((branch) => toEnvironment(deploymentId, branch));
      return { ...pageOf(items, page), pagination: paginationOf(page, total) };
    }),

    handle(operations.getDeploymentEnvironmentTokens, async ({ actor, db, cursors }, { params, query }) => {
      const { deploymentId } = params;
      const viewed = { deploymentId, userId: actor.userId };
      const branch = await findEnvironment(db, viewed, branchIdOf(params.environmentId));
      const { id: branchId } = found(branch, 'environment_not_found');
      const environment = { deploymentId, branchId };
      const page = await pageByIdOrOffset(cursors, `tokens of environment ${branchId}`, query, (by) =>
        store.listTokens(db, environment, by),
      );
      const items = page.items.map((row) => ({ ...shown(row), token: maskedToken(row.ending) }));
      const total = await store.countTokens(db, environment);
      return { ...pageOf(items, page), pagination: paginationOf(page, total) };
    }),

    handle(operations.createDeploymentEnvironmentToken, create('query')),
    handle(operations.createDeploymentEnvironmentTokenForMetaSync, create('meta_sync')),

    handle(operations.deleteDeploymentEnvironmentToken, ({ actor, change }, { params }) =>
      change(async (tx) => {
        const viewed = { deploymentId: params.deploymentId, userId: actor.userId };
        const branch = await findEnvironment(tx, viewed, branchIdOf(params.environmentId));
        const { id: branchId } = found(branch, 'environment_not_found');
        const environment = { deploymentId: params.deploymentId, branchId };
        const token = await store.deleteToken(tx, environment, params.tokenId);
        const { ending: _, ...before } = found(token, 'environment_token_not_found');
        return { reply: undefined, changes: deleted(before) };
      }),
    ),

    handle(operations.deploymentToken, ({ actor, change }, { params: { deploymentId } }) =>
      change(async (tx) => {
        const identity = await store.findIdentity(tx, actor.userId);
        const securityContext = ownContext(identity, actor.userId);
        const request = {
          deploymentId,
          environment: 'production' as const,
          purpose: 'own_identity' as const,
          securityContext,
        };
        const made = await createToken(tx, actor, request);
        return { reply: { apiToken: made.token.text }, changes: made.change };
      }),
    ),
  ];
}

const shown = ({ id, createdAt, expiresAt, securityContext }: store.TokenRow) => ({
  id,
  created_at: createdAt,
  expires_at: expiresAt,
  security_context: securityContext,
});

interface Page {
  pageInfo: Awaited<ReturnType<typeof pageByIdOrOffset>>['pageInfo'];
  limit: number;
  offset: number;
}

const pageOf = <Item>(items: Item[], { pageInfo }: Page) => ({ items, data: items, pageInfo });
const paginationOf = ({ limit, offset }: Page, total: number) => ({ limit, offset, total });
