/** What an admin looks at and ends of one person: sessions, identities at the sign-in provider, and the user themself. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { Foot } from '../parts/foot.tsx';
import { shownTime, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { UserField } from '../parts/user-field.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';

interface UserDialogProps {
  userId: number;
  name: string;
  onClose(): void;
}

export function SessionsDialog({ userId, name, onClose }: UserDialogProps) {
  const key = `sessions/${userId}`;
  const list = useList(key, (first, signal) => api.listUserSessions({ id: userId, first }, { signal }));
  const end = async (work: () => Promise<unknown>) => {
    await attempt(work);
    invalidate(key);
  };
  return (
    <Dialog title={`${say('sessions')}: ${name}`} size="wide" onClose={onClose}>
      <Table
        label={say('sessions')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noSessions')}
        columns={[
          {
            title: say('device'),
            cell: ({ kind, clientId, userAgent }) => clientId ?? userAgent ?? say(`session_${kind}`),
          },
          { title: say('address'), cell: ({ ip }) => ip ?? '–' },
          { title: sayShared('created'), isWide: true, cell: ({ createdAt }) => shownTime(createdAt) },
          { title: say('lastUsed'), isWide: true, cell: ({ lastUsedAt }) => shownTime(lastUsedAt) },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ id }) => (
              <button
                type="button"
                class="bad"
                onClick={() => void end(() => api.endUserSession({ id: userId, sessionId: id }))}
              >
                {say('endSession')}
              </button>
            ),
          },
        ]}
      />
      {(list.data?.items.length ?? 0) > 1 && (
        <div class="dialog-foot">
          <button
            type="button"
            class="bad"
            onClick={() =>
              confirm({
                title: `${say('endAllSessions')}: ${name}`,
                hint: say('endAllHint'),
                action: say('endAllSessions'),
                run: () => end(() => api.endUserSessions({ id: userId })),
              })
            }
          >
            {say('endAllSessions')}
          </button>
        </div>
      )}
    </Dialog>
  );
}

export function IdentitiesDialog({ userId, name, onClose }: UserDialogProps) {
  const key = `identities/${userId}`;
  const list = useData(key, async (signal) => ({
    items: await api.listUserIdentities({ id: userId }, { signal }),
    hasMore: false,
  }));
  return (
    <Dialog title={`${say('identities')}: ${name}`} size="wide" onClose={onClose}>
      <p class="soft">{say('identitiesHint')}</p>
      <Table
        label={say('identities')}
        loaded={list}
        keyOf={({ id }) => id}
        empty={say('noIdentities')}
        columns={[
          { title: say('provider'), cell: ({ issuer }) => issuer },
          { title: say('subject'), isWide: true, cell: ({ subject }) => subject },
          { title: sayShared('created'), isWide: true, cell: ({ createdAt }) => shownTime(createdAt) },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ id }) => (
              <button
                type="button"
                class="bad"
                onClick={() =>
                  confirm({
                    title: `${say('unlink')}: ${name}`,
                    hint: say('unlinkHint'),
                    action: say('unlink'),
                    run: async () => {
                      await attempt(() => api.unlinkUserIdentity({ id: userId, identityId: id }));
                      invalidate(key);
                    },
                  })
                }
              >
                {say('unlink')}
              </button>
            ),
          },
        ]}
      />
    </Dialog>
  );
}

/** Deletes one user, or several that were chosen. What they own goes to another user. */
export function DeleteUsers({
  ids,
  name,
  onClose,
}: {
  ids: readonly number[];
  name: string;
  onClose(): void;
}) {
  const [owner, setOwner] = useState('');
  const newOwner = Number(owner) ? { newOwnerId: Number(owner) } : {};
  return (
    <Dialog title={say('removeIt', { name })} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const [id] = ids;
          const done = await attempt(async () =>
            ids.length === 1
              ? api.deleteUser({ id: id!, ...newOwner }).then(() => [])
              : (await api.bulkUserAction({ body: { action: 'DELETE', userIds: [...ids], ...newOwner } }))
                  .failed,
          );
          if (!done) return;
          tellFailures(done);
          invalidate('users/');
          onClose();
        }}
      >
        <p>{say('deleteUserHint')}</p>
        <UserField label={say('newOwner')} hint={say('newOwnerHint')} value={owner} onChange={setOwner} />
        <Foot onClose={onClose} action={sayShared('remove')} isDangerous />
      </form>
    </Dialog>
  );
}

export function tellFailures(failed: readonly { error: { message: string } }[]) {
  const texts = [...new Set(failed.map(({ error }) => error.message))];
  if (texts.length)
    toast(say('someFailed', { count: failed.length, why: texts.join(' ') }), { isProblem: true });
}
