import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { limits } from '../limits.ts';
import { alsoAs, Nothing, operation } from '../operation.ts';
import {
  BulkActionError,
  CursorPage,
  cursorQuery,
  DateTime,
  Email,
  Id,
  Maybe,
  matching,
  Name,
  Shape,
  Url,
} from '../schemas.ts';
import { LinkSeconds, NewPassword } from '../sign-in.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  Users: 'The user that the credential belongs to.',
  'Users Admin': 'List, create, change and delete users.',
} satisfies TagDefinitions;

export const errors = {
  user_not_found: { status: 404, message: 'There is no such user.' },
  username_taken: { status: 409, message: 'Another user has this username.', scimType: 'uniqueness' },
  email_taken: { status: 409, message: 'Another user has this email.', scimType: 'uniqueness' },
  password_too_easy: {
    status: 400,
    message:
      'This password is too easy to guess: it is a common one, or made of the name or email of its owner. Choose another one.',
  },
  last_admin: { status: 409, message: 'At least one active user must keep the action `All`.' },
  user_owns_content: { status: 409, message: 'The user owns content: give a `newOwnerId` for it.' },
} as const satisfies ErrorDefinitions;

const FreeObject = Type.Object(
  {},
  {
    additionalProperties: true,
    description: `Free-form keys; up to ${limits.userSettings / 1024} KB of JSON`,
  },
);
const RoleNames = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { maxItems: 100 });

const userFields = {
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
  notifications: { ...FreeObject, description: '`true` for each notification that the user wants, by name' },
  settings: Maybe(FreeObject),
  tosAccepted: Maybe(FreeObject),
  createdAt: Maybe(DateTime),
  updatedAt: Maybe(DateTime),
  lastLogin: Maybe(DateTime),
};

const User = Shape('User', userFields);

const CreatedUser = Shape('CreatedUser', {
  ...userFields,
  invitationUrl: Maybe(
    Type.String({
      description:
        'A link with which the user sets a password, once; `null` if the request gave one. It is a secret, and shown only in this reply. If the server can send mail, the user gets it by mail, too',
    }),
  ),
});

const UserCreateInput = Shape(
  'UserCreateInput',
  {
    username: Type.String({
      minLength: 1,
      maxLength: 255,
      ...matching('^[^\\s\\u0000-\\u001f\\u007f]+$', 'must not have spaces or control characters'),
      description:
        'Unique; upper and lower case, and other forms of the same letters, count as equal. It must not have invisible characters, or Latin letters beside letters of other scripts that look like them',
    }),
    email: { ...Email, description: 'Unique; upper and lower case count as equal' },
    password: Maybe({
      ...NewPassword,
      description: 'Without a password the reply holds a link with which the user sets one',
    }),
    invitationExpiresInSeconds: Maybe(LinkSeconds),
    firstName: Maybe(Type.String({ maxLength: 255 })),
    picture: Maybe(Url),
    externalId: Maybe(Type.String({ minLength: 1, maxLength: 255 })),
    roles: Maybe({ ...RoleNames, description: 'Names of roles; `["Viewer"]` by default' }),
    defaultRoles: Maybe({ ...RoleNames, description: 'Another name for `roles`' }),
    isAdmin: Maybe(Type.Boolean({ description: '`true` adds the role `Admin`' })),
    isExternal: Type.Optional(
      Type.Unsafe<false | null>({
        enum: [false, null],
        description: 'External users are created by their first embed session, not here',
      }),
    ),
  },
  { examples: [{ username: 'ada', email: 'ada@example.com', firstName: 'Ada', roles: ['Explorer'] }] },
);

