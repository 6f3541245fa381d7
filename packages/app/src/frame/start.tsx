/** The pages that name no deployment: they lead to the one that was used last, or to the first one. */
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { DemoButton } from '../first-run/demo.tsx';
import type { PageProps } from '../page-props.ts';
import { PAGES } from '../pages.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { preference } from '../preferences.ts';
import { say } from '../texts/say.ts';
import { useDeployments, useMe } from './account.ts';

function useStart(name: 'home' | 'account', search = '') {
  const { route } = useLocation();
  const { data, problem, reload } = useDeployments();
  const last = preference('deploymentId');
  const chosen = data?.find(({ id }) => id === last) ?? data?.[0];
  useEffect(() => {
    if (chosen) route(addressOf(chosen.id, name) + search, true);
  }, [chosen?.id]);
  return { data, problem, reload, chosen };
}

/** Everybody has an account, also who may read no deployment. */
export function AccountStart(properties: PageProps) {
  const { data, problem, reload, chosen } = useStart('account', location.search);
  if (problem && !data) return <Failed problem={problem} retry={reload} />;
  if (!data || chosen) return <Skeleton />;
  const { account: Account } = PAGES;
  return <Account {...properties} />;
}

export function Start() {
  const { query } = useLocation();
  const { data, problem, reload, chosen } = useStart('home');
  const { data: me } = useMe();
  useEffect(() => {
    // Links that set a password lead here.
    if (query.notice === 'welcome') toast(say('welcome'));
    if (query.notice === 'password-set') toast(say('passwordSet'));
  }, []);
  if (problem && !data) return <Failed problem={problem} retry={reload} />;
  if (data && !chosen)
    return (
      <Empty title={say('noDeployments')} hint={say(me?.isAdmin ? 'noneYetHint' : 'noDeploymentsHint')}>
        <DemoButton isShown />
      </Empty>
    );
  return <Skeleton />;
}
