/** Policies seen from the viewer's side: what a viewer sees of each cube and view, and why. */
import { useState } from 'preact/hooks';
import { withShared } from '../console/say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../console/shell.tsx';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Empty } from '../parts/states.tsx';
import { attempt } from '../parts/toasts.tsx';
import { type Access, accessCsv, filterText, type Identity } from './access.ts';
import { say } from './say.ts';

export const texts = withShared(say);

type Kind = 'me' | 'person' | 'group' | 'viewer';
const KINDS: readonly Kind[] = ['me', 'person', 'group', 'viewer'];
/** What people see of one another is for admins. */
const OF_ADMINS: readonly Kind[] = ['person', 'group'];
const GROUPS_MAX = 100;

function AccessPage({ deploymentId, rights }: ConsolePageProps) {
  const [asked, setAsked] = useState<readonly { identity: Identity; access: Access }[]>([]);
  const [shown, show] = useState(0);
  const ask = (...identities: readonly Identity[]) =>
    attempt(async () => {
      let all = asked;
      for (const identity of identities) {
        const access = await api.explainAccess({ deploymentId, body: identity.body });
        all = [...all.filter((one) => one.identity.name !== identity.name), { identity, access }];
        setAsked(all);
      }
      show(all.length - 1);
    });
  const current = asked[shown];
  return (
    <>
      <PageHead title={say('policies')} hint={say('policiesHint')}>
        {asked.length > 0 && (
          <button type="button" onClick={() => download(accessCsv(asked))}>
            {say('exportCsv')}
          </button>
        )}
      </PageHead>
      <Form ask={ask} mayChoosePeople={rights.isAdmin} />
      {asked.length === 0 && <Empty title={say('nobodyAsked')} hint={say('nobodyAskedHint')} />}
      {asked.length > 0 && (
        <div class="console-table" role="region" aria-label={say('identities')} tabIndex={0}>
          <table class="items access">
            <thead>
              <tr>
                <th scope="col">{say('cubeOrView')}</th>
                {asked.map(({ identity }, i) => (
                  <th key={identity.name} scope="col">
                    <button type="button" class="quiet" aria-pressed={i === shown} onClick={() => show(i)}>
                      {identity.name}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {current?.access.cubes.map(({ name }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  {asked.map(({ identity, access }) => {
                    const cube = access.cubes.find((one) => one.name === name);
                    return (
                      <td key={identity.name} class={cube?.rows === 'none' ? 'bad' : ''}>
                        {cube && say(ROWS[cube.rows])}
                        {cube && cube.hiddenCount > 0 && cube.rows !== 'none' && (
                          <span class="shown-members soft">
                            {say('membersShown', {
                              shown: cube.shownCount,
                              all: cube.shownCount + cube.hiddenCount,
                            })}
                          </span>
                        )}
                      </td>
                    );
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {current && <Why identity={current.identity} access={current.access} />}
    </>
  );
}

const ROWS = { all: 'rowsAll', filtered: 'rowsFiltered', none: 'rowsNone' } as const;

const ofGroup = (name: string): Identity => ({
  name: `${say('group')}: ${name}`,
  body: { viewer: { groups: [name] } },
});

function Form({ ask, mayChoosePeople }: { ask(...identities: Identity[]): void; mayChoosePeople: boolean }) {
  const [kind, setKind] = useState<Kind>('me');
  const [group, setGroup] = useState('');
  const { data: known } = useData(
    kind === 'group' ? 'user-groups/all' : null,
    async (signal) => (await api.listUserGroups({ first: GROUPS_MAX }, { signal })).items,
  );
  const [search, setSearch] = useState('');
  const [userId, setUserId] = useState<number>();
  const [groups, setGroups] = useState('');
  const [tenantGroups, setTenantGroups] = useState('');
  const [attributes, setAttributes] = useState('');
  const { data: users } = useData(
    kind === 'person' ? `users/${search}` : null,
    async (signal) => (await api.listUsers({ search: search || null, first: 20 }, { signal })).items,
  );
  const listed = (text: string) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (kind === 'me') return ask({ name: say('me'), body: {} });
    if (kind === 'person') {
      const user = users?.find(({ id }) => id === userId) ?? users?.[0];
      if (user) ask({ name: user.username, body: { userId: user.id } });
      return;
    }
    if (kind === 'group') {
      const name = group || known?.[0]?.name;
      if (name) ask(ofGroup(name));
      return;
    }
    const userAttributes = Object.fromEntries(
      attributes
        .split('\n')
        .map((line) => line.split(/[=:](.*)/s).map((part) => part.trim()))
        .filter(([name]) => name)
        .map(([name, value = '']) => [name!, value.includes(',') ? listed(value) : value]),
    );
    const name = [
      groups,
      tenantGroups,
      ...Object.entries(userAttributes).map(([key, value]) => `${key}=${value}`),
    ]
      .filter(Boolean)
      .join(' · ');
    ask({
      name: name || say('viewer'),
      body: { viewer: { groups: listed(groups), tenantGroups: listed(tenantGroups), userAttributes } },
    });
  };
  return (
    <form class="access-form" onSubmit={submit}>
      <fieldset>
        <legend>{say('whoAsks')}</legend>
        {KINDS.filter((one) => mayChoosePeople || !OF_ADMINS.includes(one)).map((one) => (
          <label key={one} class="check">
            <input type="radio" name="kind" checked={kind === one} onChange={() => setKind(one)} />
            {say(one)}
          </label>
        ))}
      </fieldset>
      {kind === 'person' && (
        <>
          <label class="field">
            <span>{say('findPerson')}</span>
            <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>{say('person')}</span>
            <select value={userId} onChange={(event) => setUserId(Number(event.currentTarget.value))}>
              {users?.map(({ id, username, email }) => (
                <option key={id} value={id}>
                  {username} {email && email !== username ? `(${email})` : ''}
                </option>
              ))}
            </select>
          </label>
        </>
      )}
      {kind === 'group' && (
        <>
          <label class="field">
            <span>{say('group')}</span>
            <select value={group} onChange={(event) => setGroup(event.currentTarget.value)}>
              {known?.map(({ id, name }) => (
                <option key={id}>{name}</option>
              ))}
            </select>
          </label>
          <button
            type="button"
            disabled={!known?.length}
            onClick={() => ask(...(known ?? []).map(({ name }) => ofGroup(name)))}
          >
            {say('allGroups')}
          </button>
        </>
      )}
      {kind === 'viewer' && (
        <>
          {mayChoosePeople && <KnownViewer fill={setAttributes} />}
          <label class="field">
            <span>{say('groups')}</span>
            <input
              value={groups}
              placeholder="analysts, partners"
              onInput={(event) => setGroups(event.currentTarget.value)}
            />
          </label>
          <label class="field">
            <span>{say('tenantGroups')}</span>
            <input value={tenantGroups} onInput={(event) => setTenantGroups(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>{say('attributes')}</span>
            <textarea
              rows={3}
              value={attributes}
              placeholder={'region = EMEA\ncountry = DE, FR'}
              onInput={(event) => setAttributes(event.currentTarget.value)}
            />
          </label>
        </>
      )}
      <button type="submit" class="primary">
        {say('showAccess')}
      </button>
    </form>
  );
}

/** A viewer that there is, whose attributes are filled in. */
function KnownViewer({ fill }: { fill(attributes: string): void }) {
  const [tenant, setTenant] = useState('');
  const [search, setSearch] = useState('');
  const { data: tenants } = useData(
    'embed-tenants/all',
    async (signal) => (await api.listEmbedTenants({ first: 1000 }, { signal })).items,
  );
  const embedTenantName = tenant || (tenants?.[0]?.name ?? '');
  const { data: users } = useData(
    embedTenantName ? `embed-tenants/${embedTenantName}/users/${search}` : null,
    async (signal) =>
      (await api.listEmbedUsers({ embedTenantName, search: search || null, first: 20 }, { signal })).items,
  );
  const choose = (userId: number) =>
    attempt(async () => {
      const values = await api.getUserAttributeValues({ userId });
      const lines = values
        .filter(({ value }) => value != null)
        .map(({ name, value }) => `${name} = ${[value].flat().join(', ')}`);
      fill(lines.join('\n'));
    });
  if (!tenants?.length) return null;
  return (
    <>
      <label class="field">
        <span>{say('embedTenant')}</span>
        <select value={embedTenantName} onChange={(event) => setTenant(event.currentTarget.value)}>
          {tenants.map(({ id, name }) => (
            <option key={id}>{name}</option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>{say('findViewer')}</span>
        <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
      <label class="field">
        <span>{say('fillFromViewer')}</span>
        <select
          value=""
          onChange={(event) => event.currentTarget.value && void choose(Number(event.currentTarget.value))}
        >
          <option value="">…</option>
          {users?.map(({ id, externalId, email }) => (
            <option key={id} value={id}>
              {email ? `${externalId} (${email})` : externalId}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

/** Which policy, which value, and which did not match. */
const Why = ({ identity, access }: { identity: Identity; access: Access }) => (
  <section aria-label={say('why')}>
    <h2>
      {say('why')}: {identity.name}
    </h2>
    <p class="soft">
      {[
        ...access.viewer.groups,
        ...access.viewer.tenantGroups.map((name) => `tenant:${name}`),
        ...access.viewer.roles.map((name) => `role:${name}`),
        ...Object.entries(access.viewer.userAttributes).map(
          ([name, value]) => `${name} = ${JSON.stringify(value)}`,
        ),
      ].join(' · ') || say('noGroups')}
    </p>
    {access.cubes.map((cube) => (
      <details key={cube.name} class="access-cube">
        <summary>
          <code>{cube.name}</code>{' '}
          <span class={cube.rows === 'none' ? 'bad' : 'soft'}>{say(ROWS[cube.rows])}</span>
        </summary>
        {cube.root !== undefined && <p class="soft">{say('rootPolicies', { cube: cube.root })}</p>}
        {cube.policies.length === 0 && cube.root === undefined && (
          <p class="soft">{say(cube.rows === 'none' ? 'closedWithoutPolicy' : 'openWithoutPolicy')}</p>
        )}
        <ul>
          {cube.policies.map((policy, i) => (
            <li key={i}>
              <span class={policy.counts ? 'mark added' : 'mark removed'}>
                {say(policy.counts ? 'matches' : 'doesNotMatch')}
              </span>{' '}
              {policy.groups.map((group) => (
                <code key={group}>{group} </code>
              ))}
              {policy.counts && (
                <span> {policy.filter ? filterText(policy.filter, say('noValue')) : say('rowsAll')}</span>
              )}
              <span class="soft policy-why">{policy.why}</span>
            </li>
          ))}
        </ul>
        {cube.hiddenMembers.length > 0 && (
          <p class="soft">
            {say('hiddenMembers')}{' '}
            {cube.hiddenMembers.map(({ member, why }) => (
              <code key={member} title={why}>
                {member.split('.')[1]}{' '}
              </code>
            ))}
          </p>
        )}
      </details>
    ))}
  </section>
);

function download(text: string) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = 'access.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}

export default consolePage('adminPolicies', AccessPage);
