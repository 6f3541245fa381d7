import { operations } from '@oriel/contract';
import { created } from '../../platform/audit/change.ts';
import { ApiError } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { lockPerson } from '../users/index.ts';
import type { PasswordLinks } from './password-links.ts';

export const passwordLinkRoutes = (links: PasswordLinks) => [
  handle(operations.createResetLink, ({ change }, { params, body }) =>
    change(async (tx) => {
      // Locked: a deactivation comes before or after the new link, and ends it.
      const user = await lockPerson(tx, params.id);
      if (user.isDeactivated) throw new ApiError('user_deactivated');
      const link = await links.reset(tx, user.id, body.expiresInSeconds);
      return { reply: link, changes: created({ id: user.id, expiresAt: link.expiresAt }) };
    }),
  ),
];