export const listUsers = operation({
  id: 'listUsers',
  tag: 'Users Admin',
  method: 'GET',
  path: '/api/v1/users',
  summary: 'List users',
  description:
    'Oldest first, without external users, which are listed with their embed tenant. Filters are combined. `settings` and `tosAccepted` are left out: read a single user to see them.',
  auth: 'management',
  permission: 'All',
  query: {
    search: Maybe(
      Type.String({ maxLength: 255, description: 'A part of the name, username or email, in any case' }),
    ),
    state: Maybe(Type.Enum(['active', 'deactivated'])),
    role: Maybe(Type.String({ maxLength: 255, description: 'The name of a role that the user holds' })),
    groupId: Maybe({ ...Id, description: 'A group that the user is a member of' }),
    ...cursorQuery,
  },
  reply: CursorPage('UsersListResponse', User),
  scopedKeys: 'allowed',
  audit: 'none',
});

export const getUser = operation({
  id: 'getUser',
  tag: 'Users Admin',
  method: 'GET',
  path: '/api/v1/users/{id}',
  summary: 'Get a user',
  description: 'Users of the account and external users of embed tenants have numbers of one kind.',
  auth: 'management',
  permission: 'All',
  params: { id: Id },
  reply: User,
  errors: ['user_not_found'],
  scopedKeys: 'allowed',
  audit: 'none',
});

export const createUser = operation({
  id: 'createUser',
  tag: 'Users Admin',
  method: 'POST',
  path: '/api/v1/users',
  trailingSlash: true,
  summary: 'Create a user',
  description: 'Without a password, the reply holds a link with which the person chooses one.',
  auth: 'management',
  permission: 'All',
  body: UserCreateInput,
  reply: CreatedUser,
  errors: ['invalid_reference', 'username_taken', 'email_taken', 'password_too_easy'],
  scopedKeys: 'refused',
  audit: 'user',
});

export const getMe = operation({
  id: 'getMe',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/users/me',
  summary: 'Get the user that the credential belongs to',
  description: 'Works for every credential of a user, so it is a good first call.',
  auth: 'management',
  permission: 'none',
  reply: User,
  scopedKeys: 'allowed',
  audit: 'none',
});

const Notifications = Maybe(
  Type.Array(Name, { maxItems: 100, description: 'Names of the notifications that the user wants' }),
);

export const updateMe = operation({
  id: 'updateMe',
  tag: 'Users',
  method: 'PUT',
  path: '/api/v1/users/me',
  summary: 'Change your own name, picture or notifications',
  description:
    'Absent fields stay as they are. `null` clears `firstName` and `picture`, and counts as absent for `notifications`.',
  auth: 'management',
  permission: 'none',
  body: Shape(
    'MeUpdateInput',
    { firstName: Maybe(Type.String({ maxLength: 255 })), picture: Maybe(Url), notifications: Notifications },
    { examples: [{ firstName: 'Ada', notifications: ['digest'] }] },
  ),
  reply: User,
  // Each change is an entry of the audit log, which nobody can delete.
  rate: { max: 60, perSeconds: 3600 },
  scopedKeys: 'refused',
  audit: 'user',
});

export const getEmbedTheme = operation({
  id: 'getEmbedTheme',
  tag: 'Users',
  method: 'GET',
  path: '/api/v1/users/embed-theme',
  summary: 'Get how embedded pages look for the user that the credential belongs to',
  description: 'What an admin stored for the user with `updateUser`; `null` if nothing.',
  auth: 'management',
  permission: 'none',
  reply: Shape('EmbedThemeResponse', {
    embedTheme: Maybe({
      ...FreeObject,
      description: 'As an admin set it for the user; `null` if none is set',
    }),
  }),
  scopedKeys: 'allowed',
  audit: 'none',
});

