/** Schemas of sign-in that several files of operations share. */
import { Type } from 'typebox';
import { Shape } from './schemas.ts';

/** The length of a password in characters. */
export const PASSWORD_LENGTH = { min: 8, max: 1024 } as const;

/**
 * A password that is checked and not set. It has no minimum, so that a short one is answered like any other wrong one.
 */
export const GivenPassword = Type.String({
  maxLength: PASSWORD_LENGTH.max,
  examples: ['correct horse battery staple'],
});

export const NewPassword = Type.String({
  minLength: PASSWORD_LENGTH.min,
  maxLength: PASSWORD_LENGTH.max,
  description:
    'Not a common one, and not the name or email of the user. The same password in another Unicode form counts as the same (NFC)',
  examples: ['correct horse battery staple'],
});

/** 1,024 characters of a password, each written as two escapes of six characters, and the other fields. */
export const PASSWORD_BODY_BYTES = 16 * 1024;

export const LinkSeconds = Type.Integer({
  minimum: 60,
  maximum: 30 * 24 * 3600,
  description: 'How long the link works; an hour by default',
});

/** The header by which a browser gets a new session, after an operation that ends all sessions of its person. */
export const renewedCookie = {
  'set-cookie': Type.Optional(Type.String({ description: 'Continues the session of the browser' })),
};

const expiry = { format: 'date-time', description: 'ISO 8601 in UTC, with milliseconds' } as const;

export const Tokens = Shape('Tokens', {
  accessToken: Type.String({ description: 'For `Authorization: Bearer …`' }),
  refreshToken: Type.String({ description: 'Works once: it is exchanged for new tokens' }),
  expiresAt: Type.String({ ...expiry, description: 'When the access token ends' }),
});

/** RFC 6749, 5.1. */
export const OAuthTokens = Shape('OAuthTokens', {
  access_token: Type.String(),
  token_type: Type.Enum(['Bearer']),
  expires_in: Type.Integer({ description: 'In seconds' }),
  refresh_token: Type.String(),
});

/** The reply has the form of the request: JSON is answered in camelCase, a form as the RFCs write it. */
export const TokensOfEitherForm = Type.Union([Tokens, OAuthTokens]);
