import { type Action, operations } from '@oriel/contract';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { handle } from '../http/routes.ts';
import { authorize } from './access.ts';
import {
  type Actor,
  type Caller,
  type CallerOf,
  type EmbeddedCaller,
  embedOf,
  identityOf,
  type KeyHolder,
  NOBODY,
  type Nobody,
  type Person,
  sharerOf,
} from './actor.ts';

const actor = (actions: Action[], deploymentIds: number[] | null = null): Person => ({
  kind: 'person',
  userId: 1,
  apiKeyId: 1,
  sessionId: null,
  deploymentIds,
  actions: new Set(actions),
  deploymentActions: new Map(),
});

/** May change the settings of a deployment by a policy, and nothing by a role. */
const limited: Person = {
  ...actor([]),
  deploymentActions: new Map([[1, new Set<Action>(['DeploymentUpdate'])]]),
};

const { getSpec, listRegions, createUser, createApiKey, listApiKeys } = operations;
const { getDeployment, getDeployments, deleteDeployment, createNotification } = operations;

test.each([
  ['a public operation accepts unknown callers', getSpec, NOBODY, {}, undefined],
  [
    'a public operation in a deployment accepts unknown callers',
    { ...getDeployment, auth: 'public' },
    NOBODY,
    { deploymentId: 1 },
    undefined,
  ],
  [
    'an operation that asks for a level on a resource leaves the rest to its handler',
    { ...deleteDeployment, permissionOn: 'resource' },
    actor(['DeploymentRead']),
    { deploymentId: 1 },
    undefined,
  ],
  ['an operation without a permission accepts any known caller', listRegions, actor([]), {}, undefined],
  ['All implies every action', createUser, actor(['All']), {}, undefined],
  ['another action is not enough', createUser, actor(['DeploymentRead']), {}, 'forbidden'],
  ['the action is enough', getDeployment, actor(['DeploymentRead']), { deploymentId: 1 }, undefined],
  [
    'a caller who may not read a deployment gets a 404',
    getDeployment,
    actor([]),
    { deploymentId: 1 },
    'deployment_not_found',
  ],
  [
    'a caller who may only read a deployment gets a 403',
    deleteDeployment,
    actor(['DeploymentRead']),
    { deploymentId: 1 },
    'forbidden',
  ],
  [
    'a caller who may not read a deployment cannot delete it',
    deleteDeployment,
    actor(['DeploymentDelete']),
    { deploymentId: 1 },
    'deployment_not_found',
  ],
  ['a scoped key reaches its deployment', getDeployment, actor(['All'], [1]), { deploymentId: 1 }, undefined],
  [
    'a scoped key does not reach another deployment',
    getDeployment,
    actor(['All'], [1]),
    { deploymentId: 2 },
    'outside_key_scope',
  ],
  ['a policy on a deployment includes reading it', getDeployment, limited, { deploymentId: 1 }, undefined],
  ['a policy does not allow other actions', deleteDeployment, limited, { deploymentId: 1 }, 'forbidden'],
  ['a policy is for one deployment', getDeployment, limited, { deploymentId: 2 }, 'deployment_not_found'],
  ['whoever may read one deployment may list them', getDeployments, limited, {}, undefined],
  ['whoever may read none may not list them', getDeployments, actor([]), {}, 'forbidden'],
  ['a policy on a deployment opens nothing of the account', createUser, limited, {}, 'forbidden'],
  ['a scoped key reads account-wide resources', listApiKeys, actor(['All'], [1]), {}, undefined],
  [
    'a scoped key cannot change account-wide resources',
    createUser,
    actor(['All'], [1]),
    {},
    'outside_key_scope',
  ],
  [
    'a scoped key can call an operation that limits its effect to the scope itself',
    createApiKey,
    actor(['All'], [1]),
    {},
    undefined,
  ],
])('%s', (_, operation, caller, params, code) => {
  const attempt = () => authorize(operation as never, caller, params);
  if (code) expect(attempt).toThrow(expect.objectContaining({ code }));
  else expect(attempt).not.toThrow();
});

test.each([
  [
    'of the account',
    createUser,
    actor(['DeploymentRead']),
    {},
    /needs the action `All`, which admins have\.$/,
  ],
  [
    'in a deployment',
    deleteDeployment,
    actor(['DeploymentRead']),
    { deploymentId: 1 },
    /the action `DeploymentDelete`\.$/,
  ],
])('a refusal names the action that is missing: %s', (_, operation, caller, params, message) => {
  expect(() => authorize(operation as never, caller, params)).toThrow(message);
});

const known = { userId: 7, deploymentIds: [1], actions: new Set<Action>(), deploymentActions: new Map() };
const embed = { sessionId: 3, embedTenant: 'acme', creatorMode: true };
const ACTORS = {
  nobody: NOBODY,
  'person with a key': { ...known, kind: 'person', apiKeyId: 5, sessionId: null },
  'person without a key': { ...known, kind: 'person', apiKeyId: null, sessionId: null },
  'embedded person': { ...known, kind: 'embeddedPerson', embed },
  'external viewer': { ...known, kind: 'externalViewer', embed },
  'holder of a token': {
    kind: 'tokenHolder',
    tokenId: 1,
    userId: 7,
    deploymentId: 1,
    branchId: 1,
    scopes: new Set(['data']),
    securityContext: {},
    isCreator: false,
  },
} as const satisfies Record<string, Actor>;

