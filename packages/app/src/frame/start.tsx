/** The first page: leads to the deployment that was used last, or to the first one. */

import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { DemoButton } from '../first-run/demo.tsx';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { preference } from '../preferences.ts';
import { say } from '../texts/say.ts';
import { useDeployments, useMe } from './account.ts';

export function Start() {
  const { route, query } = useLocation();
  const { data, problem, reload } = useDeployments();
  const { data: me } = useMe();
  const last = preference('deploymentId');
  const chosen = data?.find(({ id }) => id === last) ?? data?.[0];
  useEffect(() => {
    if (chosen) route(addressOf(chosen.id, 'home'), true);
  }, [chosen?.id]);
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
