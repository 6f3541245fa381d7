/** Roles: which actions each allows, and what each action opens, as the published document of the API says it. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { Skeleton } from '../../parts/states.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { confirm } from '../parts/confirm.tsx';
import { CheckField, TextField } from '../parts/fields.tsx';
import { Foot } from '../parts/foot.tsx';
import { useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Role = Awaited<ReturnType<typeof api.listRoles>>['items'][number];
type Action = Role['actions'][number];
const KEY = 'roles/';

interface Document {
  paths: Record<string, Record<string, { 'x-permission'?: string; summary?: string }>>;
  components: { schemas: { Role: { properties: { actions: { items: { enum: Action[] } } } } } };
}

/** All actions with the summaries of the operations that each opens. */
const useActions = () =>
  useData('actions', async (signal) => {
    const { paths, components } = (await api.getSpec({}, { signal })) as unknown as Document;
    const opened = new Map<string, string[]>();
    for (const methods of Object.values(paths))
      for (const { 'x-permission': action, summary } of Object.values(methods))
        if (action && summary) opened.set(action, [...(opened.get(action) ?? []), summary]);
    return components.schemas.Role.properties.actions.items.enum.map((action) => ({
      action,
      opens: opened.get(action) ?? [],
    }));
  });

function Roles() {
  const list = useList(`${KEY}list`, (first, signal) => api.listRoles({ first }, { signal }));
  const open = (role?: Role) => openDialog((close) => <RoleDialog role={role} onClose={close} />);
  const remove = (role: Role) =>
    confirm({
      title: say('removeIt', { name: role.name }),
      action: sayShared('remove'),
      run: async () => {
        await attempt(() => api.deleteRole({ id: role.id }));
        invalidate(KEY);
      },
    });
  return (
    <>
      <PageHead title={sayShared('roles')} hint={say('rolesHint')}>
        <button type="button" class="primary" onClick={() => open()}>
          {say('newRole')}
        </button>
      </PageHead>
      <Table
        label={sayShared('roles')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={sayShared('none')}
        columns={[
          {
            title: sayShared('name'),
            cell: ({ name, isBuiltIn }) => (isBuiltIn ? `${name} (${say('builtIn')})` : name),
          },
          { title: sayShared('description'), isWide: true, cell: ({ description }) => description ?? '' },
          { title: say('allowed'), isWide: true, cell: ({ actions }) => actions.join(', ') },
          {
            title: sayShared('actions'),
            isActions: true,
            cell: (role) => (
              <>
                <button type="button" onClick={() => open(role)}>
                  {sayShared(role.isBuiltIn ? 'details' : 'edit')}
                </button>{' '}
                {!role.isBuiltIn && (
                  <button type="button" class="bad" onClick={() => remove(role)}>
                    {sayShared('remove')}
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
    </>
  );
}

function RoleDialog({ role, onClose }: { role: Role | undefined; onClose(): void }) {
  const { data: known } = useActions();
  const [name, setName] = useState(role?.name ?? '');
  const [description, setDescription] = useState(role?.description ?? '');
  const [chosen, choose] = useState<readonly Action[]>(role?.actions ?? []);
  const [filter, setFilter] = useState('');
  const isFixed = role?.isBuiltIn === true;
  const wanted = filter.trim().toLocaleLowerCase();
  const shown = known?.filter(
    ({ action, opens }) =>
      !wanted || [action, ...opens].some((text) => text.toLocaleLowerCase().includes(wanted)),
  );
  return (
    <Dialog title={role?.name ?? say('newRole')} size="wide" onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (isFixed) return onClose();
          const body = { name: name.trim(), description, actions: [...chosen] };
          const saved = await attempt(() =>
            role ? api.updateRole({ id: role.id, body }) : api.createRole({ body }),
          );
          if (!saved) return;
          toast(sayShared('saved'));
          invalidate(KEY);
          onClose();
        }}
      >
        <TextField
          label={sayShared('name')}
          required
          readOnly={isFixed}
          maxLength={255}
          value={name}
          onChange={setName}
        />
        <TextField
          label={sayShared('description')}
          readOnly={isFixed}
          maxLength={1000}
          value={description}
          onChange={setDescription}
        />
        <TextField label={say('filterActions')} type="search" value={filter} onChange={setFilter} />
        <fieldset class="choices">
          <legend>{say('allowed')}</legend>
          {!shown && <Skeleton lines={3} />}
          {shown?.map(({ action, opens }) => (
            <div key={action}>
              <CheckField
                label={action}
                isOn={chosen.includes(action)}
                isFixed={isFixed}
                onChange={(isOn) =>
                  choose(isOn ? [...chosen, action] : chosen.filter((other) => other !== action))
                }
              />
              {opens.length > 0 && (
                <details class="opens">
                  <summary>{say('opensCount', { count: opens.length })}</summary>
                  <ul>
                    {opens.map((summary) => (
                      <li key={summary}>{summary}</li>
                    ))}
                  </ul>
                </details>
              )}
            </div>
          ))}
        </fieldset>
        <Foot onClose={onClose} action={sayShared(isFixed ? 'details' : 'save')} />
      </form>
    </Dialog>
  );
}

export default consolePage('adminRoles', Roles);
