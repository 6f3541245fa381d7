/** Revoking many sessions at once: how many it ends is said before. */
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { shownNumber } from '../parts/lists.ts';
import { say } from './say.ts';

export const KEY = 'embed-sessions/';
const COUNTED_MAX = 1000;

type Target = Parameters<typeof api.revokeEmbedSessions>[0]['body'];

/** The sessions that are not over, at most so many of each state as one page of the list has. */
async function countLive(target: Target) {
  const pages = await Promise.all(
    (['minted', 'exchanged'] as const).map((state) =>
      api.listEmbedSessions({ ...target, state, first: COUNTED_MAX }),
    ),
  );
  const count = pages.reduce((sum, { items }) => sum + items.length, 0);
  const isMore = pages.some(({ pageInfo }) => pageInfo.hasNextPage);
  return { count, shown: `${shownNumber(count)}${isMore ? '+' : ''}` };
}

export async function askToRevoke(target: Target, name: string) {
  const live = await attempt(() => countLive(target));
  if (!live) return;
  confirm({
    title: say('revokeOf', { name }),
    hint: say('revokeHint', { ...live }),
    action: say('revoke'),
    run: async () => {
      const done = await attempt(() => api.revokeEmbedSessions({ body: target }));
      if (done) toast(say('revoked', { count: done.revoked }));
      invalidate(KEY);
      invalidate('values/explained/');
    },
  });
}
