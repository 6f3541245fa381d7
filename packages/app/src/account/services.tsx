/** Services at which the person allows this server to act for them. A person who may not connect sees none of them. */
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { attempt } from '../parts/toasts.tsx';
import { Card } from './card.tsx';
import { say } from './say.ts';

const KEY = 'account/services';

export function Services() {
  const { data = [] } = useData(KEY, async (signal) => {
    const nothing = () => [];
    const [integrations, tokens] = await Promise.all([
      api.listOAuthIntegrations({}, { signal }).catch(nothing),
      api.listUserOAuthTokens({}, { signal }).catch(nothing),
    ]);
    return integrations.map(({ id, name }) => ({
      id,
      name,
      token: tokens.find(({ integrationId }) => integrationId === id),
    }));
  });
  if (data.length === 0) return null;
  const connect = async (integrationId: number) => {
    const begun = await attempt(() => api.initiateOAuthFlow({ integrationId }));
    if (begun) location.assign(begun.authorizationUrl);
  };
  const disconnect = async (integrationId: number) => {
    await attempt(() => api.revokeUserOAuthToken({ integrationId }));
    invalidate(KEY);
  };
  return (
    <Card title={say('services')} hint={say('servicesHint')}>
      <ul class="rows">
        {data.map(({ id, name, token }) => (
          <li key={id}>
            <div class="grow">
              <p>{name}</p>
              <p class={token?.lastError ? 'bad note' : 'soft note'}>
                {token?.lastError ?? say(token?.status === 'active' ? 'connected' : 'notConnected')}
              </p>
            </div>
            {token?.status !== 'active' && (
              <button
                type="button"
                aria-label={`${say(token ? 'connectAgain' : 'connect')}: ${name}`}
                onClick={() => void connect(id)}
              >
                {say(token ? 'connectAgain' : 'connect')}
              </button>
            )}
            {token && (
              <button
                type="button"
                aria-label={`${say('disconnect')}: ${name}`}
                onClick={() => void disconnect(id)}
              >
                {say('disconnect')}
              </button>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}
