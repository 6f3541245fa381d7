/** The page around the widgets: its states, its head, and the grid. */
import { type Board, BoardView, inForce, lazy } from '@oriel/charts';
import { useLayoutEffect, useReducer } from 'preact/hooks';
import { Avatar } from './avatar.tsx';
import { Downloads } from './downloads.tsx';
import type { PageState } from './page-state.ts';

const ApplicationFrame = lazy(() =>
  import('@oriel/charts/apps').then(({ ApplicationFrame }) => ApplicationFrame),
);

const Subscriptions = lazy(
  () =>
    import('./subscriptions.tsx').then(
      ({ Subscriptions }) => Subscriptions,
      // The dashboard is worth showing without it.
      () => () => null,
    ),
  null,
);

export function Page({ page }: { page: PageState }) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // Subscribe before the first frame is painted: a change before the subscription would never be drawn.
  useLayoutEffect(() => page.board.subscribe(() => redraw(undefined)), [page]);
  if (page.phase !== 'ready') return <State page={page} />;
  const { board } = page;
  return <Ready key={`${board.viewers} ${board.dashboard!.publicId}`} page={page} />;
}

function Ready({ page }: { page: PageState }) {
  const isApplication = page.board.dashboard!.config.kind === 'APP';
  return (
    <>
      <Head page={page} />
      {isApplication ? (
        <main class="application-page">
          <ApplicationFrame board={page.board} onRendered={() => page.board.rendered('app')} />
        </main>
      ) : (
        <main>
          <BoardView board={page.board} />
        </main>
      )}
    </>
  );
}

function Head({ page }: { page: PageState }) {
  const { board, language, viewer } = page;
  const description = board.dashboard!.description || board.dashboard!.config.description;
  const open = board.openFilterWidgets().map(({ config }): string => config!.member);
  const chosen = open.filter((member) => board.filters.has(member));
  return (
    <header class="head">
      <div class="head-text">
        <h1>{board.title}</h1>
        {description && <p>{description}</p>}
        <InForce board={board} />
      </div>
      {chosen.length > 0 && open.length > 1 && (
        <button
          type="button"
          class="quiet no-print"
          onClick={() => chosen.map((member) => board.setFilter(member, undefined))}
        >
          {language.say('clearAll')}
        </button>
      )}
      {board.mayExport && board.dashboard!.config.kind !== 'APP' && <Downloads page={page} />}
      <Subscriptions page={page} />
      <Avatar user={viewer!.user} />
    </header>
  );
}

/** Also on paper and in pictures, which show no controls or only their closed state. */
function InForce({ board }: { board: Board }) {
  const filters = inForce(board.filterWidgets(), board.filters, board);
  if (filters.length === 0) return null;
  return (
    <dl class="in-force" aria-label={board.say('filters')}>
      {filters.map(({ title, text }) => (
        <div key={title}>
          <dt>{title}</dt> <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

function State({ page }: { page: PageState }) {
  const { phase, problem } = page;
  const { say } = page.language;
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
