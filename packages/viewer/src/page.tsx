/** The page around the widgets: its states, its head, and the grid. */
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';
import { Avatar } from './avatar.tsx';
import type { Drilled } from './drill-query.ts';
import { Grid } from './grid.tsx';
import { inForce } from './in-force.ts';
import { topLevel } from './layout.ts';
import { lazy } from './lazy.tsx';
import type { PageState } from './page-state.ts';
import { SharedContext, usePage } from './shared.ts';
import { Drill } from './widgets/drill.tsx';
import { WidgetView } from './widgets/widget.tsx';

const ApplicationFrame = lazy(() =>
  import('./apps/app-frame.tsx').then(({ ApplicationFrame }) => ApplicationFrame),
);

export function Page({ page }: { page: PageState }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // Before the first frame is painted: the page may change earlier, and a change that nobody hears is never drawn.
  useLayoutEffect(() => page.subscribe(() => redraw(undefined)), [page]);
  if (page.phase !== 'ready') return <State page={page} />;
  return <Ready key={`${page.viewers} ${page.dashboard!.publicId}`} page={page} />;
}

function Ready({ page }: { page: PageState }) {
  const [drilled, setDrilled] = useState<Drilled>();
  return (
    <SharedContext.Provider value={{ page, drill: setDrilled }}>
      <Head />
      {page.dashboard!.config.kind === 'APP' ? (
        <ApplicationFrame page={page} />
      ) : (
        <main>
          <Grid widgets={topLevel(page.widgets)}>{(widget) => <WidgetView widget={widget} />}</Grid>
        </main>
      )}
      {drilled && (
        <Drill key={JSON.stringify(drilled.query)} {...drilled} onClose={() => setDrilled(undefined)} />
      )}
    </SharedContext.Provider>
  );
}

function Head() {
  const page = usePage();
  const description = page.dashboard!.description || page.dashboard!.config.description;
  const isFiltered = page.filters.size > 0;
  return (
    <header class="head">
      <div class="head-text">
        <h1>{page.title}</h1>
        {description && <p>{description}</p>}
        <InForce />
      </div>
      {isFiltered && page.filterWidgets().length > 1 && (
        <button
          type="button"
          class="quiet no-print"
          onClick={() => [...page.filters.keys()].map((member) => page.setFilter(member, undefined))}
        >
          {page.say('clearAll')}
        </button>
      )}
      <Avatar />
    </header>
  );
}

/** Also on paper and in pictures, which show no controls or only their closed state. */
function InForce() {
  const page = usePage();
  const filters = inForce(page.filterWidgets(), page.filters, page);
  if (filters.length === 0) return null;
  return (
    <dl class="in-force" aria-label={page.say('filters')}>
      {filters.map(({ title, text }) => (
        <div key={title}>
          <dt>{title}</dt> <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function State({ page }: { page: PageState }) {
  const { phase, problem, say } = page;
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
      {page.viewer && (
        <button type="button" onClick={() => page.retry()}>
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
