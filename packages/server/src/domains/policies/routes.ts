import { operations } from '@oriel/contract';
import { handle } from '../../platform/http/routes.ts';
import { findCandidates, readPolicies, requireChain, setPolicy } from './policies.ts';

export const policyRoutes = () => [
  handle(operations.getResourcePolicies, async ({ actor, db }, { query }) =>
    readPolicies(db, actor, await requireChain(db, actor, query)),
  ),

  handle(operations.findPolicyCandidates, async ({ actor, db }, { query }) => {
    await requireChain(db, actor, query);
    return findCandidates(db, actor, query.search);
  }),

  handle(operations.setUserPolicy, ({ actor, change }, { body }) =>
    change((tx) => setPolicy(tx, actor, body, { column: 'user_id', id: body.userId })),
  ),
  handle(operations.setGroupPolicy, ({ actor, change }, { body }) =>
    change((tx) => setPolicy(tx, actor, body, { column: 'group_id', id: body.groupId })),
  ),
  handle(operations.setRolePolicy, ({ actor, change }, { body }) =>
    change((tx) => setPolicy(tx, actor, body, { column: 'role_id', id: body.roleId })),
  ),
];
