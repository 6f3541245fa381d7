/**
 * The variables of a deployment. Their values are sealed in the database (`platform/secrets/box.ts`), and nothing here
 * writes them to a log or to the audit log.
 */
import { randomUUID } from 'node:crypto';
import { limits } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { requireBytes } from '../../platform/limits.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import { lockDeployment } from '../deployments/index.ts';
import * as store from './store.ts';

/** Stands for a value that the caller may not see. A caller who sends it back leaves the value as it is. */
export const MASK = '[ENCRYPTED]';

/** Stands for a value that nobody can read any more, because its secret key was lost. It can be sent back too. */
export const LOST = '[LOST]';

export const ENV_VARIABLE_COLUMN: BoxedColumn = {
  table: 'env_variables',
  column: 'value',
  keyColumn: 'id',
  holds: 'variables of deployments',
};

export interface EnvVariable {
  name: string;
  value: string;
}

export interface EnvVars {
  /** All variables of the deployment. A value that was lost is null. For code that connects to its data sources. */
  readEnvVars(db: Queryable, deploymentId: number): Promise<Map<string, string | null>>;
  open(row: store.EnvVariableRow): string;
  /** Sets these variables and leaves the others as they are. Returns what changed. */
  set(tx: Tx, deploymentId: number, variables: readonly EnvVariable[]): Promise<Change[]>;
  delete(tx: Tx, deploymentId: number, name: string): Promise<Change>;
}

export function createEnvVars({ box: boxOf }: Pick<Platform, 'box'>): EnvVars {
  const box = boxOf(ENV_VARIABLE_COLUMN);
  const open = (row: store.EnvVariableRow) =>
    store.isLost(row) ? LOST : box.open(row.id, row.value).toString('utf8');

  return {
    open,

    async readEnvVars(db, deploymentId) {
      const page = { afterName: '', limit: limits.envVariables };
      const rows = await store.listEnvVariables(db, deploymentId, page);
      return new Map(rows.map((row) => [row.name, store.isLost(row) ? null : open(row)]));
    },

    async set(tx, deploymentId, variables) {
      // Only one transaction at a time sets variables of a deployment, so that their number is exact.
      found(await lockDeployment(tx, deploymentId), 'deployment_not_found');
      const names = variables.map(({ name }) => name);
      const rows = await store.listEnvVariablesByName(tx, deploymentId, names);
      const stored = new Map(rows.map((row) => [row.name, row]));
      requireStored(variables, stored);
      const wanted = variables.flatMap(({ name, value }) => {
        const row = stored.get(name);
        if (value === MASK || (row && open(row) === value)) return [];
        const id = row?.id ?? randomUUID();
        return [{ id, name, value: box.seal(id, Buffer.from(value)) }];
      });
      const added = wanted.filter(({ name }) => !stored.has(name)).length;
      if (added && (await store.countEnvVariables(tx, deploymentId)) + added > limits.envVariables) {
        throw new ApiError('env_variable_limit_reached');
      }
      const after = wanted.length ? await store.upsertEnvVariables(tx, deploymentId, wanted) : [];
      return after.map((row) => {
        const before = stored.get(row.name);
        return { id: row.name, before: before ? audited(before) : null, after: audited(row) };
      });
    },

    async delete(tx, deploymentId, name) {
      const row = found(await store.deleteEnvVariable(tx, deploymentId, name), 'env_variable_not_found');
      return { id: name, before: audited(row), after: null };
    },
  };
}

/** What the audit log holds of a variable: never its value. */
const audited = ({ name, updatedAt }: store.EnvVariableRow) => ({ name, updatedAt });

const issue = (i: number, field: keyof EnvVariable, message: string) => ({
  path: `env_variables[${i}].${field}`,
  message,
});

/** Throws a 400 for what can be refused without the database. */
export function checkEnvVariables(variables: readonly EnvVariable[]) {
  const seen = new Set<string>();
  for (const [i, { name, value }] of variables.entries()) {
    requireBytes(`env_variables[${i}].value`, value, limits.envValue);
    if (seen.has(name)) {
      const message = `The variable ${name} is given twice.`;
      throw new ApiError('duplicate_env_variable', { message, issues: [issue(i, 'name', message)] });
    }
    seen.add(name);
  }
}

function requireStored(variables: readonly EnvVariable[], stored: ReadonlyMap<string, unknown>) {
  for (const [i, { name, value }] of variables.entries()) {
    if (value !== MASK || stored.has(name)) continue;
    const message = `The mask ${MASK} keeps a stored value, and the variable ${name} has none.`;
    throw new ApiError('masked_env_variable', { message, issues: [issue(i, 'value', message)] });
  }
}
