/** Tells an embedded page that its token has ended. */
import { setTimeout as pause } from 'node:timers/promises';
import type { EmbedSession } from '../../platform/auth/actor.ts';
import type { EmbedTokens } from './embed-tokens.ts';

/** A look costs no query. The page promises to be blank within two seconds. */
const LOOK_EVERY_MS = 500;

/** If the server does not hear of revocations, the stream goes on: it is checked again like every other stream. */
export async function* watchToken(tokens: EmbedTokens, session: EmbedSession, signal: AbortSignal) {
  while (!signal.aborted) {
    const reason = tokens.whyEnded(session);
    if (reason) {
      yield { event: 'ended' as const, data: { reason } };
      return;
    }
    await pause(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}
