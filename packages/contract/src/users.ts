import { Type } from 'typebox';
import { operation } from './operation.ts';
import { DateTime, Id, Maybe, Shape } from './schemas.ts';

const Email = Type.String({ format: 'email', maxLength: 254 });
const Url = Type.String({ format: 'uri', pattern: '^https?://', maxLength: 2048 });
const RoleNames = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100 });

const User = Shape('User', {
  id: Id,
  username: Type.String(),
  email: Type.String(),
  firstName: Maybe(Type.String()),
  title: Maybe(Type.String()),
  picture: Maybe(Type.String()),
  externalId: Maybe(Type.String()),
  isAdmin: Type.Boolean(),
  isDeactivated: Maybe(Type.Boolean()),
  roles: Type.Array(Type.String(), { description: 'Names of the roles that the user holds, sorted' }),
  defaultRoles: Maybe(Type.Array(Type.String(), { description: 'The same as `roles`' })),
  notifications: Type.Object({}, { description: 'Free-form keys' }),
  createdAt: Maybe(DateTime),
  updatedAt: Maybe(DateTime),
  lastLogin: Maybe(DateTime),
});

const UserCreateInput = Shape('UserCreateInput', {
  username: Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\s\\u0000-\\u001f\\u007f]+$' }),
  email: Email,
  password: Maybe(
    Type.String({
      minLength: 8,
      maxLength: 1024,
      description: 'Without one the user can not sign in by password',
    }),
  ),
  firstName: Maybe(Type.String({ maxLength: 255 })),
  picture: Maybe(Url),
  externalId: Maybe(Type.String({ minLength: 1, maxLength: 255 })),
  roles: Maybe({ ...RoleNames, description: 'Names of roles; `["Viewer"]` where nothing is given' }),
  defaultRoles: Maybe({ ...RoleNames, description: 'Another name of `roles`' }),
  isAdmin: Maybe(Type.Boolean({ description: '`true` adds the role `Admin`' })),
  isExternal: Type.Optional(
    Type.Unsafe<false | null>({
      enum: [false, null],
      description: 'External users come into being with their first embed session, not here',
    }),
  ),
});

export const createUser = operation({
  id: 'createUser',
  tag: 'Users Admin',
  method: 'POST',
  path: '/api/v1/users',
  trailingSlash: true,
  summary: 'Create a user',
  auth: 'management',
  permission: 'All',
  body: UserCreateInput,
  reply: User,
  errors: ['invalid_reference', 'username_taken', 'email_taken'],
  audit: 'user',
});

export const getMe = operation({
  id: 'getMe',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/users/me',
  summary: 'Get the user that the credential belongs to',
  auth: 'management',
  permission: 'none',
  reply: User,
  audit: 'none',
});
