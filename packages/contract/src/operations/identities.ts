import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { Redirect } from '../kinds.ts';
import { Nothing, operation } from '../operation.ts';
import { DateTime, Id, Nullable, Shape } from '../schemas.ts';
import { renewedCookie } from '../sign-in.ts';

export const errors = {
  provider_not_found: { status: 404, message: 'This server has no sign-in provider.' },
  provider_unavailable: {
    status: 502,
    message:
      'The sign-in provider cannot be used at present. Try again in a moment. If it happens again, an admin must look at the settings: the log of the server says what is wrong.',
  },
  provider_refused: {
    status: 400,
    message: 'The sign-in provider did not confirm who you are. Sign in again.',
  },
  sign_in_not_begun: {
    status: 400,
    message: 'This sign-in began in another browser or too long ago, or it has ended already. Sign in again.',
  },
  identity_unknown: {
    status: 403,
    message: 'The provider knows you, but you have no user here. Ask an admin for an invitation.',
  },
  identity_incomplete: {
    status: 403,
    message: 'The provider sent no verified email address that can be used here, so no user was created.',
  },
  linked_identity_not_found: { status: 404, message: 'The user has no such identity.' },
  only_way_to_sign_in: {
    status: 409,
    message: 'You have no password, so you could not sign in any more. Ask an admin for a link to set one.',
  },
  identity_taken: {
    status: 409,
    message:
      'Another user here has this identity, or has its email address. If it is you, ask an admin for a link to set a new password, and use it to sign in with the provider.',
  },
} as const satisfies ErrorDefinitions;

const Identity = Shape('Identity', {
  id: Id,
  issuer: Type.String({ description: 'The provider' }),
  subject: Type.String({ description: 'Who the user is there' }),
  createdAt: DateTime,
});
const ofUsers = { tag: 'Users Admin', auth: 'management', permission: 'All', scopedKeys: 'refused' } as const;
const own = { tag: 'Sign-in', auth: 'management', permission: 'none', scopedKeys: 'refused' } as const;

export const listUserIdentities = operation({
  ...ofUsers,
  id: 'listUserIdentities',
  method: 'GET',
  path: '/api/v1/users/{id}/identities',
  trailingSlash: true,
  summary: 'List who a user is at sign-in providers',
  description: 'At most one for each provider. Whoever is one of them there signs in as the user.',
  params: { id: Id },
  reply: Type.Array(Identity),
  errors: ['user_not_found'],
  audit: 'none',
});

export const unlinkUserIdentity = operation({
  ...ofUsers,
  id: 'unlinkUserIdentity',
  method: 'DELETE',
  path: '/api/v1/users/{id}/identities/{identityId}',
  summary: 'Take an identity away from a user',
  description:
    'All sessions of the user end, and they leave the groups that the provider gave them. The identity does not sign in as this user any more. Without a password, the user needs a new link.',
  params: { id: Id, identityId: Id },
  reply: Nothing,
  errors: ['user_not_found', 'linked_identity_not_found'],
  audit: 'identity',
});

export const listMyIdentities = operation({
  ...own,
  id: 'listMyIdentities',
  method: 'GET',
  path: '/api/v1/users/me/identities',
  trailingSlash: true,
  summary: 'List who you are at sign-in providers',
  description: 'At most one for each provider. Whoever is one of them there signs in as you.',
  reply: Type.Array(Identity),
  audit: 'none',
});

export const unlinkMyIdentity = operation({
  ...own,
  id: 'unlinkMyIdentity',
  method: 'DELETE',
  path: '/api/v1/users/me/identities/{id}',
  summary: 'Take away one of your own identities',
  description:
    'You need a password, to keep a way to sign in. Ends all of your sessions, including this one. A browser that is signed in gets a new session by a cookie.',
  params: { id: Id },
  reply: Nothing,
  replyHeaders: renewedCookie,
  errors: ['user_not_found', 'linked_identity_not_found', 'only_way_to_sign_in', 'sign_in_failed'],
  audit: 'identity',
});

