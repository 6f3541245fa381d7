import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { operation } from '../operation.ts';
import { DateTime, Id, Maybe, Shape } from '../schemas.ts';
import { LinkSeconds } from '../sign-in.ts';

export const errors = {
  link_not_valid: {
    status: 400,
    message: 'The link has expired or was used before. Ask for a new one.',
  },
  user_deactivated: { status: 409, message: 'The user is deactivated.' },
} as const satisfies ErrorDefinitions;

export const createResetLink = operation({
  id: 'createResetLink',
  tag: 'Users Admin',
  method: 'POST',
  path: '/api/v1/users/{id}/reset-link',
  summary: 'Create a link with which a user sets a new password',
  description:
    'The link works once, and ends the earlier links of the user. It is shown only in this reply: send it to the user. If the server can send mail, the user gets it by mail, too. The password and the sessions of the user stay until they use it.',
  auth: 'management',
  permission: 'All',
  params: { id: Id },
  body: Shape('ResetLinkInput', { expiresInSeconds: Maybe(LinkSeconds) }),
  optionalBody: true,
  reply: Shape('ResetLink', {
    url: Type.String({ description: 'A secret: who has it can set the password' }),
    expiresAt: DateTime,
  }),
  errors: ['user_not_found', 'user_deactivated'],
  scopedKeys: 'refused',
  audit: 'passwordLink',
});
