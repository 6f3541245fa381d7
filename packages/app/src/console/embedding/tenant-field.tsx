/** The name of an embed tenant, with those that there are offered while typing. */
import { useId } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { say } from './say.ts';

export function TenantField({
  value,
  onChange,
  error,
  isOptional,
}: {
  value: string;
  onChange(value: string): void;
  error?: string | undefined;
  isOptional?: boolean;
}) {
  const id = useId();
  const search = value.trim();
  const { data = [] } = useData(`embed-tenants/names/${search}`, async (signal) => {
    const query = { first: 20, ...(search ? { search } : {}) };
    return (await api.listEmbedTenants(query, { signal })).items;
  });
  return (
    <div class="field">
      <label for={id}>{say('tenant')}</label>
      <input
        id={id}
        value={value}
        list={`${id}-names`}
        required={!isOptional}
        maxLength={255}
        autocomplete="off"
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? `${id}-note` : undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={`${id}-names`}>
        {data.map(({ name, displayName }) => (
          <option key={name} value={name}>
            {displayName}
          </option>
        ))}
      </datalist>
      {error && (
        <span id={`${id}-note`} class="bad note">
          {error}
        </span>
      )}
    </div>
  );
}
