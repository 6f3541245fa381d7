/** Groups and their members. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { FilterField, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { shownNumber, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Group = Awaited<ReturnType<typeof api.listUserGroups>>['items'][number];
const KEY = 'user-groups/';

function Groups() {
  const list = useList(`${KEY}list`, (first, signal) => api.listUserGroups({ first }, { signal }));
  const done = () => invalidate(KEY);
  const edit = (group?: Group) => openDialog((close) => <EditGroup group={group} onClose={close} />);
  const remove = (group: Group) =>
    confirm({
      title: say('removeIt', { name: group.name }),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteUserGroup({ id: group.id }));
        done();
      },
    });
  return (
    <>
      <PageHead title={sayShared('groups')} hint={say('groupsHint')}>
        <button type="button" class="primary" onClick={() => edit()}>
          {say('newGroup')}
        </button>
      </PageHead>
      <Table
        label={sayShared('groups')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noGroups')}
        emptyHint={say('noGroupsHint')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => name },
          { title: sayShared('description'), isWide: true, cell: ({ description }) => description ?? '' },
          { title: say('members'), isNumber: true, cell: ({ userCount }) => shownNumber(userCount ?? 0) },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (group) => (
              <>
                <button
                  type="button"
                  onClick={() => openDialog((close) => <Members group={group} onClose={close} />)}
                >
                  {say('members')}
                </button>{' '}
                <button type="button" onClick={() => edit(group)}>
                  {sayShared('edit')}
                </button>{' '}
                <button type="button" class="bad" onClick={() => remove(group)}>
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

function EditGroup({ group, onClose }: { group: Group | undefined; onClose(): void }) {
  const [name, setName] = useState(group?.name ?? '');
  const [description, setDescription] = useState(group?.description ?? '');
  return (
    <Dialog title={group?.name ?? say('newGroup')} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { name: name.trim(), description: description.trim() || null };
          const saved = await attempt(() =>
            group ? api.updateUserGroup({ id: group.id, body }) : api.createUserGroup({ body }),
          );
          if (!saved) return;
          invalidate(KEY);
          onClose();
        }}
      >
        <TextField
          label={sayShared('name')}
          hint={group && say('renameGroupHint')}
          required
          maxLength={255}
          value={name}
          onChange={setName}
        />
        <TextField
          label={sayShared('description')}
          maxLength={1000}
          value={description}
          onChange={setDescription}
        />
        <Foot onClose={onClose} action={sayShared(group ? 'save' : 'create')} />
      </form>
    </Dialog>
  );
}

function Members({ group, onClose }: { group: Group; onClose(): void }) {
  const [search, setSearch] = useState('');
  const key = `${KEY}members/${group.id}`;
  const members = useList(key, (first, signal) =>
    api.getUserGroupMembers({ id: group.id, first }, { signal }),
  );
  const found = useList(search ? `users/for-group/${search}` : null, (_first, signal) =>
    api.listUsers({ search, first: 10 }, { signal }),
  );
  const known = new Set(members.data?.items.map(({ id }) => id));
  const change = async (work: () => Promise<unknown>) => {
    await attempt(work);
    invalidate(KEY);
  };
  return (
    <Dialog title={group.name} size="wide" onClose={onClose}>
      <FilterField label={say('addMember')} value={search} onChange={setSearch} />
      {search && (
        <Table
          label={say('addMember')}
          loaded={found}
          keyOf={({ id }) => id}
          empty={say('noUsers')}
          columns={[
            { title: sayShared('name'), cell: ({ firstName, username }) => firstName || username },
            { title: say('email'), cell: ({ email }) => email },
            {
              title: sayShared('actions'),
              isActions: true,
              cell: ({ id }) =>
                !known.has(id) && (
                  <button
                    type="button"
                    onClick={() =>
                      void change(() => api.addUserGroupMembers({ id: group.id, body: { userIds: [id] } }))
                    }
                  >
                    {say('addMember')}
                  </button>
                ),
            },
          ]}
        />
      )}
      <h3>{say('members')}</h3>
      <Table
        label={say('members')}
        loaded={members}
        more={members.more}
        keyOf={({ id }) => id}
        empty={say('noUsers')}
        columns={[
          { title: sayShared('name'), cell: ({ firstName, username }) => firstName || username },
          { title: say('email'), cell: ({ email }) => email },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: ({ id }) => (
              <button
                type="button"
                onClick={() =>
                  void change(() => api.removeUserGroupMembers({ id: group.id, body: { userIds: [id] } }))
                }
              >
                {say('removeMember')}
              </button>
            ),
          },
        ]}
      />
    </Dialog>
  );
}

export default consolePage('adminGroups', Groups);
