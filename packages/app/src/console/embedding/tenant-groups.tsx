/** The groups of an embed tenant, and their members. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate } from '../../data/cache.ts';
import { askText, Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { TextField } from '../parts/fields.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared } from '../say.ts';
import { say } from './say.ts';

type Group = Awaited<ReturnType<typeof api.getGroups>>['items'][number];

export function TenantGroups({ tenant }: { tenant: string }) {
  const key = `embed-groups/${tenant}/`;
  const where = { embedTenantName: tenant };
  const list = useList(`${key}list`, (first, signal) => api.getGroups({ ...where, first }, { signal }));
  const create = () =>
    askText({
      title: say('newGroup'),
      label: sayShared('name'),
      action: sayShared('create'),
      onAnswer: async (name) => {
        await attempt(() => api.createGroup({ ...where, body: { name } }));
        invalidate(key);
      },
    });
  const describe = (group: Group) =>
    askText({
      title: group.name,
      label: sayShared('description'),
      action: sayShared('save'),
      value: group.description ?? '',
      maxLength: 500,
      onAnswer: async (description) => {
        const done = await attempt(() => api.updateGroup({ ...where, id: group.id, body: { description } }));
        if (done) toast(sayShared('saved'));
        invalidate(key);
      },
    });
  const remove = (group: Group) =>
    confirm({
      title: say('deleteGroup', { name: group.name }),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteGroup({ ...where, id: group.id }));
        invalidate(key);
      },
    });
  return (
    <>
      <div class="page-head next">
        <div class="grow">
          <h2>{sayShared('groups')}</h2>
          <p class="soft">{say('groupsHint')}</p>
        </div>
        <button type="button" onClick={create}>
          {say('newGroup')}
        </button>
      </div>
      <Table
        label={sayShared('groups')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noGroups')}
        columns={[
          { title: sayShared('name'), cell: ({ name }) => name },
          { title: sayShared('description'), isWide: true, cell: ({ description }) => description ?? '' },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (group) => (
              <span class="buttons">
                <button
                  type="button"
                  aria-label={`${say('members')}: ${group.name}`}
                  onClick={() =>
                    openDialog((close) => <Members tenant={tenant} group={group} onClose={close} />)
                  }
                >
                  {say('members')}
                </button>
                <button
                  type="button"
                  aria-label={`${sayShared('edit')}: ${group.name}`}
                  onClick={() => describe(group)}
                >
                  {sayShared('edit')}
                </button>
                <button
                  type="button"
                  class="bad"
                  aria-label={`${sayShared('remove')}: ${group.name}`}
                  onClick={() => remove(group)}
                >
                  {sayShared('remove')}
                </button>
              </span>
            ),
          },
        ]}
      />
    </>
  );
}

function Members({ tenant, group, onClose }: { tenant: string; group: Group; onClose(): void }) {
  const [externalId, setExternalId] = useState('');
  const where = { embedTenantName: tenant, id: group.id };
  const key = `embed-groups/${tenant}/members/${group.id}`;
  const members = useList(key, (first, signal) => api.getGroupMembers({ ...where, first }, { signal }));
  const change = async (work: () => Promise<unknown>) => {
    const done = await attempt(async () => {
      await work();
      return true;
    });
    invalidate(key);
    return done;
  };
  return (
    <Dialog title={`${say('members')}: ${group.name}`} size="wide" onClose={onClose}>
      <form
        class="copy-field"
        onSubmit={async (event) => {
          event.preventDefault();
          const body = { members: [{ externalId: externalId.trim() }] };
          if (await change(() => api.addGroupMembers({ ...where, body }))) setExternalId('');
        }}
      >
        <TextField
          label={say('externalId')}
          required
          maxLength={255}
          value={externalId}
          onChange={setExternalId}
          autocomplete="off"
        />
        <button type="submit">{say('addMember')}</button>
      </form>
      <Table
        label={say('members')}
        loaded={members}
        more={members.more}
        keyOf={({ id }) => id}
        empty={say('noViewers')}
        columns={[
          { title: say('externalId'), cell: (user) => user.externalId },
          { title: sayShared('name'), isWide: true, cell: ({ firstName }) => firstName ?? '–' },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (user) => (
              <button
                type="button"
                aria-label={`${say('removeMember')}: ${user.externalId}`}
                onClick={() =>
                  void change(() =>
                    api.removeGroupMembers({ ...where, body: { members: [{ embedUserId: user.id }] } }),
                  )
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
