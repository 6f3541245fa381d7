/** Who gets the dashboard. */
import { useId, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { useMe } from '../frame/account.ts';
import { Icon } from '../parts/icons.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt } from '../parts/toasts.tsx';
import { isEmbedded } from '../place.ts';
import { say } from './say.ts';

export interface Place {
  deploymentId: number;
  id: number;
}
type Recipient = Awaited<ReturnType<typeof api.getRecipients>>['items'][number];
type Input = Parameters<typeof api.addRecipients>[0]['body']['recipients'][number];

const SHOWN_MAX = 1000;
const keyOf = ({ deploymentId, id }: Place) => `d/${deploymentId}/recipients/${id}`;

export function Recipients({ place }: { place: Place }) {
  const { data, problem, reload } = useData(keyOf(place), (signal) =>
    api.getRecipients({ ...place, first: SHOWN_MAX }, { signal }),
  );
  const change = (work: () => Promise<unknown>) =>
    attempt(async () => {
      await work();
      // Subscribing oneself shows in the list of schedules too.
      invalidate(`d/${place.deploymentId}/`);
      return true;
    });
  const add = (recipient: Input) =>
    change(() => api.addRecipients({ ...place, body: { recipients: [recipient] } }));
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />;
  return (
    <>
      <p class="soft">{say('ownRows')}</p>
      <AddRecipient add={add} />
      <ul class="grants" aria-label={say('recipients')}>
        {data.items.map((recipient) => (
          <li key={recipient.id}>
            <Icon
              name={recipient.type === 'GROUP' ? 'shared' : recipient.type === 'SLACK' ? 'share' : 'mine'}
            />
            <span class="grow">
              {nameOf(recipient)} <span class="soft">{say(KINDS[recipient.type])}</span>
              {recipient.isUnsubscribed && <span class="tag">{say('hasLeft')}</span>}
              {recipient.type === 'SLACK' && <span class="soft"> · {say('ownerView')}</span>}
              {recipient.problem && <p class="bad">{recipient.problem}</p>}
            </span>
            <button
              type="button"
              class="icon"
              aria-label={say('removeRecipient', { name: nameOf(recipient) })}
              onClick={() =>
                void change(() =>
                  api.removeRecipients({ ...place, body: { recipients: [removed(recipient)] } }),
                )
              }
            >
              <Icon name="close" size={16} />
            </button>
          </li>
        ))}
      </ul>
      {data.items.length === 0 && <p class="soft">{say('nobody')}</p>}
    </>
  );
}

const KINDS = {
  USER: 'person',
  EMBED_USER: 'embedUser',
  SLACK: 'slack',
  GROUP: 'group',
  WEBHOOK: 'webhook',
} as const satisfies Record<Recipient['type'], string>;

const nameOf = (recipient: Recipient) =>
  recipient.channelName ??
  recipient.channelId ??
  recipient.groupName ??
  recipient.email ??
  recipient.externalId ??
  recipient.username ??
  String(recipient.webhookId ?? recipient.id);

const removed = ({ type, userId, embedUserId, channelId, groupId, webhookId, email }: Recipient) => ({
  type,
  id: (userId ?? embedUserId ?? channelId ?? groupId ?? webhookId ?? email)!,
});

function AddRecipient({ add }: { add(recipient: Input): Promise<unknown> }) {
  const { data: me } = useMe();
  const kinds = isEmbedded ? (['embed'] as const) : (['mail', 'embed', 'slack'] as const);
  const [kind, setKind] = useState<(typeof kinds)[number]>(kinds[0]);
  const [text, setText] = useState('');
  const [tenant, setTenant] = useState('');
  const id = useId();
  const search = text.trim();
  const isSearched = me?.isAdmin === true && kind === 'mail' && search !== '';
  const { data: users } = useData(
    isSearched ? `users/${search}` : null,
    async (signal) => (await api.listUsers({ search, state: 'active', first: 6 }, { signal })).items,
  );
  const { data: groups } = useData(
    isSearched ? 'user-groups' : null,
    async (signal) => (await api.listUserGroups({ first: 1000 }, { signal })).items,
  );
  const choose = async (recipient: Input) => {
    if (await add(recipient)) setText('');
  };
  const given = (): Input =>
    kind === 'mail'
      ? { type: 'USER', email: search }
      : kind === 'slack'
        ? { type: 'SLACK', channelId: search }
        : {
            type: 'EMBED_USER',
            externalId: search,
            ...(tenant.trim() ? { embedTenantName: tenant.trim() } : {}),
          };
  const found = (groups ?? [])
    .filter(({ name }) => name.toLocaleLowerCase().includes(search.toLocaleLowerCase()))
    .slice(0, 4);
  const labels = { mail: 'byMail', embed: 'byExternalId', slack: 'byChannel' } as const;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (search) void choose(given());
      }}
    >
      <div class="add-recipient">
        {kinds.length > 1 && (
          <div class="field">
            <label for={`${id}-kind`}>{say('kind')}</label>
            <select
              id={`${id}-kind`}
              value={kind}
              onChange={(event) => setKind(event.currentTarget.value as typeof kind)}
            >
              {kinds.map((one) => (
                <option key={one} value={one}>
                  {say(({ mail: 'person', embed: 'embedUser', slack: 'slack' } as const)[one])}
                </option>
              ))}
            </select>
          </div>
        )}
        {kind === 'embed' && !isEmbedded && (
          <div class="field">
            <label for={`${id}-tenant`}>{say('embedTenant')}</label>
            <input
              id={`${id}-tenant`}
              autocomplete="off"
              maxLength={255}
              value={tenant}
              onInput={(event) => setTenant(event.currentTarget.value)}
            />
          </div>
        )}
        <div class="field grow">
          <label for={id}>{say(labels[kind])}</label>
          <input
            id={id}
            autocomplete="off"
            maxLength={255}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" disabled={!search}>
          {say('addRecipient')}
        </button>
      </div>
      {kind === 'slack' && <p class="soft">{say('slackHint')}</p>}
      {isSearched && (
        <ul class="found">
          {(users ?? []).map(({ id: userId, firstName, email }) => (
            <li key={`user ${userId}`}>
              <button type="button" class="quiet" onClick={() => void choose({ type: 'USER', userId })}>
                <span class="grow">{firstName ? `${firstName} · ${email}` : email}</span>
                <span class="soft">{say('person')}</span>
              </button>
            </li>
          ))}
          {found.map(({ id: groupId, name }) => (
            <li key={`group ${groupId}`}>
              <button type="button" class="quiet" onClick={() => void choose({ type: 'GROUP', groupId })}>
                <span class="grow">{name}</span>
                <span class="soft">{say('group')}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
