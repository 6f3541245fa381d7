/** Users: found, invited, given roles and groups, and deactivated. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icons.tsx';
import { Menu } from '../../parts/menu.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm, showOnce } from '../parts/confirm.tsx';
import { CheckField, FilterChoice, FilterField, Filters, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { shownTime, useFilters, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';
import { DeleteUsers, IdentitiesDialog, SessionsDialog, tellFailures } from './user-dialogs.tsx';
import { ValuesDialog } from './values-dialog.tsx';

export const texts = withShared(say);

type User = Awaited<ReturnType<typeof api.listUsers>>['items'][number];
const KEY = 'users/';
/** As many as the API takes at once. */
const BULK_MAX = 100;
const nameOf = ({ firstName, username }: User) => firstName || username;

export const useRoles = () =>
  useData('roles/names', async (signal) =>
    (await api.listRoles({ first: 1000 }, { signal })).items.map(({ name }) => name),
  );

const useGroups = () =>
  useData(
    'user-groups/names',
    async (signal) => (await api.listUserGroups({ first: 1000 }, { signal })).items,
  );

function Users() {
  const [filters, change] = useFilters(['search', 'state', 'role', 'groupId'] as const);
  const { data: roles = [] } = useRoles();
  const { data: groups = [] } = useGroups();
  const state = (['active', 'deactivated'] as const).find((one) => one === filters.state);
  const query = {
    ...(filters.search ? { search: filters.search } : {}),
    ...(state ? { state } : {}),
    ...(filters.role ? { role: filters.role } : {}),
    ...(Number(filters.groupId) ? { groupId: Number(filters.groupId) } : {}),
  };
  const list = useList(`${KEY}${JSON.stringify(query)}`, (first, signal) =>
    api.listUsers({ ...query, first }, { signal }),
  );
  const all = { value: '', label: sayShared('all') };
  const switchUser = async (user: User, isDeactivated: boolean) => {
    await attempt(() => api.updateUser({ id: user.id, body: { isDeactivated } }));
    invalidate(KEY);
  };
  const [chosen, choose] = useState<ReadonlySet<number>>(new Set());
  const shownIds = list.data?.items.map(({ id }) => id) ?? [];
  /** Those who are chosen and still listed. */
  const chosenIds = shownIds.filter((id) => chosen.has(id)).slice(0, BULK_MAX);
  const doWithAll = async (action: 'ACTIVATE' | 'DEACTIVATE') => {
    const done = await attempt(() => api.bulkUserAction({ body: { action, userIds: chosenIds } }));
    invalidate(KEY);
    if (!done) return;
    choose(new Set(done.failed.map(({ userId }) => userId)));
    tellFailures(done.failed);
  };
  const menuOf = (user: User) => [
    {
      label: sayShared('edit'),
      run: () => openDialog((close) => <EditUser user={user} onClose={close} />),
    },
    {
      label: sayShared('attributes'),
      run: () => openDialog((close) => <ValuesDialog userId={user.id} name={nameOf(user)} onClose={close} />),
    },
    {
      label: say('sessions'),
      run: () =>
        openDialog((close) => <SessionsDialog userId={user.id} name={nameOf(user)} onClose={close} />),
    },
    {
      label: say('identities'),
      run: () =>
        openDialog((close) => <IdentitiesDialog userId={user.id} name={nameOf(user)} onClose={close} />),
    },
    {
      label: say(user.lastLogin ? 'resetLink' : 'inviteAgain'),
      run: async () => {
        const made = await attempt(() => api.createResetLink({ id: user.id, body: {} }));
        if (made) showOnce(nameOf(user), say(user.lastLogin ? 'resetLink' : 'invitation'), made.url);
      },
    },
    user.isDeactivated
      ? { label: say('activate'), begins: true, run: () => void switchUser(user, false) }
      : {
          label: say('deactivate'),
          begins: true,
          isDangerous: true,
          run: () =>
            confirm({
              title: `${say('deactivate')}: ${nameOf(user)}`,
              hint: say('deactivateHint', { name: nameOf(user) }),
              action: say('deactivate'),
              run: () => switchUser(user, true),
            }),
        },
    {
      label: sayShared('remove'),
      isDangerous: true,
      run: () => openDialog((close) => <DeleteUsers ids={[user.id]} name={nameOf(user)} onClose={close} />),
    },
  ];
  return (
    <>
      <PageHead title={sayShared('users')} hint={say('usersHint')}>
        <button
          type="button"
          class="primary"
          onClick={() => openDialog((close) => <Invite roles={roles} onClose={close} />)}
        >
          {say('invite')}
        </button>
      </PageHead>
      <Filters>
        <FilterField
          label={sayShared('search')}
          value={filters.search ?? ''}
          onChange={(search) => change({ search })}
        />
        <FilterChoice
          label={say('state')}
          value={state ?? ''}
          onChange={(value) => change({ state: value })}
          options={[
            all,
            { value: 'active', label: say('active') },
            { value: 'deactivated', label: say('deactivated') },
          ]}
        />
        <FilterChoice
          label={sayShared('roles')}
          value={filters.role ?? ''}
          onChange={(role) => change({ role })}
          options={[all, ...roles.map((name) => ({ value: name, label: name }))]}
        />
        <FilterChoice
          label={sayShared('groups')}
          value={filters.groupId ?? ''}
          onChange={(groupId) => change({ groupId })}
          options={[all, ...groups.map(({ id, name }) => ({ value: String(id), label: name }))]}
        />
      </Filters>
      {chosenIds.length > 0 && (
        <div class="toolbar" role="group" aria-label={say('chosen', { count: chosenIds.length })}>
          <span role="status">{say('chosen', { count: chosenIds.length })}</span>
          <button type="button" onClick={() => void doWithAll('ACTIVATE')}>
            {say('activate')}
          </button>
          <button
            type="button"
            onClick={() =>
              confirm({
                title: `${say('deactivate')}: ${say('chosen', { count: chosenIds.length })}`,
                hint: say('deactivateAllHint'),
                action: say('deactivate'),
                run: () => doWithAll('DEACTIVATE'),
              })
            }
          >
            {say('deactivate')}
          </button>
          <button
            type="button"
            class="bad"
            onClick={() =>
              openDialog((close) => (
                <DeleteUsers
                  ids={chosenIds}
                  name={say('chosen', { count: chosenIds.length })}
                  onClose={close}
                />
              ))
            }
          >
            {sayShared('remove')}
          </button>
        </div>
      )}
      <Table
        label={sayShared('users')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noUsers')}
        columns={[
          {
            title: say('choose'),
            isActions: true,
            cell: (user) => (
              <input
                type="checkbox"
                aria-label={`${say('choose')}: ${nameOf(user)}`}
                checked={chosen.has(user.id)}
                onChange={(event) => {
                  const next = new Set(chosen);
                  if (event.currentTarget.checked) next.add(user.id);
                  else next.delete(user.id);
                  choose(next);
                }}
              />
            ),
          },
          { title: sayShared('name'), cell: nameOf },
          { title: say('email'), isWide: true, cell: ({ email }) => email },
          { title: sayShared('roles'), cell: (user) => user.roles.join(', ') },
          {
            title: say('state'),
            isWide: true,
            cell: ({ isDeactivated }) => say(isDeactivated ? 'deactivated' : 'active'),
          },
          {
            title: say('lastLogin'),
            isWide: true,
            cell: ({ lastLogin }) => (lastLogin ? shownTime(lastLogin) : say('never')),
          },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (user) => (
              <Menu label={`${sayShared('actions')}: ${nameOf(user)}`} items={menuOf(user)}>
                <Icon name="more" />
              </Menu>
            ),
          },
        ]}
      />
    </>
  );
}

