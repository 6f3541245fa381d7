import { operations } from '@oriel/contract';
import { mayIn } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { checkEnvVariables, type EnvVars, MASK } from './env-vars.ts';
import * as store from './store.ts';

const LIST = 'env variables by name';

interface ListContext {
  db: Queryable;
  actor: Person;
  cursors: Cursors;
}

export function envVarRoutes(variables: EnvVars) {
  /** Returns a page of the list, with masked values if the caller may not see them. */
  async function listFor(
    { db, actor, cursors }: ListContext,
    deploymentId: number,
    { first, after }: { first?: number; after?: string } = {},
  ) {
    const size = pageSize(first);
    const afterName = after === undefined ? '' : (cursors.decode(LIST, after)[0] as string);
    const rows = await store.listEnvVariables(db, deploymentId, { afterName, limit: size + 1 });
    const shown = mayIn(actor, deploymentId, 'SecretsManage') ? variables.open : () => MASK;
    const { items, pageInfo } = toPage(
      rows.map((row) => ({ name: row.name, value: shown(row) })),
      { size, after, cursorOf: ({ name }) => cursors.encode(LIST, [name]) },
    );
    return { items, data: items, pageInfo };
  }

  return [
    handle(operations.getEnvVariables, (call, { params, query }) =>
      listFor(call, params.deploymentId, query),
    ),

    handle(operations.setEnvVariables, ({ actor, cursors, change }, { params: { deploymentId }, body }) => {
      checkEnvVariables(body.env_variables);
      return change(async (tx) => {
        const changes = await variables.set(tx, deploymentId, body.env_variables);
        return { reply: await listFor({ db: tx, actor, cursors }, deploymentId), changes };
      });
    }),

    handle(operations.deleteEnvVariable, ({ change }, { params: { deploymentId, name } }) =>
      change(async (tx) => ({ reply: undefined, changes: await variables.delete(tx, deploymentId, name) })),
    ),
  ];
}
