/** What is around every page: the bar at the top, the pages at the side, and what may happen at any time. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { useConsoleRights, useHasConsole } from '../console/rights.ts';
import { onNavigate, tellPath } from '../creator/session.ts';
import { invalidate } from '../data/cache.ts';
import { isSignedOut, isSomebodyElse, resume } from '../data/person-access.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Icon, type IconName } from '../parts/icons.tsx';
import { toast } from '../parts/toasts.tsx';
import { addressOf, deploymentIn, isEmbedded } from '../place.ts';
import { prefer } from '../preferences.ts';
import type { RouteName } from '../routes.ts';
import { say } from '../texts/say.ts';
import { openPalette } from './palette.tsx';
import { type SideGroup, sideGroups } from './side-groups.ts';
import { TopBar } from './top-bar.tsx';

type PlainRoute = Extract<RouteName, 'home' | 'recent' | 'mine' | 'shared' | 'explore' | 'admin'>;
/** The pages at the side. A page that belongs to none of them belongs to home. */
const SIDE: readonly PlainRoute[] = ['home', 'recent', 'mine', 'shared', 'explore'];

export function Frame({ children }: { children: ComponentChildren }) {
  const { path, route } = useLocation();
  const deploymentId = deploymentIn(path);
  const side = useRef<HTMLElement>(null);
  const mayExplore = useConsoleRights(deploymentId).may('AIBIExplore') || isEmbedded;
  const offered = mayExplore ? SIDE : SIDE.filter((name) => name !== 'explore');
  const pages = useHasConsole(deploymentId) ? [...offered, 'admin' as const] : offered;
  useEffect(() => {
    if (deploymentId !== undefined) prefer({ deploymentId });
  }, [deploymentId]);
  useEffect(() => side.current?.hidePopover?.(), [path]);
  useEffect(() => {
    if (!isEmbedded) return;
    onNavigate(route);
    // The page sets its title first.
    const timer = setTimeout(() => tellPath(path, document.title));
    return () => clearTimeout(timer);
  }, [path]);
  useCommands([
    { id: 'palette', title: say('openPalette'), keys: 'mod+k', run: openPalette },
    ...(deploymentId === undefined
      ? []
      : pages.map((name) => ({
          id: `go-${name}`,
          title: say(name),
          run: () => route(addressOf(deploymentId, name)),
        }))),
  ]);
  return (
    <>
      <a class="skip" href="#content">
        {say('skip')}
      </a>
      <TopBar deploymentId={deploymentId} />
      <div class="columns">
        {deploymentId !== undefined && (
          <nav ref={side} id="side" class="side" popover="auto" aria-label={say('navigation')}>
            <ul>
              {pages.map((name) => (
                <SideLink key={name} name={name} path={path} deploymentId={deploymentId} />
              ))}
            </ul>
            {sideGroups.value.map((group) => (
              <SideGroupView key={group.title} group={group} path={path} />
            ))}
          </nav>
        )}
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      </div>
      {isSignedOut.value && <SignedOut />}
    </>
  );
}

function SideLink({ name, path, deploymentId }: { name: PlainRoute; path: string; deploymentId: number }) {
  const address = addressOf(deploymentId, name);
  const isHere = name === 'home' ? path === address || path.includes('/folders/') : path === address;
  return (
    <li>
      <a href={address} aria-current={isHere ? 'page' : undefined}>
        <Icon name={name === 'admin' ? 'settings' : (name as IconName)} />
        {say(name)}
      </a>
    </li>
  );
}

const SideGroupView = ({ group, path }: { group: SideGroup; path: string }) => (
  <>
    <h2 class="group-title">{group.title}</h2>
    <ul>
      {group.links.map(({ title, address }) => (
        <li key={address}>
          <a href={address} aria-current={path === address ? 'page' : undefined}>
            {title}
          </a>
        </li>
      ))}
    </ul>
  </>
);

function SignedOut() {
  const goOn = async () => {
    if (await resume().catch(() => false)) invalidate('');
    else if (!isSomebodyElse.peek()) toast(say('stillSignedOut'));
  };
  return (
    <Dialog title={say('signedOut')} onClose={() => void goOn()}>
      <p>{say('signedOutHint')}</p>
      <div class="dialog-foot">
        <a class="button" href="/sign-in?next=/account" target="_blank" rel="noreferrer">
          {say('signIn')}
        </a>
        <button type="button" class="primary" onClick={() => void goOn()}>
          {say('goOn')}
        </button>
      </div>
    </Dialog>
  );
}