function RoleChoice({ chosen, onChange }: { chosen: readonly string[]; onChange(names: string[]): void }) {
  const { data: roles = [] } = useRoles();
  return (
    <fieldset class="choices">
      <legend>{sayShared('roles')}</legend>
      {roles.map((name) => (
        <CheckField
          key={name}
          label={name}
          isOn={chosen.includes(name)}
          onChange={(isOn) => onChange(isOn ? [...chosen, name] : chosen.filter((other) => other !== name))}
        />
      ))}
    </fieldset>
  );
}

function Invite({ onClose }: { roles: readonly string[]; onClose(): void }) {
  const [email, setEmail] = useState('');
  const [firstName, setName] = useState('');
  const [chosen, choose] = useState<string[]>(['Viewer']);
  return (
    <Dialog title={say('invite')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { username: email.trim(), email: email.trim(), firstName, roles: chosen };
          const made = await attempt(() => api.createUser({ body }));
          if (!made) return;
          invalidate(KEY);
          onClose();
          if (made.invitationUrl) showOnce(made.email, say('invitation'), made.invitationUrl);
        }}
      >
        <p class="soft">{say('inviteHint')}</p>
        <TextField
          label={say('email')}
          type="email"
          required
          maxLength={254}
          value={email}
          onChange={setEmail}
        />
        <TextField label={sayShared('name')} maxLength={255} value={firstName} onChange={setName} />
        <RoleChoice chosen={chosen} onChange={choose} />
        <Foot onClose={onClose} action={say('invite')} />
      </form>
    </Dialog>
  );
}

function EditUser({ user, onClose }: { user: User; onClose(): void }) {
  const [firstName, setName] = useState(user.firstName ?? '');
  const [chosen, choose] = useState<string[]>(user.roles);
  return (
    <Dialog title={user.email} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { firstName, roles: chosen };
          if (!(await attempt(() => api.updateUser({ id: user.id, body })))) return;
          toast(sayShared('saved'));
          invalidate(KEY);
          onClose();
        }}
      >
        <TextField label={sayShared('name')} maxLength={255} value={firstName} onChange={setName} />
        <RoleChoice chosen={chosen} onChange={choose} />
        <Foot onClose={onClose} action={sayShared('save')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminUsers', Users);
