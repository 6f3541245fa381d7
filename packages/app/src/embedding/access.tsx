/** Which embed tenants may see the dashboard. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { Icon } from '../parts/icons.tsx';
import { attempt } from '../parts/toasts.tsx';
import { say } from './say.ts';

type EmbedAccess = Awaited<ReturnType<typeof api.getEmbedAccess>>;
type Change = Parameters<typeof api.updateEmbedAccess>[0]['body'];

export function Access(given: {
  where: { deploymentId: number; workbookId: number };
  access: EmbedAccess;
  onChange(): void;
}) {
  const { where, access } = given;
  const [name, setName] = useState('');
  const update = (body: Change) =>
    void attempt(async () => {
      await api.updateEmbedAccess({ ...where, body });
      given.onChange();
    });
  const isForAll = access.allEmbedUsers.enabled && access.allEmbedUsers.action === 'read';
  return (
    <section class="card-section" aria-labelledby="access">
      <h2 id="access">{say('access')}</h2>
      <label class="check">
        <input
          type="checkbox"
          checked={access.allowEmbed}
          onChange={(event) => update({ allowEmbed: event.currentTarget.checked })}
        />
        {say('allowEmbed')}
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={isForAll}
          onChange={(event) =>
            update(
              event.currentTarget.checked
                ? { allEmbedUsers: true, action: 'read' }
                : { allEmbedUsers: false },
            )
          }
        />
        {say('allTenants')}
      </label>
      <h3>{say('tenantAccess')}</h3>
      <ul class="grants">
        {access.tenants.map(({ embedTenantName, action }) => (
          <li key={embedTenantName}>
            <span class="grow">{embedTenantName}</span>
            <select
              aria-label={embedTenantName}
              value={action}
              onChange={(event) =>
                update({ embedTenantName, action: event.currentTarget.value as 'read' | 'none' })
              }
            >
              <option value="read">{say('mayRead')}</option>
              <option value="none">{say('mayNot')}</option>
            </select>
            <button
              type="button"
              class="icon"
              aria-label={say('removeTenant', { name: embedTenantName })}
              onClick={() => update({ embedTenantName })}
            >
              <Icon name="close" size={16} />
            </button>
          </li>
        ))}
      </ul>
      <form
        class="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          update({ embedTenantName: name.trim(), action: 'read' });
          setName('');
        }}
      >
        <label class="field grow">
          <span>{say('tenantName')}</span>
          <input
            value={name}
            maxLength={255}
            required
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <button type="submit">{say('addTenant')}</button>
      </form>
    </section>
  );
}
