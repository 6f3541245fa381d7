/** API keys: whose they are, what they reach, until when, and when they were last used. A new one is shown once. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { useMe } from '../../frame/account.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/toasts.tsx';
import { confirm, showOnce } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { shownTime, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';
import { Foot } from './users-page.tsx';

export const texts = withShared(say);

const KEY = 'api-keys/';

function ApiKeys() {
  const list = useList(`${KEY}list`, (first, signal) => api.listApiKeys({ first }, { signal }));
  const remove = (id: number, name: string) =>
    confirm({
      title: say('removeIt', { name }),
      hint: say('removeKeyHint'),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteApiKey({ id }));
        invalidate(KEY);
      },
    });
  return (
    <>
      <PageHead title={sayShared('apiKeys')} hint={say('keysHint')}>
        <button
          type="button"
          class="primary"
          onClick={() => openDialog((close) => <NewKey onClose={close} />)}
        >
          {say('newKey')}
        </button>
      </PageHead>
      <Table
        label={sayShared('apiKeys')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noKeys')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => name },
          { title: say('owner'), isWide: true, isNumber: true, cell: ({ userId }) => userId },
          {
            title: say('scope'),
            isWide: true,
            cell: ({ deploymentIds }) => deploymentIds?.join(', ') ?? sayShared('all'),
          },
          {
            title: say('expires'),
            isWide: true,
            cell: ({ expiresAt }) => (expiresAt ? shownTime(expiresAt) : say('never')),
          },
          {
            title: say('lastUsed'),
            cell: ({ lastUsedAt }) => (lastUsedAt ? shownTime(lastUsedAt) : say('never')),
          },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ id, name }) => (
              <button type="button" class="bad" onClick={() => remove(id, name)}>
                {sayShared('remove')}
              </button>
            ),
          },
        ]}
      />
    </>
  );
}

function NewKey({ onClose }: { onClose(): void }) {
  const { data: me } = useMe();
  const [name, setName] = useState('');
  const [owner, setOwner] = useState('');
  const [scope, setScope] = useState('');
  const [expires, setExpires] = useState('');
  const [error, setError] = useState<string>();
  return (
    <Dialog title={say('newKey')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (!/^[\d\s,]*$/.test(scope)) return setError(say('badScope'));
          const deploymentIds = scope
            .split(/[\s,]+/)
            .filter(Boolean)
            .map(Number);
          const body = {
            name: name.trim(),
            ...(Number(owner) ? { userId: Number(owner) } : {}),
            ...(deploymentIds.length ? { deploymentIds } : {}),
            ...(expires ? { expiresAt: new Date(expires).toISOString() } : {}),
          };
          const made = await attempt(() => api.createApiKey({ body }));
          if (!made) return;
          invalidate(KEY);
          onClose();
          showOnce(made.name, sayShared('apiKeys'), made.key);
        }}
      >
        <TextField label={sayShared('name')} required maxLength={255} value={name} onChange={setName} />
        <TextField
          label={say('owner')}
          hint={`${me?.id ?? ''} = ${me?.username ?? ''}`}
          value={owner}
          onChange={setOwner}
        />
        <TextField
          label={say('scope')}
          hint={say('scopeHint')}
          error={error}
          value={scope}
          onChange={setScope}
        />
        <TextField label={say('expires')} type="datetime-local" value={expires} onChange={setExpires} />
        <Foot onClose={onClose} action={sayShared('create')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminApiKeys', ApiKeys);
