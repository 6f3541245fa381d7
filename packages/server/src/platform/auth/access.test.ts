import { type Action, operations } from '@oriel/contract';
import { expect, test } from 'vitest';
import { authorize } from './access.ts';
import type { Actor } from './actor.ts';

const actor = (actions: Action[], deploymentIds: number[] | null = null): Actor => ({
  userId: 1,
  apiKeyId: 1,
  deploymentIds,
  actions: new Set(actions),
  deploymentActions: new Map(),
  embed: null,
});

const { getSpec, listRegions, createUser, createApiKey, listApiKeys, getDeployment, deleteDeployment } =
  operations;

test.each([
  ['a public operation takes anybody', getSpec, actor([]), {}, undefined],
  ['one without permission takes any caller', listRegions, actor([]), {}, undefined],
  ['All implies every action', createUser, actor(['All']), {}, undefined],
  ['another action does not', createUser, actor(['DeploymentRead']), {}, 'forbidden'],
  ['the action is enough', getDeployment, actor(['DeploymentRead']), { deploymentId: 1 }, undefined],
  [
    'who may not read a deployment does not learn of it',
    getDeployment,
    actor([]),
    { deploymentId: 1 },
    'deployment_not_found',
  ],
  [
    'who may read it and no more is told so',
    deleteDeployment,
    actor(['DeploymentRead']),
    { deploymentId: 1 },
    'forbidden',
  ],
  [
    'reading is needed before deleting',
    deleteDeployment,
    actor(['DeploymentDelete']),
    { deploymentId: 1 },
    'deployment_not_found',
  ],
  ['a scoped key reaches its deployment', getDeployment, actor(['All'], [1]), { deploymentId: 1 }, undefined],
  [
    'a scoped key reaches no other',
    getDeployment,
    actor(['All'], [1]),
    { deploymentId: 2 },
    'outside_key_scope',
  ],
  ['a scoped key reads what is account-wide', listApiKeys, actor(['All'], [1]), {}, undefined],
  ['a scoped key writes nothing account-wide', createUser, actor(['All'], [1]), {}, 'outside_key_scope'],
  ['unless the operation narrows it itself', createApiKey, actor(['All'], [1]), {}, undefined],
])('%s', (_, operation, caller, params, code) => {
  const attempt = () => authorize(operation as never, caller, params);
  if (code) expect(attempt).toThrow(expect.objectContaining({ code }));
  else expect(attempt).not.toThrow();
});
