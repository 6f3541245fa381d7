/** The bar at the top: where one is, search, and the account. */
import { useLocation } from 'preact-iso/router';
import { shownKeys } from '../commands.ts';
import { workspaceTitle } from '../creator/gate.tsx';
import { formToken } from '../data/person-access.ts';
import { scheme } from '../look.ts';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { addressOf, isEmbedded } from '../place.ts';
import { prefer } from '../preferences.ts';
import { LANGUAGES, type Language, language, useLocale } from '../texts/index.ts';
import { say } from '../texts/say.ts';
import { useDeployments, useMe } from './account.ts';
import { openPalette } from './palette.tsx';

export const TopBar = ({ deploymentId }: { deploymentId: number | undefined }) => (
  <header class="top-bar">
    <button type="button" class="icon side-button" aria-label={say('openNavigation')} popoverTarget="side">
      <Icon name="menu" />
    </button>
    {isEmbedded ? <strong class="workspace-title">{workspaceTitle()}</strong> : <Brand />}
    {deploymentId !== undefined && !isEmbedded && <DeploymentMenu deploymentId={deploymentId} />}
    <button type="button" class="search-button" onClick={openPalette}>
      <Icon name="search" size={16} />
      <span>{say('search')}</span>
      <kbd>{shownKeys('mod+k')}</kbd>
    </button>
    {!isEmbedded && <AccountMenu deploymentId={deploymentId} />}
  </header>
);

const Brand = () => (
  <a class="brand" href="/">
    <span class="hidden">{say('appName')}</span>
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M12.6 7.5h6.8v7.2h-6.8zM12.6 16.3h6.8v7.2h-6.8z" />
      <path
        opacity=".65"
        d="M6.5 10.2l4.6-2.6v7.1H6.5zM6.5 16.3h4.6v7.1l-4.6-2.6zM25.5 10.2l-4.6-2.6v7.1h4.6zM25.5 16.3h-4.6v7.1l4.6-2.6z"
      />
    </svg>
  </a>
);

function DeploymentMenu({ deploymentId }: { deploymentId: number }) {
  const { route } = useLocation();
  const { data = [] } = useDeployments();
  const current = data.find(({ id }) => id === deploymentId);
  return (
    <Menu
      class="quiet switcher"
      label={`${say('deployment')}: ${current?.name ?? deploymentId}`}
      items={data.map(({ id, name }) => ({
        label: name,
        isChosen: id === deploymentId,
        run: () => route(addressOf(id, 'home')),
      }))}
    >
      <span>{current?.name ?? ' '}</span>
      <Icon name="down" size={16} />
    </Menu>
  );
}

function AccountMenu({ deploymentId }: { deploymentId: number | undefined }) {
  const { data: me } = useMe();
  const name = me?.firstName || me?.username || '';
  const choose = (chosen: 'auto' | 'light' | 'dark') => () => {
    scheme.value = chosen;
    prefer({ scheme: chosen });
  };
  return (
    <Menu
      class="avatar"
      // What is seen is a part of the name, so that it can be said to open the menu.
      label={`${initialsOf(name)}: ${say('accountMenu', { name })}`}
      items={[
        {
          label: say('account'),
          href: deploymentId === undefined ? '/account' : addressOf(deploymentId, 'account'),
        },
        { label: say('reference'), href: '/docs' },
        ...(['auto', 'light', 'dark'] as const).map((one, i) => ({
          label: say(one),
          isChosen: scheme.value === one,
          begins: i === 0,
          run: choose(one),
        })),
        ...(Object.keys(LANGUAGES) as Language[]).map((one, i) => ({
          label: LANGUAGES[one],
          isChosen: language.value === one,
          begins: i === 0,
          run: () => {
            prefer({ language: one });
            void useLocale(one);
          },
        })),
        { label: say('signOut'), begins: true, run: () => void leave() },
      ]}
    >
      <span class="initials" data-initials={initialsOf(name)} />
    </Menu>
  );
}

const initialsOf = (name: string) =>
  name
    .split(/[\s._@-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0]!.toLocaleUpperCase())
    .join('');

/** The person is signed out also if what asks about unsaved changes cannot be loaded any more, or fails. */
const leave = () => import('../leaving/views.tsx').then((views) => views.leave(signOut)).catch(signOut);

/** By a form, as the account page does it: the server ends the session and shows its sign-in page. */
function signOut() {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/sign-out';
  const field = document.createElement('input');
  field.type = 'hidden';
  field.name = 'csrf';
  field.value = formToken();
  form.append(field);
  document.body.append(form);
  form.submit();
}
