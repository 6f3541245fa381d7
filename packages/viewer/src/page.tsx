/** The page around the widgets: its states, its head, and the grid. */
import { createContext } from 'preact';
import { useContext, useEffect, useReducer, useState } from 'preact/hooks';
import type { App } from './app.ts';
import { Avatar } from './avatar.tsx';
import type { Drilled } from './drill-query.ts';
import { Grid } from './grid.tsx';
import { topLevel } from './layout.ts';
import { lazy } from './lazy.tsx';
import { Drill } from './widgets/drill.tsx';

const AppFrame = lazy(() => import('./apps/app-frame.tsx').then(({ AppFrame }) => AppFrame));

interface Shared {
  app: App;
  drill(drilled: Drilled): void;
}

const SharedContext = createContext<Shared>(undefined as unknown as Shared);
export const useShared = () => useContext(SharedContext);
export const useApp = () => useShared().app;

export function Page({ app }: { app: App }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => app.subscribe(() => redraw(undefined)), [app]);
  if (app.phase !== 'ready') return <State app={app} />;
  return <Ready key={`${app.viewers} ${app.dashboard!.publicId}`} app={app} />;
}

function Ready({ app }: { app: App }) {
  const [drilled, setDrilled] = useState<Drilled>();
  return (
    <SharedContext.Provider value={{ app, drill: setDrilled }}>
      <Head />
      {app.dashboard!.config.kind === 'APP' ? (
        <AppFrame app={app} />
      ) : (
        <main>
          <Grid widgets={topLevel(app.widgets)} />
        </main>
      )}
      {drilled && (
        <Drill key={JSON.stringify(drilled.query)} {...drilled} onClose={() => setDrilled(undefined)} />
      )}
    </SharedContext.Provider>
  );
}

function Head() {
  const app = useApp();
  const description = app.dashboard!.description || app.dashboard!.config.description;
  const isFiltered = app.filters.size > 0;
  return (
    <header class="head">
      <div class="head-text">
        <h1>{app.title}</h1>
        {description && <p>{description}</p>}
      </div>
      {isFiltered && app.filterWidgets().length > 1 && (
        <button
          type="button"
          class="quiet no-print"
          onClick={() => [...app.filters.keys()].map((member) => app.setFilter(member, undefined))}
        >
          {app.say('clearAll')}
        </button>
      )}
      <Avatar />
    </header>
  );
}

function State({ app }: { app: App }) {
  const { phase, problem, say } = app;
  if (phase === 'starting')
    return (
      <div class="skeleton-page" role="status" aria-label={say('loading')}>
        <div class="skeleton title" />
        <div class="skeleton-row">
          <div class="skeleton" />
          <div class="skeleton" />
          <div class="skeleton" />
          <div class="skeleton" />
        </div>
        <div class="skeleton tall" />
      </div>
    );
  if (phase === 'waiting' && window.parent === window)
    return (
      <Notice title={say('signedOut')} text={say('signedOutHint')}>
        <a href={`/sign-in?next=${encodeURIComponent(location.pathname)}`}>{say('signIn')}</a>
      </Notice>
    );
  if (phase === 'waiting') return <Notice title={say('waiting')} text={say('waitingHint')} />;
  if (phase === 'ended') return <Notice title={say('ended')} text={say('endedHint')} />;
  if (problem && [400, 403, 404].includes(problem.status))
    return <Notice title={say('notFound')} text={say('notFoundHint')} />;
  if (problem?.code === 'invalid_session') return <Notice title={say('used')} text={say('endedHint')} />;
  return (
    <Notice title={say('failed')} text={say(problem?.status === 0 ? 'offline' : 'failedHint')}>
      {app.viewer && (
        <button type="button" onClick={() => app.retry()}>
          {say('tryAgain')}
        </button>
      )}
    </Notice>
  );
}

function Notice({
  title,
  text,
  children,
}: {
  title: string;
  text: string;
  children?: preact.ComponentChildren;
}) {
  return (
    <main class="notice">
      <div role="alert">
        <h1>{title}</h1>
        <p>{text}</p>
      </div>
      {children}
    </main>
  );
}
