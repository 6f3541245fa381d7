/** Who may do what with a folder, workbook or report, and where a right comes from that was given further up. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { useMe } from '../frame/account.ts';
import { type Item, isFolder, isReport, isWorkbook, nameOfItem } from '../home/items.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Failed, Skeleton, wordsOf } from '../parts/states.tsx';
import { attempt } from '../parts/toasts.tsx';
import { isEmbedded } from '../place.ts';
import { say } from './say.ts';

type Policies = Awaited<ReturnType<typeof api.getResourcePolicies>>;
type Action = NonNullable<Policies['users'][number]['action']>;
type Kind = 'user' | 'group' | 'role';
type Level = 'read' | 'edit' | 'manage';
const LEVELS: readonly Level[] = ['read', 'edit', 'manage'];

interface Holder {
  kind: Kind;
  id: number;
  name: string;
}

interface Grant extends Holder {
  level: Level;
  inheritedFrom: string | undefined;
}

const nounOf = (item: Item) => (isFolder(item) ? 'Folder' : isWorkbook(item) ? 'Workbook' : 'Report');

/** Actions on content end with their level: `WorkbookRead`, `FolderManage`. Others, such as `All`, allow everything. */
function levelOf(action: string): Level {
  if (action.endsWith('Read')) return 'read';
  return action.endsWith('Edit') ? 'edit' : 'manage';
}

export const showShare = (item: Item) =>
  openDialog((close) => (
    <Dialog title={say('title', { name: nameOfItem(item) })} onClose={close}>
      {isEmbedded && <p class="soft">{say('tenant')}</p>}
      {(!isEmbedded || !isReport(item)) && <Sharing item={item} />}
    </Dialog>
  ));

type Resource = Parameters<typeof api.getResourcePolicies>[0];

function Sharing({ item }: { item: Item }) {
  const resource = { resourceType: nounOf(item), resourceId: item.id } as const;
  const key = `policies/${resource.resourceType}/${item.id}`;
  const { data, problem, reload } = useData(key, (signal) => api.getResourcePolicies(resource, { signal }));
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />;

  const give = (holder: Holder, level: Level | undefined) =>
    attempt(async () => {
      const suffix = level && ({ read: 'Read', edit: 'Edit', manage: 'Manage' } as const)[level];
      const action = suffix ? (`${resource.resourceType}${suffix}` as Action) : null;
      if (holder.kind === 'user')
        await api.setUserPolicy({ body: { ...resource, userId: holder.id, action } });
      else if (holder.kind === 'group')
        await api.setGroupPolicy({ body: { ...resource, groupId: holder.id, action } });
      else await api.setRolePolicy({ body: { ...resource, roleId: holder.id, action } });
      invalidate('policies/');
    });

  const grants = grantsOf(data);
  const owner = isFolder(item) ? undefined : (item.user?.firstName ?? item.user?.email);
  return (
    <>
      {isEmbedded && <p class="soft">{say('viewers')}</p>}
      <AddHolder resource={resource} onAdd={(holder) => void give(holder, 'read')} />
      <section aria-labelledby="who-has-access">
        <h3 id="who-has-access">{say('who')}</h3>
        <ul class="grants">
          {owner && (
            <li>
              <Icon name="mine" />
              <span class="grow">{owner}</span>
              <span class="soft">{say('owner')}</span>
            </li>
          )}
          {grants.map((grant) => (
            <li key={`${grant.kind} ${grant.id} ${grant.inheritedFrom ?? ''}`}>
              <Icon name={grant.kind === 'user' ? 'mine' : 'shared'} />
              <span class="grow">
                {grant.name}
                <span class="soft">
                  {' '}
                  {say(grant.kind)}
                  {grant.inheritedFrom && `, ${say('from_', { name: grant.inheritedFrom })}`}
                </span>
              </span>
              {grant.inheritedFrom ? (
                <span class="soft">{say(grant.level)}</span>
              ) : (
                <>
                  {isEmbedded && grant.level === 'read' ? (
                    <span class="soft">{say('read')}</span>
                  ) : (
                    <select
                      aria-label={say('level', { name: grant.name })}
                      value={grant.level}
                      onChange={(event) => void give(grant, event.currentTarget.value as Level)}
                    >
                      {LEVELS.map((level) => (
                        <option key={level} value={level}>
                          {say(level)}
                        </option>
                      ))}
                    </select>
                  )}
                  <button
                    type="button"
                    class="icon"
                    aria-label={say('remove', { name: grant.name })}
                    onClick={() => void give(grant, undefined)}
                  >
                    <Icon name="close" size={16} />
                  </button>
                </>
              )}
            </li>
          ))}
        </ul>
        {grants.length === 0 && <p class="soft">{say(isEmbedded ? 'noViewers' : 'nobody')}</p>}
      </section>
    </>
  );
}

function grantsOf({ users, groups, roles }: Policies): Grant[] {
  const grant = (
    kind: Kind,
    id: number,
    name: string | null | undefined,
    { action, inheritedFrom }: Pick<Policies['users'][number], 'action' | 'inheritedFrom'>,
  ): Grant => ({
    kind,
    id,
    name: name || say('unnamed', { id }),
    level: levelOf(action),
    inheritedFrom: inheritedFrom?.name,
  });
  return [
    ...users.map((one) => grant('user', one.userId, one.firstName || one.email, one)),
    ...groups.map((one) => grant('group', one.groupId, one.name, one)),
    ...roles.map((one) => grant('role', one.roleId, one.name, one)),
  ];
}

/** Finds people and groups by name, and roles for who may list them; in a frame, those of the own embed tenant. */
function AddHolder({ resource, onAdd }: { resource: Resource; onAdd(holder: Holder): void }) {
  const { data: me } = useMe();
  const [text, setText] = useState('');
  const search = text.trim();
  const key = `policy-candidates/${resource.resourceType}/${resource.resourceId}/${search}`;
  const { data: candidates, problem } = useData(search === '' ? null : key, (signal) =>
    api.findPolicyCandidates({ ...resource, search }, { signal }),
  );
  const findsRoles = me?.isAdmin === true;
  const input = useRef<HTMLInputElement>(null);
  // The dialog cannot give this field the focus, because the field comes after it was opened.
  useEffect(() => input.current?.focus(), []);
  const found: Holder[] = [
    ...(candidates?.users ?? []).map(({ userId, name }) => ({ kind: 'user' as const, id: userId, name })),
    ...(candidates?.groups ?? []).map(({ groupId, name }) => ({ kind: 'group' as const, id: groupId, name })),
    ...(candidates?.roles ?? []).map(({ roleId, name }) => ({ kind: 'role' as const, id: roleId, name })),
  ];
  return (
    <div>
      <label class="field">
        <span>{say(findsRoles ? 'add' : 'addSome')}</span>
        <input
          ref={input}
          type="search"
          placeholder={say(findsRoles ? 'searchPeople' : 'searchSome')}
          autocomplete="off"
          maxLength={255}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {search !== '' && (
        <ul class="found">
          {found.map((holder) => (
            <li key={`${holder.kind} ${holder.id}`}>
              <button
                type="button"
                class="quiet"
                onClick={() => {
                  setText('');
                  onAdd(holder);
                }}
              >
                <span class="grow">{holder.name}</span>
                <span class="soft">{say(holder.kind)}</span>
              </button>
            </li>
          ))}
          {candidates && found.length === 0 && <li class="soft">{say('noMatch')}</li>}
          {problem && <li class="soft">{wordsOf(problem)}</li>}
        </ul>
      )}
    </div>
  );
}
