/** The way for an admin without content of their own: each step ticks itself off by what somebody has made, beside the demo. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { useDeployments, useMe } from '../frame/account.ts';
import { isPublished, isReport, isWorkbook } from '../home/items.ts';
import { Icon } from '../parts/icons.tsx';
import { addressOf } from '../place.ts';
import { prefer, preference } from '../preferences.ts';
import { DemoButton } from './demo.tsx';
import { say } from './say.ts';

interface Step {
  title: string;
  hint: string;
  href: string;
  isDone: boolean;
}

export function FirstSteps({ deploymentId }: { deploymentId: number }) {
  const { data: me } = useMe();
  const [isHidden, setHidden] = useState(() => preference('hiddenSteps')?.includes(deploymentId) ?? false);
  const { data: deployments } = useDeployments();
  const isDemo = deployments?.find(({ id }) => id === deploymentId)?.isDemo === true;
  const isWanted = me?.isAdmin === true && deployments !== undefined && !isHidden;
  const { data: there } = useData(isWanted ? `d/${deploymentId}/first-steps` : null, (signal) =>
    whatIsThere(deploymentId, isDemo, signal),
  );
  const demo = (isShown: boolean) => <DemoButton deploymentId={deploymentId} isShown={isShown} />;
  if (!isWanted || !there) return demo(false);
  const steps: Step[] = [
    {
      title: say('data'),
      hint: say('dataHint'),
      href: addressOf(deploymentId, 'adminSources'),
      isDone: there.hasData,
    },
    {
      title: say('model'),
      hint: say('modelHint'),
      href: addressOf(deploymentId, 'adminModels'),
      isDone: there.hasModel,
    },
    {
      title: say('chart'),
      hint: say('chartHint'),
      href: addressOf(deploymentId, 'explore'),
      isDone: there.hasReport,
    },
    {
      title: say('dashboard'),
      hint: say('dashboardHint'),
      // A chart is saved in a workbook, whose dashboard is made there.
      href: there.workbookId
        ? addressOf(deploymentId, 'dashboard', { workbookId: there.workbookId })
        : addressOf(deploymentId, 'explore'),
      isDone: there.hasDashboard,
    },
    {
      title: say('embed'),
      hint: say('embedHint'),
      href: there.publishedId
        ? addressOf(deploymentId, 'embed', { workbookId: there.publishedId })
        : addressOf(deploymentId, 'mine'),
      isDone: there.hasEmbed,
    },
    {
      title: say('invite'),
      hint: say('inviteHint'),
      href: addressOf(deploymentId, 'adminUsers'),
      isDone: there.hasPeople,
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return demo(false);
  const hide = () => {
    prefer({ hiddenSteps: [...(preference('hiddenSteps') ?? []), deploymentId] });
    setHidden(true);
  };
  return (
    <section class="steps" aria-labelledby="first-steps">
      <div class="page-head">
        <h2 id="first-steps" class="grow">
          {say('title', { done, all: steps.length })}
        </h2>
        {demo(true)}
        <button type="button" class="quiet" onClick={hide}>
          {say('hide')}
        </button>
      </div>
      <ol>
        {steps.map(({ title, hint, href, isDone }) => (
          <li key={title} class={isDone ? 'done' : ''}>
            <span class="tick">{isDone && <Icon name="check" size={16} />}</span>
            <div>
              <a href={href}>{title}</a>
              {isDone && <span class="hidden"> ({say('done')})</span>}
              <p class="soft">{hint}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What came with the demo was made all at once, and what people do is done one after the other. */
const madeAlone = <T,>(items: readonly T[], instantOf: (item: T) => string): T[] =>
  items.filter((item) => items.every((other) => other === item || instantOf(other) !== instantOf(item)));

/** What people did. What cannot be asked counts as not there, and nothing that came with the demo counts. */
async function whatIsThere(deploymentId: number, isDemo: boolean, signal: AbortSignal) {
  const not = () => undefined;
  const [variables, files, builds, content, sessions, users] = await Promise.all([
    api.getEnvVariables({ deploymentId }, { signal }).catch(not),
    api.listDataFiles({ deploymentId, first: 100 }, { signal }).catch(not),
    api.listBuilds({ deploymentId, first: 100 }, { signal }).catch(not),
    api
      .workspaceObjects({ deploymentId, owned: true, types: ['WORKBOOK', 'REPORT'], first: 200 }, { signal })
      .catch(not),
    api.listEmbedSessions({ deploymentId, first: 1 }, { signal }).catch(not),
    api.listUsers({ first: 2 }, { signal }).catch(not),
  ]);
  const known = content?.items ?? [];
  const mine = isDemo ? madeAlone(known, ({ createdAt }) => createdAt) : known;
  const workbooks = mine.filter(isWorkbook);
  const published = workbooks.find(isPublished);
  const tables = files?.items ?? [];
  const uploads = isDemo ? madeAlone(tables, ({ changedAt }) => changedAt) : tables;
  // A deployment begins with a model, whose build is the first.
  const models = new Set(builds?.items.filter(({ status }) => status === 'built').map((one) => one.lastHash));
  const hasModel = models.size > 1;
  return {
    // A model that can be queried has data, which the demo has anyway.
    hasData: (hasModel && !isDemo) || (variables?.items.length ?? 0) > 0 || uploads.length > 0,
    hasModel,
    hasReport: mine.some(isReport),
    hasDashboard: published !== undefined,
    hasEmbed: (sessions?.items.length ?? 0) > 0,
    hasPeople: (users?.items.length ?? 0) > 1,
    workbookId: workbooks[0]?.id,
    publishedId: published?.id,
  };
}