const UserUpdateInput = Shape('UserUpdateInput', {
  firstName: Maybe(Type.String({ maxLength: 255 })),
  title: Maybe(Type.String({ maxLength: 255 })),
  picture: Maybe(Url),
  password: Maybe(NewPassword),
  roles: Maybe({ ...RoleNames, description: 'Replaces the roles of the user' }),
  isAdmin: Maybe(Type.Boolean({ description: 'Adds or removes the role `Admin`' })),
  isDeactivated: Maybe(Type.Boolean({ description: 'The API keys of a deactivated user do not work' })),
  notifications: Notifications,
  settings: Maybe(FreeObject),
  tosAccepted: Maybe(FreeObject),
  lastLogin: Maybe({
    ...DateTime,
    description: 'When the user last signed in. Each sign-in sets it; give it if another system recorded it',
  }),
  embedTheme: Maybe({
    ...FreeObject,
    description:
      'How embedded pages look for the user; up to 64 KB of JSON. The user reads it at `/api/v1/users/embed-theme`',
  }),
  securityContext: Maybe({
    ...FreeObject,
    description: 'What queries know about the user; up to 64 KB of JSON, stored but not returned',
  }),
});

export const updateUser = operation({
  id: 'updateUser',
  tag: 'Users Admin',
  method: 'PUT',
  path: '/api/v1/users/{id}',
  summary: 'Change a user',
  description:
    'Absent fields stay as they are. `null` clears `firstName`, `title`, `picture`, `settings`, `tosAccepted`, `lastLogin`, `embedTheme` and `securityContext`, and counts as absent elsewhere.',
  auth: 'management',
  permission: 'All',
  params: { id: Id },
  body: UserUpdateInput,
  reply: User,
  errors: ['user_not_found', 'invalid_reference', 'last_admin', 'password_too_easy'],
  scopedKeys: 'refused',
  audit: 'user',
});

export const updateUserByPost = alsoAs(updateUser, {
  id: 'updateUserByPost',
  method: 'POST',
  summary: 'Change a user, with POST',
});

/** `ACTIVATE` comes first: a tool that tries an operation with the first allowed values must not deactivate anybody. */
const BulkAction = Type.Enum(['ACTIVATE', 'DEACTIVATE', 'DELETE']);

export const bulkUserAction = operation({
  id: 'bulkUserAction',
  tag: 'Users Admin',
  method: 'POST',
  path: '/api/v1/users/bulk',
  summary: 'Activate, deactivate or delete several users',
  description:
    'Each user succeeds or fails separately, in the given order, as in the operations for a single user. An id that is given twice counts once. The new owner gets up to a thousand items before the reply, and the rest a few moments later.',
  auth: 'management',
  permission: 'All',
  body: Shape(
    'BulkUserActionInput',
    {
      action: BulkAction,
      userIds: Type.Array(Id, { minItems: 1, maxItems: 100 }),
      newOwnerId: Maybe({
        ...Id,
        description: 'Only for `DELETE`: the new owner of the content of the users',
      }),
    },
    { examples: [{ action: 'DEACTIVATE', userIds: [12, 15] }] },
  ),
  reply: Shape('BulkUserActionPayload', {
    action: BulkAction,
    succeeded: Type.Array(Id),
    failed: Type.Array(Shape('BulkUserActionFailure', { userId: Id, error: BulkActionError })),
  }),
  errors: ['invalid_reference'],
  scopedKeys: 'refused',
  audit: 'user',
});

export const deleteUser = operation({
  id: 'deleteUser',
  tag: 'Users Admin',
  method: 'DELETE',
  path: '/api/v1/users/{id}',
  summary: 'Delete a user, with their API keys',
  description:
    'The folders, workbooks and reports of the user are not deleted: they go to `newOwnerId`, another active user. The user is deleted when the reply is sent. If the user owns more than a thousand items, the new owner gets the rest of them a few moments later.',
  auth: 'management',
  permission: 'All',
  params: { id: Id },
  query: { newOwnerId: Maybe({ ...Id, description: 'The new owner of the content that the user owns' }) },
  reply: Nothing,
  errors: ['user_not_found', 'invalid_reference', 'user_owns_content', 'last_admin'],
  scopedKeys: 'refused',
  audit: 'user',
});
