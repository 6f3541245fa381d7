import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { FormOrJson } from '../kinds.ts';
import { Nothing, operation } from '../operation.ts';
import { CursorPage, cursorQuery, DateTime, Id, Maybe, Nullable, Shape } from '../schemas.ts';
import {
  GivenPassword,
  NewPassword,
  PASSWORD_BODY_BYTES,
  renewedCookie,
  Tokens,
  TokensOfEitherForm,
} from '../sign-in.ts';
import type { TagDefinitions } from '../tags.ts';

export const tags = {
  'Sign-in': 'How people sign in and out, and the sessions that they have.',
} satisfies TagDefinitions;

export const errors = {
  sign_in_failed: { status: 401, message: 'The user or the password is wrong.' },
  wrong_password: { status: 403, message: 'The current password is wrong.' },
  no_password: { status: 409, message: 'You have no password. Ask an admin for a link to set one.' },
  no_session: { status: 400, message: 'An API key has no session. To end the key, delete it.' },
  session_not_found: { status: 404, message: 'There is no such session.' },
  invalid_grant: {
    status: 400,
    message: 'The token is unknown, has expired, was used before or belongs to another client.',
    oauthError: 'invalid_grant',
  },
  unsupported_grant_type: {
    status: 400,
    message: 'This address takes another `grant_type`.',
    oauthError: 'unsupported_grant_type',
  },
} as const satisfies ErrorDefinitions;

const nameOf = (description: string) => Maybe(Type.String({ maxLength: 255, description }));

export const login = operation({
  id: 'login',
  tag: 'Sign-in',
  method: 'POST',
  path: '/auth/login',
  summary: 'Sign in with a password',
  description:
    'Give `email` or `username`. After 10 wrong passwords for one user, or 100 from one address, further attempts from that address are refused for a while.',
  auth: 'public',
  permission: 'none',
  body: Shape(
    'LoginInput',
    {
      email: nameOf('The email or the username'),
      username: nameOf('Another name for `email`'),
      password: GivenPassword,
    },
    { examples: [{ email: 'ada@example.com', password: 'correct horse battery staple' }] },
  ),
  bodyLimitBytes: PASSWORD_BODY_BYTES,
  reply: Tokens,
  errors: ['sign_in_failed', 'rate_limited'],
  audit: 'none',
});

export const logout = operation({
  id: 'logout',
  tag: 'Sign-in',
  method: 'POST',
  path: '/auth/logout',
  summary: 'Sign out',
  description: 'The tokens of the session stop working on every server within a second.',
  auth: 'management',
  permission: 'none',
  body: Shape('LogoutInput', {
    everywhere: Maybe(Type.Boolean({ description: '`true` ends all sessions of the user' })),
  }),
  optionalBody: true,
  reply: Nothing,
  replyHeaders: {
    'set-cookie': Type.Optional(
      Type.String({ description: 'Ends the cookie, if the session was of a browser' }),
    ),
  },
  errors: ['no_session'],
  scopedKeys: 'refused',
  audit: 'session',
});

const RefreshingClient = Maybe(
  Type.String({ maxLength: 255, description: 'Required for the token of a device, and else ignored' }),
);

export const refreshTokens = operation({
  id: 'refreshTokens',
  tag: 'Sign-in',
  method: 'POST',
  path: '/auth/oauth2/refresh',
  summary: 'Get new tokens for a refresh token',
  description:
    'A refresh token works once. If it is used again, somebody else may have it, so the session ends with all of its tokens. The token of a device needs the client id that the device gave. A form is answered as RFC 6749 writes it, JSON in camelCase.',
  auth: 'public',
  permission: 'none',
  body: FormOrJson(
    Shape('RefreshInput', { refreshToken: Type.String({ maxLength: 255 }), clientId: RefreshingClient }),
    Type.Object(
      {
        grant_type: Maybe(Type.String({ maxLength: 255, description: '`refresh_token`' })),
        refresh_token: Type.String({ maxLength: 255 }),
        client_id: RefreshingClient,
      },
      { title: 'OAuthRefreshInput', additionalProperties: true },
    ),
  ),
  reply: TokensOfEitherForm,
  errors: ['invalid_grant', 'unsupported_grant_type', 'rate_limited'],
  errorShape: 'oauth',
  audit: 'none',
});

