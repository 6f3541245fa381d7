/** Embed tenants: the list, and one of them with its users, groups, content and use. */
import { useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { invalidate, useData } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { attempt, toast } from '../../parts/toasts.tsx';
import { addressOf } from '../../place.ts';
import { say as sayAll } from '../../texts/say.ts';
import { FilterField, Filters, TextField } from '../parts/fields.tsx';
import { shownNumber, shownTime, useFilters, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';
import { TenantGroups } from './tenant-groups.tsx';

export const texts = withShared(say);

const KEY = 'embed-tenants/';

function Tenants(props: ConsolePageProps) {
  const [filters, change] = useFilters(['name', 'search', 'user'] as const);
  return filters.name ? (
    <Tenant
      {...props}
      name={filters.name}
      search={filters.user ?? ''}
      onSearch={(user) => change({ user })}
    />
  ) : (
    <List {...props} search={filters.search ?? ''} onSearch={(search) => change({ search })} />
  );
}

function List({
  deploymentId,
  search,
  onSearch,
}: ConsolePageProps & { search: string; onSearch(search: string): void }) {
  const list = useList(`${KEY}list/${search}`, (first, signal) =>
    api.listEmbedTenants({ first, ...(search ? { search } : {}) }, { signal }),
  );
  return (
    <>
      <PageHead title={sayShared('tenants')} hint={say('tenantsHint')} />
      <Filters>
        <FilterField label={sayShared('search')} value={search} onChange={onSearch} />
      </Filters>
      <Table
        label={sayShared('tenants')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noTenants')}
        emptyHint={search ? undefined : say('noTenantsHint')}
        columns={[
          {
            title: sayShared('name'),
            cell: ({ name }) => (
              <a href={`${addressOf(deploymentId, 'adminTenants')}?${new URLSearchParams({ name })}`}>
                {name}
              </a>
            ),
          },
          { title: say('displayName'), isWide: true, cell: ({ displayName }) => displayName ?? '–' },
          {
            title: sayShared('users'),
            isNumber: true,
            cell: ({ userCount }) => shownNumber(userCount),
          },
          { title: sayShared('created'), isWide: true, cell: ({ createdAt }) => shownTime(createdAt) },
        ]}
      />
    </>
  );
}

function Tenant({
  deploymentId,
  name,
  search,
  onSearch,
}: ConsolePageProps & { name: string; search: string; onSearch(search: string): void }) {
  const users = useList(`${KEY}users/${name}/${search}`, (first, signal) =>
    api.listEmbedUsers({ embedTenantName: name, first, ...(search ? { search } : {}) }, { signal }),
  );
  const about = new URLSearchParams({ tenant: name });
  return (
    <>
      <nav class="path" aria-label={sayShared('tenants')}>
        <a href={addressOf(deploymentId, 'adminTenants')}>{sayShared('tenants')}</a>
      </nav>
      <PageHead title={name}>
        <a class="button" href={`${addressOf(deploymentId, 'home')}?${about}`}>
          {say('content')}
        </a>
        <a class="button" href={`${addressOf(deploymentId, 'adminSessions')}?${about}`}>
          {sayShared('sessions')}
        </a>
        <button
          type="button"
          class="bad"
          onClick={() =>
            openDialog((close) => <DeleteTenant name={name} deploymentId={deploymentId} onClose={close} />)
          }
        >
          {sayShared('remove')}
        </button>
      </PageHead>
      <Use deploymentId={deploymentId} name={name} />
      <h2 class="next">{sayShared('users')}</h2>
      <Filters>
        <FilterField label={sayShared('search')} value={search} onChange={onSearch} />
      </Filters>
      <Table
        label={sayShared('users')}
        loaded={users}
        more={users.more}
        keyOf={({ id }) => id}
        empty={say('noViewers')}
        columns={[
          {
            title: say('externalId'),
            cell: ({ externalId }) => (
              <a
                href={`${addressOf(deploymentId, 'adminViewer')}?${new URLSearchParams({ tenant: name, externalId })}`}
              >
                {externalId}
              </a>
            ),
          },
          { title: sayShared('name'), isWide: true, cell: ({ firstName }) => firstName ?? '–' },
          { title: say('email'), isWide: true, cell: ({ email }) => email ?? '–' },
          { title: say('lastSeen'), cell: ({ lastLogin }) => shownTime(lastLogin) },
        ]}
      />
      <TenantGroups tenant={name} />
    </>
  );
}

const MEASURES = ['sessions', 'viewers', 'queries', 'rows'] as const;
const DAYS = 30;

/** What the tenant used in the last days. The viewers of a day cannot be added up, so the most of a day is shown. */
function Use({ deploymentId, name }: { deploymentId: number; name: string }) {
  const from = new Date(Date.now() - (DAYS - 1) * 86_400_000).toISOString().slice(0, 10);
  const { data } = useData(`usage/${name}/${from}`, async (signal) => {
    const { items } = await api.getUsage({ embedTenantName: name, from, first: 1000 }, { signal });
    return items;
  });
  const totalOf = (measure: (typeof MEASURES)[number]) => {
    const values = (data ?? []).map((day) => day[measure]);
    return measure === 'viewers' ? Math.max(0, ...values) : values.reduce((sum, value) => sum + value, 0);
  };
  return (
    <section aria-labelledby="use">
      <div class="page-head next">
        <h2 id="use" class="grow">
          {say('useOfDays', { days: DAYS })}
        </h2>
        <a
          href={`${addressOf(deploymentId, 'adminUsage')}?${new URLSearchParams({ embedTenantName: name })}`}
        >
          {sayShared('usage')}
        </a>
      </div>
      <dl class="figures">
        {MEASURES.map((measure) => (
          <div key={measure}>
            <dt>{say(`use.${measure}`)}</dt>
            <dd>{data ? shownNumber(totalOf(measure)) : '…'}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function DeleteTenant({
  name,
  deploymentId,
  onClose,
}: {
  name: string;
  deploymentId: number;
  onClose(): void;
}) {
  const [typed, setTyped] = useState('');
  return (
    <Dialog title={say('deleteTenant', { name })} onClose={onClose}>
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (typed.trim() !== name) return;
          const done = await attempt(() => api.deleteEmbedTenant({ embedTenantName: name }).then(() => true));
          if (!done) return;
          onClose();
          toast(say('tenantDeleted', { name }));
          invalidate(KEY);
          location.assign(addressOf(deploymentId, 'adminTenants'));
        }}
      >
        <p>{say('deleteTenantHint')}</p>
        <TextField
          label={say('typeName', { name })}
          required
          value={typed}
          onChange={setTyped}
          autocomplete="off"
        />
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            {sayAll('cancel')}
          </button>
          <button type="submit" class="primary" disabled={typed.trim() !== name}>
            {sayShared('remove')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export default consolePage('adminTenants', Tenants);
