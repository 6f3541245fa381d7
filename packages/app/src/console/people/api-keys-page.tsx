/** API keys: whose they are, what they reach, until when, and when they were last used. A new one is shown once. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { useDeployments, useMe } from '../../frame/account.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm, showOnce } from '../parts/confirm.tsx';
import { CheckField, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { shownTime, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { UserField } from '../parts/user-field.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Key = Awaited<ReturnType<typeof api.listApiKeys>>['items'][number];
const KEY = 'api-keys/';

function ApiKeys() {
  const list = useList(`${KEY}list`, (first, signal) => api.listApiKeys({ first }, { signal }));
  const { data: deployments = [] } = useDeployments();
  const deploymentOf = (id: number) => deployments.find((one) => one.id === id)?.name ?? String(id);
  const { data: owners } = useData(`users/of-keys`, async (signal) => {
    const { items } = await api.listUsers({ first: 1000 }, { signal });
    return new Map(items.map(({ id, firstName, username }) => [id, firstName || username]));
  });
  const edit = (one?: Key) => openDialog((close) => <EditKey one={one} onClose={close} />);
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
        <button type="button" class="primary" onClick={() => edit()}>
          {say('newKey')}
        </button>
      </PageHead>
      <Table
        label={sayShared('apiKeys')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noKeys')}
        emptyHint={say('noKeysHint')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => name },
          { title: say('owner'), isWide: true, cell: ({ userId }) => owners?.get(userId) ?? userId },
          {
            title: say('scope'),
            isWide: true,
            cell: ({ deploymentIds }) => deploymentIds?.map(deploymentOf).join(', ') ?? sayShared('all'),
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
            cell: (one) => (
              <>
                <button type="button" onClick={() => edit(one)}>
                  {sayShared('edit')}
                </button>{' '}
                <button type="button" class="bad" onClick={() => remove(one.id, one.name)}>
                  {sayShared('remove')}
                </button>
              </>
            ),
          },
        ]}
      />
    </>
  );
}

/** The user of a key stays as it is. */
function EditKey({ one, onClose }: { one: Key | undefined; onClose(): void }) {
  const { data: me } = useMe();
  const { data: deployments = [] } = useDeployments();
  const [name, setName] = useState(one?.name ?? '');
  const [owner, setOwner] = useState('');
  const [isScoped, setScoped] = useState(one?.deploymentIds != null);
  const [scope, setScope] = useState<readonly number[]>(one?.deploymentIds ?? []);
  const [expires, setExpires] = useState(one?.expiresAt ? localTime(one.expiresAt) : '');
  const isEmpty = isScoped && scope.length === 0;
  return (
    <Dialog title={one?.name ?? say('newKey')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (isEmpty) return;
          const body = {
            name: name.trim(),
            deploymentIds: isScoped ? [...scope] : null,
            expiresAt: expires ? new Date(expires).toISOString() : null,
          };
          if (one) {
            if (!(await attempt(() => api.updateApiKey({ id: one.id, body })))) return;
            toast(sayShared('saved'));
          } else {
            const user = Number(owner) ? { userId: Number(owner) } : {};
            const made = await attempt(() => api.createApiKey({ body: { ...body, ...user } }));
            if (!made) return;
            showOnce(made.name, sayShared('apiKeys'), made.key);
          }
          invalidate(KEY);
          onClose();
        }}
      >
        <TextField label={sayShared('name')} required maxLength={255} value={name} onChange={setName} />
        {!one && <UserField label={say('owner')} value={owner || String(me?.id ?? '')} onChange={setOwner} />}
        <CheckField label={say('onlySome')} isOn={isScoped} onChange={setScoped} />
        {isScoped && (
          <fieldset class="choices">
            <legend>{say('scope')}</legend>
            {deployments.map(({ id, name: title }) => (
              <CheckField
                key={id}
                label={title}
                isOn={scope.includes(id)}
                onChange={(isOn) => setScope(isOn ? [...scope, id] : scope.filter((other) => other !== id))}
              />
            ))}
          </fieldset>
        )}
        <p class="bad note" role="status">
          {isEmpty && say('chooseOne')}
        </p>
        <TextField label={say('expires')} type="datetime-local" value={expires} onChange={setExpires} />
        <Foot onClose={onClose} action={sayShared(one ? 'save' : 'create')} />
      </form>
    </Dialog>
  );
}

/** As the field takes it: in the time of this browser. */
function localTime(time: string) {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export default consolePage('adminApiKeys', ApiKeys);