const session = {
  id: Id,
  kind: Type.Enum(['login', 'device', 'console'], {
    description: 'Signed in over the API, by a device’s code, or by browser',
  }),
  clientId: Nullable(Type.String({ description: 'The `client_id` that a device gave' })),
  userAgent: Nullable(Type.String()),
  ip: Nullable(Type.String({ description: 'The address that the person signed in from' })),
  createdAt: DateTime,
  lastUsedAt: Nullable(DateTime),
  expiresAt: DateTime,
};
const Session = Shape('Session', {
  ...session,
  isCurrent: Type.Boolean({ description: 'Whether this request belongs to the session' }),
});
const UserSession = Shape('UserSession', session);

export const listMySessions = operation({
  id: 'listMySessions',
  tag: 'Sign-in',
  method: 'GET',
  path: '/api/v1/users/me/sessions',
  summary: 'List your own sessions',
  description:
    'Oldest first. A user has at most 100 sessions: a new one ends the one that was not used for longest.',
  auth: 'management',
  permission: 'none',
  query: cursorQuery,
  reply: CursorPage('SessionsListResponse', Session),
  scopedKeys: 'refused',
  audit: 'none',
});

export const endMySession = operation({
  id: 'endMySession',
  tag: 'Sign-in',
  method: 'DELETE',
  path: '/api/v1/users/me/sessions/{id}',
  summary: 'End one of your own sessions',
  description: 'Its tokens stop working on every server within a second.',
  auth: 'management',
  permission: 'none',
  params: { id: Id },
  reply: Nothing,
  errors: ['session_not_found'],
  scopedKeys: 'refused',
  audit: 'session',
});

export const changeMyPassword = operation({
  id: 'changeMyPassword',
  tag: 'Sign-in',
  method: 'PUT',
  path: '/api/v1/users/me/password',
  summary: 'Change your own password',
  description:
    'Ends all of your sessions, including this one. A browser that is signed in gets a new session by a cookie.',
  auth: 'management',
  permission: 'none',
  body: Shape('ChangePasswordInput', { currentPassword: GivenPassword, newPassword: NewPassword }),
  bodyLimitBytes: PASSWORD_BODY_BYTES,
  reply: Nothing,
  replyHeaders: renewedCookie,
  errors: ['wrong_password', 'no_password', 'password_too_easy', 'user_not_found', 'sign_in_failed'],
  scopedKeys: 'refused',
  audit: 'user',
});

const ofUsers = {
  tag: 'Users Admin',
  auth: 'management',
  permission: 'All',
  scopedKeys: 'refused',
} as const;

export const listUserSessions = operation({
  ...ofUsers,
  id: 'listUserSessions',
  method: 'GET',
  path: '/api/v1/users/{id}/sessions',
  summary: 'List the sessions of a user',
  description: 'Oldest first, and only those that have not ended. A user has at most 100.',
  params: { id: Id },
  query: cursorQuery,
  reply: CursorPage('UserSessionsListResponse', UserSession),
  errors: ['user_not_found'],
  audit: 'none',
});

export const endUserSession = operation({
  ...ofUsers,
  id: 'endUserSession',
  method: 'DELETE',
  path: '/api/v1/users/{id}/sessions/{sessionId}',
  summary: 'End a session of a user',
  description: 'Its tokens stop working on every server within a second.',
  params: { id: Id, sessionId: Id },
  reply: Nothing,
  errors: ['user_not_found', 'session_not_found'],
  audit: 'session',
});

export const endUserSessions = operation({
  ...ofUsers,
  id: 'endUserSessions',
  method: 'DELETE',
  path: '/api/v1/users/{id}/sessions',
  summary: 'End all sessions of a user',
  description:
    'The user is signed out everywhere within a second, and may sign in again. Their API keys go on; to stop those too, deactivate the user.',
  params: { id: Id },
  reply: Nothing,
  errors: ['user_not_found'],
  audit: 'session',
});
