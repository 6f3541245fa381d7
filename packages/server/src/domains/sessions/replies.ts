/** Tokens as replies show them. */
import type { IssuedTokens } from './sessions.ts';

export const tokens = ({ accessToken, refreshToken, expiresAt }: IssuedTokens) => ({
  accessToken,
  refreshToken,
  expiresAt,
});

/** As RFC 6749 writes them. */
export const oauthTokens = ({ accessToken, refreshToken, expiresAt }: IssuedTokens) => ({
  access_token: accessToken,
  token_type: 'Bearer' as const,
  expires_in: Math.max(0, Math.round((Date.parse(expiresAt) - Date.now()) / 1000)),
  refresh_token: refreshToken,
});
