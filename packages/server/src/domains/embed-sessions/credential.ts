/** Embed tokens as credentials. */
import type { EmbeddedCaller } from '../../platform/auth/actor.ts';
import type { CredentialKind } from '../../platform/auth/credentials.ts';
import { writeUses } from '../../platform/auth/uses.ts';
import type { Platform } from '../../platform/module.ts';
import { noteLogins } from '../users/index.ts';
import type { EmbedTokens } from './embed-tokens.ts';
import { updateLastSeen } from './tokens.store.ts';

const LAST_SEEN_EVERY_MS = 5 * 60_000;
const JWT_PATTERN = /^[\w-]+\.[\w-]+\.[\w-]+$/;

export interface EmbedCredential {
  kind: CredentialKind;
  stop(): Promise<void>;
}

export function createEmbedCredential(
  { essential, log }: Pick<Platform, 'essential' | 'log'>,
  embedTokens: EmbedTokens,
): EmbedCredential {
  const seen = writeUses({
    everyMs: LAST_SEEN_EVERY_MS,
    write: (due) =>
      essential.transaction(async (tx) => noteLogins(tx, await updateLastSeen(tx, due, LAST_SEEN_EVERY_MS))),
    log,
  });
  const noting = (viewer: EmbeddedCaller): EmbeddedCaller => {
    seen.note(viewer.embed.sessionId);
    return viewer;
  };
  const kind: CredentialKind = {
    name: 'embed token',
    auths: ['management', 'embed', 'query'],
    schemes: ['bearer'],
    inPages: true,
    example: { secret: 'eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl' },
    takes: ({ secret }) => JWT_PATTERN.test(secret),
    verify({ secret }) {
      const viewer = embedTokens.authenticate(secret);
      return viewer instanceof Promise ? viewer.then(noting) : noting(viewer);
    },
    howToSend: '`Authorization: Bearer <token>`, with the token that an embed session was exchanged for',
  };
  return { kind, stop: seen.stop };
}
