/** Everything of a person's own: who they are, how the app looks to them, and what can act in their name. */
import { useEffect, useState } from 'preact/hooks';
import { confirm } from '../console/parts/confirm.tsx';
import { FilterChoice, TextField } from '../console/parts/fields.tsx';
import { shownTime } from '../console/parts/lists.ts';
import { withShared } from '../console/say.ts';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { problemOf } from '../data/problem.ts';
import { type Me, useMe } from '../frame/account.ts';
import { scheme } from '../look.ts';
import type { PageProps } from '../page-props.ts';
import { Failed, Skeleton, wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { prefer } from '../preferences.ts';
import { LANGUAGES, type Language, language, useLocale } from '../texts/index.ts';
import { say as sayAll } from '../texts/say.ts';
import { nameOfAgent } from './agent.ts';
import { Card } from './card.tsx';
import { say } from './say.ts';
import { Services } from './services.tsx';

export const texts = withShared(say);

const NOTICES = ['password-changed', 'identity-removed', 'connected'] as const;

/** The page works without a deployment, for a person who may read none. */
export default function AccountPage({ params, query }: PageProps) {
  const deploymentId = params.deploymentId === undefined ? undefined : Number(params.deploymentId);
  const { data: me, problem, reload } = useMe();
  useEffect(() => {
    document.title = `${say('title')} · ${sayAll('appName')}`;
  });
  useEffect(() => {
    const notice = NOTICES.find((one) => one === query.notice);
    if (!notice) return;
    toast(say(`notice.${notice}`));
    history.replaceState(history.state, '', location.pathname);
  }, []);
  if (!me) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  return (
    <>
      <div class="page-head">
        <div class="grow">
          <h1>{say('title')}</h1>
          <p class="soft">{[me.email, ...me.roles].join(' · ')}</p>
        </div>
      </div>
      <div class="console-cards wide">
        <Profile me={me} />
        <Look />
        <Sessions />
        <Password email={me.email} />
        <Identities />
        <Services />
        <Keys />
        {deploymentId !== undefined && <Notifications deploymentId={deploymentId} me={me} />}
        <Card title={say('device')} hint={say('deviceHint')}>
          <p>
            <a class="button" href="/device">
              {say('enterCode')}
            </a>
          </p>
        </Card>
      </div>
    </>
  );
}

function Profile({ me }: { me: Me }) {
  const [firstName, setName] = useState(me.firstName ?? '');
  const [picture, setPicture] = useState(me.picture ?? '');
  const [error, setError] = useState<string>();
  return (
    <Card title={say('profile')}>
      <form
        class="form-fields"
        onSubmit={async (event) => {
          event.preventDefault();
          setError(undefined);
          try {
            await api.updateMe({
              body: { firstName: firstName.trim() || null, picture: picture.trim() || null },
            });
            toast(say('saved'));
            invalidate('me');
          } catch (failure) {
            setError(wordsOf(problemOf(failure)));
          }
        }}
      >
        <TextField
          label={say('name')}
          maxLength={255}
          value={firstName}
          onChange={setName}
          autocomplete="name"
        />
        <TextField
          label={say('picture')}
          type="url"
          maxLength={2048}
          value={picture}
          onChange={setPicture}
          hint={say('pictureHint')}
          error={error}
        />
        <div class="buttons">
          <button type="submit" class="primary">
            {say('save')}
          </button>
        </div>
      </form>
    </Card>
  );
}

const Look = () => (
  <Card title={say('look')}>
    <FilterChoice
      label={say('language')}
      value={language.value}
      onChange={(chosen) => {
        prefer({ language: chosen });
        void useLocale(chosen);
      }}
      options={(Object.keys(LANGUAGES) as Language[]).map((one) => ({ value: one, label: LANGUAGES[one] }))}
    />
    <FilterChoice
      label={say('appearance')}
      value={scheme.value}
      onChange={(chosen) => {
        scheme.value = chosen as typeof scheme.value;
        prefer({ scheme: scheme.value });
      }}
      options={(['auto', 'light', 'dark'] as const).map((one) => ({ value: one, label: sayAll(one) }))}
    />
  </Card>
);

function Sessions() {
  const { data } = useData('account/sessions', (signal) =>
    api.listMySessions({ first: 100 }, { signal }).then(({ items }) => [...items].reverse()),
  );
  const end = async (id: number) => {
    await attempt(() => api.endMySession({ id }));
    invalidate('account/sessions');
  };
  const endAll = async () => {
    if (await attempt(() => api.logout({ body: { everywhere: true } }).then(() => true)))
      location.assign('/sign-in?notice=signed-out-everywhere');
  };
  return (
    <Card title={say('sessions')}>
      <ul class="rows">
        {data?.map((session) => {
          const agent = session.userAgent && nameOfAgent(session.userAgent);
          const name = session.clientId ?? (agent || say(`kind.${session.kind}`));
          return (
            <li key={session.id}>
              <div class="grow">
                <p>{name}</p>
                <p class="soft note">
                  {[
                    session.isCurrent ? say('thisOne') : say(`kind.${session.kind}`),
                    session.ip,
                    session.lastUsedAt
                      ? `${say('lastUsed')} ${shownTime(session.lastUsedAt)}`
                      : `${say('signedIn')} ${shownTime(session.createdAt)}`,
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </p>
              </div>
              {!session.isCurrent && (
                <button
                  type="button"
                  aria-label={`${say('end')}: ${name} (${session.id})`}
                  onClick={() => void end(session.id)}
                >
                  {say('end')}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      <div class="buttons">
        <button type="button" onClick={() => void endAll()}>
          {say('endAll')}
        </button>
      </div>
    </Card>
  );
}

/** Reloads the page: the browser has a new session, and the token of this page belongs to the old one. */
const loadAgain = (notice: (typeof NOTICES)[number]) =>
  location.assign(`${location.pathname}?${new URLSearchParams({ notice })}`);

function Password({ email }: { email: string }) {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const [repeated, setRepeated] = useState('');
  const [errors, setErrors] = useState<{ current?: string; next?: string; repeated?: string }>({});
  return (
    <Card title={say('password')} hint={say('passwordHint')}>
      <form
        class="form-fields"
        onSubmit={async (event) => {
          event.preventDefault();
          setErrors({});
          if (newPassword !== repeated) return setErrors({ repeated: say('differ') });
          try {
            await api.changeMyPassword({ body: { currentPassword, newPassword } });
            loadAgain('password-changed');
          } catch (failure) {
            const problem = problemOf(failure);
            const isCurrent = ['wrong_password', 'no_password', 'rate_limited'].includes(problem.code);
            setErrors({ [isCurrent ? 'current' : 'next']: wordsOf(problem) });
          }
        }}
      >
        {/* For password managers, which keep the new password with it. */}
        <input type="text" autocomplete="username" value={email} readOnly hidden />
        <TextField
          label={say('current')}
          type="password"
          required
          value={currentPassword}
          onChange={setCurrent}
          error={errors.current}
          autocomplete="current-password"
        />
        <TextField
          label={say('next')}
          type="password"
          required
          value={newPassword}
          onChange={setNew}
          error={errors.next}
          autocomplete="new-password"
        />
        <TextField
          label={say('repeat')}
          type="password"
          required
          value={repeated}
          onChange={setRepeated}
          error={errors.repeated}
          autocomplete="new-password"
        />
        <div class="buttons">
          <button type="submit">{say('change')}</button>
        </div>
      </form>
    </Card>
  );
}

function Identities() {
  const { data = [] } = useData('account/identities', (signal) => api.listMyIdentities({}, { signal }));
  if (data.length === 0) return null;
  const remove = (id: number, name: string) =>
    confirm({
      title: say('removeOf', { name }),
      hint: say('identityHint'),
      action: say('remove'),
      run: async () => {
        if (await attempt(() => api.unlinkMyIdentity({ id }).then(() => true))) loadAgain('identity-removed');
      },
    });
  return (
    <Card title={say('identities')} hint={say('identityHint')}>
      <ul class="rows">
        {data.map(({ id, issuer, subject, createdAt }) => (
          <li key={id}>
            <div class="grow">
              <p>{subject}</p>
              <p class="soft note">
                {issuer} · {say('since', { time: shownTime(createdAt) })}
              </p>
            </div>
            <button
              type="button"
              aria-label={say('removeOf', { name: subject })}
              onClick={() => remove(id, subject)}
            >
              {say('remove')}
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Keys() {
  const { data } = useData('account/keys', (signal) => api.listMyApiKeys({ first: 1000 }, { signal }));
  const remove = (id: number, name: string) =>
    confirm({
      title: `${say('delete')}: ${name}`,
      hint: say('deleteHint'),
      action: say('delete'),
      run: async () => {
        await attempt(() => api.deleteMyApiKey({ id }));
        invalidate('account/keys');
      },
    });
  return (
    <Card title={say('keys')} hint={say('keysHint')}>
      {data?.items.length === 0 && <p>{say('noKeys')}</p>}
      <ul class="rows">
        {data?.items.map(({ id, name, lastUsedAt }) => (
          <li key={id}>
            <div class="grow">
              <p>{name}</p>
              <p class="soft note">
                {say('lastUsed')} {shownTime(lastUsedAt)}
              </p>
            </div>
            <button
              type="button"
              aria-label={`${say('delete')}: ${name} (${id})`}
              onClick={() => remove(id, name)}
            >
              {say('delete')}
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Notifications({ deploymentId, me }: { deploymentId: number; me: Me }) {
  const key = `account/notifications/${deploymentId}`;
  const { data } = useData(key, (signal) =>
    api.getNotifications({ deploymentId, recipientUserId: me.id, first: 200 }, { signal }),
  );
  const leave = async (id: number) => {
    await attempt(() => api.unsubscribeFromNotification({ deploymentId, id }));
    invalidate(key);
  };
  return (
    <Card title={say('notifications')}>
      {data?.items.length === 0 && <p class="soft">{say('noNotifications')}</p>}
      <ul class="rows">
        {data?.items.map(({ id, name }) => (
          <li key={id}>
            <span class="grow">{name}</span>
            <button
              type="button"
              aria-label={`${say('unsubscribe')}: ${name}`}
              onClick={() => void leave(id)}
            >
              {say('unsubscribe')}
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
