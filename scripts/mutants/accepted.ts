/** Mutants that survive because they change nothing that anybody could notice. */
export const accepted: { file: string; text: string; why: string }[] = [
  {
    file: 'packages/server/src/domains/api-keys/routes.ts',
    text: 'expiresAt !== null',
    why: 'no time is parsed from null, and what is not a number is not in the past',
  },
  {
    file: 'packages/server/src/domains/environments/credential.store.ts',
    text: `and t.token_hash = any(\${tokenHashes}::bytea[])`,
    why: 'the caller looks up the hashes that it asked for, and more of them only take longer',
  },
  {
    file: 'packages/server/src/domains/environments/store.ts',
    text: `deployment_id = \${deploymentId} and`,
    why: 'the branch was found in the deployment, and belongs to no other one',
  },
  {
    file: 'packages/semantic/src/sql/names.ts',
    text: 'prefix !== undefined',
    why: 'the prefix of a model is the same each time, and is kept for speed',
  },
  {
    file: 'packages/semantic/src/sql/calls.ts',
    text: `names[0] === 'pg_catalog'`,
    why: 'the parser has this form only for functions of pg_catalog',
  },
  {
    file: 'packages/server/src/platform/auth/access.ts',
    text: `scope === 'none'`,
    why: 'no token has this scope, so the next line refuses it too',
  },
  {
    file: 'packages/server/src/platform/auth/csrf.ts',
    text: 'host !== undefined',
    why: 'no page has the origin of a host that is called undefined',
  },
  {
    file: 'packages/server/src/platform/auth/uses.ts',
    text: '!due.length',
    why: 'an empty list of uses writes nothing, and is left out for speed',
  },
];
