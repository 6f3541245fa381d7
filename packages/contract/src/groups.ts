/** The shape of a group, of the account or of an embed tenant. */
import { Type } from 'typebox';
import { CursorPage, Id, Maybe, Shape } from './schemas.ts';

export const UserGroup = Shape('UserGroupDTO', {
  id: Id,
  name: Type.String(),
  description: Maybe(Type.String()),
  userCount: Maybe(Type.Integer({ minimum: 0 })),
});

export const UserGroups = CursorPage('UserGroupsConnectionResponse', UserGroup);
