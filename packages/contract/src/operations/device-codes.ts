import { Type } from 'typebox';
import type { ErrorDefinitions } from '../errors.ts';
import { FormOrJson } from '../kinds.ts';
import { operation } from '../operation.ts';
import { Maybe, Shape } from '../schemas.ts';
import { TokensOfEitherForm } from '../sign-in.ts';

export const errors = {
  authorization_pending: {
    status: 400,
    message: 'Nobody has approved the code yet: try again after the interval.',
    oauthError: 'authorization_pending',
  },
  slow_down: {
    status: 400,
    message: 'You asked too soon: from now on, wait 5 seconds longer between attempts.',
    oauthError: 'slow_down',
  },
  device_code_expired: {
    status: 400,
    message: 'The code has expired: begin again.',
    oauthError: 'expired_token',
  },
  device_code_not_found: {
    status: 404,
    message: 'There is no such code. It may have expired, or somebody has already answered it.',
  },
  device_denied: { status: 400, message: 'The person refused the request.', oauthError: 'access_denied' },
} as const satisfies ErrorDefinitions;

const clientId = Type.String({ minLength: 1, maxLength: 255, examples: ['my-command-line-tool'] });
const scope = Maybe(
  Type.String({ maxLength: 1024, description: 'Ignored: a session has the rights of its user' }),
);
const common = {
  tag: 'Sign-in',
  method: 'POST',
  auth: 'public',
  permission: 'none',
  errorShape: 'oauth',
  audit: 'none',
} as const;

/** The fields of RFC 8628, 3.2. */
const codes = {
  deviceCode: Type.String(),
  userCode: Type.String({ description: 'The person types it', examples: ['WDJB-MJHT'] }),
  verificationUri: Type.String({ description: 'Where the person types it' }),
  verificationUriComplete: Type.String({ description: 'The same, with the code filled in' }),
  expiresIn: Type.Integer({ description: 'In seconds' }),
  interval: Type.Integer({ description: 'Wait this many seconds between attempts' }),
};

export const createDeviceCode = operation({
  ...common,
  id: 'createDeviceCode',
  path: '/auth/device/code',
  summary: 'Begin to sign in on a device without a browser',
  description:
    'RFC 8628, for command-line tools. Show `user_code` and `verification_uri` to the person, and ask `/auth/device/token` until they have approved. A form is answered as the RFC writes it, JSON in camelCase.',
  body: FormOrJson(
    Shape('DeviceCodeInput', { clientId, scope }),
    Type.Object(
      { client_id: clientId, scope },
      { title: 'OAuthDeviceCodeInput', additionalProperties: true },
    ),
  ),
  rate: { max: 60, perSeconds: 600 },
  reply: Type.Union([
    Shape('DeviceCodes', codes),
    Shape('OAuthDeviceCodes', {
      device_code: codes.deviceCode,
      user_code: codes.userCode,
      verification_uri: codes.verificationUri,
      verification_uri_complete: codes.verificationUriComplete,
      expires_in: codes.expiresIn,
      interval: codes.interval,
    }),
  ]),
});

export const exchangeDeviceCode = operation({
  ...common,
  id: 'exchangeDeviceCode',
  path: '/auth/device/token',
  summary: 'Get the tokens for a code that a person approved',
  description:
    'A form is answered as RFC 8628 writes it, JSON in camelCase. A code is exchanged at most once. A form with `grant_type=refresh_token` renews the tokens, because OAuth libraries know one address for both.',
  body: FormOrJson(
    Shape('DeviceTokenInput', {
      grantType: Maybe(Type.Enum(['urn:ietf:params:oauth:grant-type:device_code'])),
      deviceCode: Type.String({ maxLength: 255 }),
      clientId,
    }),
    Type.Object(
      {
        grant_type: Maybe(
          Type.String({
            maxLength: 255,
            description: '`urn:ietf:params:oauth:grant-type:device_code` or `refresh_token`',
          }),
        ),
        device_code: Maybe(Type.String({ maxLength: 255 })),
        refresh_token: Maybe(Type.String({ maxLength: 255 })),
        client_id: clientId,
      },
      { title: 'OAuthDeviceTokenInput', additionalProperties: true },
    ),
  ),
  reply: TokensOfEitherForm,
  errors: [
    'invalid_grant',
    'unsupported_grant_type',
    'authorization_pending',
    'slow_down',
    'device_code_expired',
    'device_denied',
    'rate_limited',
  ],
});

export const getOAuthMetadata = operation({
  id: 'getOAuthMetadata',
  tag: 'Sign-in',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  summary: 'Tell OAuth libraries where devices get their tokens',
  description: 'RFC 8414.',
  auth: 'public',
  permission: 'none',
  reply: Shape('OAuthMetadata', {
    issuer: Type.String(),
    device_authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    grant_types_supported: Type.Array(Type.String()),
    response_types_supported: Type.Array(Type.String(), { description: 'Empty: there is no code grant' }),
    token_endpoint_auth_methods_supported: Type.Array(Type.String()),
  }),
  audit: 'none',
});
