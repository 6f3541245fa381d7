/** The way for an admin without content of their own: each step ticks itself off by what is really there. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { useMe } from '../frame/account.ts';
import { isPublished, isWorkbook } from '../home/items.ts';
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
  const isWanted = me?.isAdmin === true && !isHidden;
  const { data: there } = useData(isWanted ? `d/${deploymentId}/first-steps` : null, (signal) =>
    whatIsThere(deploymentId, signal),
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

/** The model that a new deployment begins with is nobody's work. */
const EXAMPLES = ['example_orders', 'example'];

/** What cannot be asked counts as not there. */
async function whatIsThere(deploymentId: number, signal: AbortSignal) {
  const not = () => undefined;
  const own = (type: 'WORKBOOK' | 'REPORT', first: number) =>
    api.workspaceObjects({ deploymentId, owned: true, types: [type], first }, { signal }).catch(not);
  const [variables, files, meta, reports, workbooks, sessions, users] = await Promise.all([
    api.getEnvVariables({ deploymentId }, { signal }).catch(not),
    api.listDataFiles({ deploymentId, first: 1 }, { signal }).catch(not),
    api.getQueryMeta({ deploymentId }, { signal }).catch(not),
    own('REPORT', 1),
    own('WORKBOOK', 100),
    api.listEmbedSessions({ deploymentId, first: 1 }, { signal }).catch(not),
    api.listUsers({ first: 2 }, { signal }).catch(not),
  ]);
  const mine = (workbooks?.items ?? []).filter(isWorkbook);
  const published = mine.find(isPublished);
  const hasModel = meta?.cubes.some(({ name }) => !EXAMPLES.includes(name)) ?? false;
  return {
    // A model that can be queried has data; the demo needs no variables.
    hasData: hasModel || (variables?.items.length ?? 0) > 0 || (files?.items.length ?? 0) > 0,
    hasModel,
    hasReport: (reports?.items.length ?? 0) > 0,
    hasDashboard: published !== undefined,
    hasEmbed: (sessions?.items.length ?? 0) > 0,
    hasPeople: (users?.items.length ?? 0) > 1,
    workbookId: mine[0]?.id,
    publishedId: published?.id,
  };
}