export const testSignInProvider = operation({
  ...ofUsers,
  id: 'testSignInProvider',
  tag: 'Sign-in',
  method: 'POST',
  path: '/api/v1/sign-in-provider/test',
  summary: 'Ask the sign-in provider whether its settings work',
  description:
    'Reads what the provider says about itself, and shows it the client id and the secret, without signing anybody in. The reply is a success whether or not that works; it says what is wrong.',
  rate: { max: 30, perSeconds: 60 },
  reply: Shape('SignInProviderTestResponse', {
    code: Type.Enum(
      [
        'works',
        'not_configured',
        'address_refused',
        'not_reached',
        'wrong_answer',
        'issuer_differs',
        'client_refused',
      ],
      {
        description:
          '`address_refused`: the guard for outgoing requests does not allow the address. `wrong_answer`: what answers is no provider. `issuer_differs`: the provider calls itself by another name than the setting. `client_refused`: the provider does not accept the client id or the secret',
      },
    ),
    issuer: Nullable(Type.String({ description: 'As it is set; null if none is' })),
    redirectUri: Type.String({ description: 'The address to register at the provider' }),
    signOutUri: Type.String({ description: 'The address after signing out, to register at the provider' }),
    reason: Nullable(
      Type.String({ description: 'What was found, in the words of the protocol; null if it works' }),
    ),
    check: Nullable(
      Type.String({ description: 'The settings that are probably wrong; null if none is known' }),
    ),
  }),
  audit: 'none',
});

const common = {
  tag: 'Pages',
  errorShape: 'page',
  method: 'GET',
  auth: 'public',
  permission: 'none',
  rate: { max: 120, perSeconds: 60 },
  reply: Redirect(303),
  audit: 'none',
} as const;
const cookie = (description: string) => ({ 'set-cookie': Type.String({ description }) });
const referer = {
  referer: Type.Optional(Type.String({ description: 'The page that led here, as browsers send it' })),
};
const text = (maxLength: number, description?: string) =>
  Type.Optional(Type.String({ maxLength, description }));

export const beginProviderSignIn = operation({
  ...common,
  id: 'beginProviderSignIn',
  path: '/sign-in/provider',
  summary: 'Go to the sign-in provider',
  description: 'Begins to sign in with OpenID Connect: authorization code with PKCE.',
  query: {
    next: text(2048, 'The page of this server to go to after signing in'),
    link: text(
      255,
      'The secret of an invitation, or of a link to set a password. It is accepted by signing in. Only the page of the link may send it',
    ),
  },
  headers: referer,
  replyHeaders: cookie('Binds the sign-in to this browser'),
  errors: ['provider_not_found', 'provider_unavailable', 'link_not_valid', 'forbidden'],
});

export const finishProviderSignIn = operation({
  ...common,
  id: 'finishProviderSignIn',
  path: '/sign-in/provider/callback',
  summary: 'Come back from the sign-in provider',
  description:
    'The redirect address to register at the provider. Begins the session of the browser, or signs out at the provider.',
  headers: { cookie: Type.Optional(Type.String()) },
  query: {
    code: text(4096),
    state: text(255),
    iss: text(2048),
    error: text(255),
    error_description: text(2048),
  },
  replyHeaders: {
    'set-cookie': Type.Array(Type.String(), {
      description: 'Begins the session of the browser, and ends what bound the sign-in to it',
    }),
  },
  errors: [
    'provider_not_found',
    'provider_unavailable',
    'provider_refused',
    'sign_in_not_begun',
    'identity_unknown',
    'identity_incomplete',
    'identity_taken',
    'user_deactivated',
    'link_not_valid',
    'sign_in_failed',
  ],
});

export const signOutAtProvider = operation({
  ...common,
  id: 'signOutAtProvider',
  path: '/sign-out/provider',
  summary: 'Sign out at the provider too',
  description:
    'Goes to the provider, which says who is signed in there, and then to its page that ends the session. Only the sign-in page may send people here.',
  headers: referer,
  replyHeaders: cookie('Binds what follows to this browser'),
  errors: ['provider_not_found', 'provider_unavailable', 'forbidden'],
});
