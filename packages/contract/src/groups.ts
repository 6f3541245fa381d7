/** The schema of a group of the account or of an embed tenant. */
import { Type } from 'typebox';
import { CursorPage, Id, Maybe, matching, Shape } from './schemas.ts';

/** The rule for the name of every new group. Groups that are older than this limit keep their longer names. */
export const GroupName = Type.String({
  minLength: 1,
  maxLength: 100,
  ...matching(
    '^(?!system:)(?=.*\\S)[^\\u0000-\\u001f\\u007f]*$',
    'must not begin with system:, and must have something other than spaces, and no line breaks or control characters',
  ),
  description: 'Names that begin with `system:` are reserved',
  examples: ['analysts'],
});

export const UserGroup = Shape('UserGroupDTO', {
  id: Id,
  name: Type.String(),
  description: Maybe(Type.String()),
  userCount: Maybe(Type.Integer({ minimum: 0 })),
});

export const UserGroups = CursorPage('UserGroupsConnectionResponse', UserGroup);