test('an environment token is for one deployment', () => {
  const operation = { ...operations.getFolders, auth: 'query', queryScope: 'data' };
  const call = (deploymentId: number) =>
    authorize(operation as never, ACTORS['holder of a token'], { deploymentId });
  expect(() => call(1)).not.toThrow();
  expect(() => call(2)).toThrow(expect.objectContaining({ code: 'outside_key_scope' }));
});

test('creators need no role for what is open to them, and other callers do', () => {
  const rights = { actions: new Set<Action>(), deploymentActions: new Map([[1, new Set<Action>()]]) };
  const call = (caller: Actor, changes: object = {}) =>
    authorize({ ...createNotification, ...changes } as never, { ...caller, ...rights } as Actor, {
      deploymentId: 1,
    });
  const forbidden = expect.objectContaining({ code: 'forbidden' });
  expect(() => call(ACTORS['external viewer'])).not.toThrow();
  expect(() => call(ACTORS['person with a key'])).toThrow(forbidden);
  const isForAll = { permissionOn: undefined };
  expect(() => call(ACTORS['external viewer'], isForAll)).toThrow(forbidden);
  expect(() => call(ACTORS['person with a key'], { ...isForAll, permission: 'none' })).not.toThrow();
});

describe('a handler is reached only by callers of its declared type', () => {
  const { generateSession, getEmbedSession, getFolders } = operations;

  test.each([
    [getSpec, ['nobody']],
    [listRegions, ['person with a key', 'person without a key']],
    [getFolders, ['person with a key', 'person without a key', 'embedded person', 'external viewer']],
    [
      { ...getFolders, auth: 'query', queryScope: 'data' },
      Object.keys(ACTORS).filter((name) => name !== 'nobody'),
    ],
    [
      { ...getFolders, auth: 'query', queryScope: 'meta', embed: undefined },
      ['person with a key', 'person without a key'],
    ],
    [
      { ...getFolders, auth: 'query', queryScope: 'none' },
      ['person with a key', 'person without a key', 'embedded person', 'external viewer'],
    ],
    [generateSession, ['person with a key']],
    // This operation is for sessions, which none of these callers has.
    [{ ...listRegions, auth: 'console' }, []],
    [getEmbedSession, ['embedded person', 'external viewer']],
  ])('$id', (operation, names) => {
    const rights = { actions: new Set(['All']), deploymentActions: new Map() };
    const reach = Object.entries(ACTORS).filter(([, caller]) => {
      try {
        authorize(operation as never, { ...caller, ...rights } as never, { deploymentId: 1 });
        return true;
      } catch {
        return false;
      }
    });
    expect(reach.map(([name]) => name)).toEqual(names);
  });

  test('an embed token at an operation for people is told that it is the wrong credential', () => {
    const attempt = () => authorize(listRegions as never, ACTORS['external viewer'], {});
    expect(attempt).toThrow('This operation does not accept embed tokens.');
  });

  test('an actor of an unknown kind is refused by every operation', () => {
    for (const operation of [getSpec, listRegions, getFolders, generateSession, getEmbedSession]) {
      const attempt = () => authorize(operation as never, { ...known, kind: 'robot' } as never, {});
      expect(attempt).toThrow(`${operation.id} cannot be called by: robot`);
    }
  });

  test('the types match the checks at run time', () => {
    expectTypeOf<CallerOf<typeof getSpec>>().toEqualTypeOf<Nobody>();
    expectTypeOf<CallerOf<typeof listRegions>>().toEqualTypeOf<Person>();
    expectTypeOf<CallerOf<typeof getFolders>>().toEqualTypeOf<Caller>();
    expectTypeOf<CallerOf<typeof generateSession>>().toEqualTypeOf<KeyHolder>();
    expectTypeOf<CallerOf<typeof getEmbedSession>>().toEqualTypeOf<EmbeddedCaller>();
    handle(operations.getJwks, ({ actor }) => {
      // @ts-expect-error nobody has no user
      actor.userId;
      return { keys: [] };
    });
    // @ts-expect-error a handler for embedded callers only, where people call too
    handle(operations.getEmbedSessionEntry, ({ actor }: { actor: EmbeddedCaller }) => actor.embed);
  });
});

test('each kind of caller has a name in the log, the audit log and the shares', () => {
  const named = Object.fromEntries(
    Object.entries(ACTORS).map(([name, caller]) => [
      name,
      [identityOf(caller), sharerOf(caller), embedOf(caller)],
    ]),
  );
  expect(named).toEqual({
    nobody: [{ userId: null, apiKeyId: null }, 'nobody', null],
    'person with a key': [{ userId: 7, apiKeyId: 5 }, 'user 7', null],
    'person without a key': [{ userId: 7, apiKeyId: null }, 'user 7', null],
    'embedded person': [{ userId: 7, apiKeyId: null }, 'embed tenant acme', embed],
    'external viewer': [{ userId: 7, apiKeyId: null }, 'embed tenant acme', embed],
    'holder of a token': [{ userId: 7, apiKeyId: null }, 'tokens for deployment 1', null],
  });
});
