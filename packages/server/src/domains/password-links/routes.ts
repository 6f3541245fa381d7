import { operations } from '@oriel/contract';
import { created } from '../../platform/audit/change.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import type { PasswordLinks } from './password-links.ts';
import { lockPerson } from './store.ts';

export const passwordLinkRoutes = (links: PasswordLinks) => [
  handle(operations.createResetLink, ({ change }, { params, body }) =>
    change(async (tx) => {
      const user = found(await lockPerson(tx, params.id), 'user_not_found');
      if (user.isDeactivated) throw new ApiError('user_deactivated');
      const link = await links.create(tx, user.id, 'reset', body.expiresInSeconds);
      return { reply: link, changes: created({ id: user.id, expiresAt: link.expiresAt }) };
    }),
  ),
];
