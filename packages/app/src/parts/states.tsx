/** What is shown in place of content: while it loads, if there is none, and if it could not be loaded. */
import type { ComponentChildren } from 'preact';
import type { Problem } from '../data/problem.ts';
import { say } from '../texts/say.ts';

/** Lines of the size of what comes, so that nothing jumps. */
export const Skeleton = ({ lines = 6 }: { lines?: number }) => (
  <div class="loading" role="status" aria-label={say('loading')}>
    {Array.from({ length: lines }, (_, i) => (
      <div class="skeleton line" key={i} />
    ))}
  </div>
);

export const Empty = ({
  title,
  hint,
  children,
}: {
  title: string;
  hint?: string;
  children?: ComponentChildren;
}) => (
  <div class="empty">
    <h2>{title}</h2>
    {hint && <p>{hint}</p>}
    {children && <div class="actions">{children}</div>}
  </div>
);

/** A sentence about what went wrong. Of a request that the server refused, its own words say it best. */
export function wordsOf(problem: Problem): string {
  switch (problem.kind) {
    case 'offline':
    case 'busy':
    case 'outdated':
    case 'missing':
    case 'failed':
      return say(problem.kind);
    case 'signedOut':
      return say('signedOutHint');
    case 'forbidden':
      return problem.message || say('forbidden');
    default:
      return [problem.message, ...problem.issues.map(({ message }) => message)].join(' ');
  }
}

export function Failed({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="empty" role="alert">
      <h2>{problem.kind === 'missing' ? say('notFound') : say('pageFailed')}</h2>
      <p>{problem.kind === 'missing' ? say('notFoundHint') : wordsOf(problem)}</p>
      {problem.kind === 'failed' && problem.requestId && (
        <p class="soft">{say('requestId', { id: problem.requestId })}</p>
      )}
      {retry && (
        <div class="actions">
          <button type="button" onClick={retry}>
            {say('tryAgain')}
          </button>
        </div>
      )}
    </div>
  );
}
