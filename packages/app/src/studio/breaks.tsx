/** What would fail, or show other numbers, after a merge. */
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { addressOf } from '../place.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

interface Row {
  key: string;
  kind: string;
  name: string;
  href: string;
  effect: 'fails' | 'changes';
  members: readonly string[];
}

export function Breaks({ studio }: { studio: Studio }) {
  const { deploymentId, branch } = studio;
  const { data, problem, reload, isLoading } = useData(
    `d/${deploymentId}/merge-preview/${branch.name}`,
    (signal) => api.previewMerge({ deploymentId, branchName: branch.name }, { signal }),
  );
  if (!data || isLoading)
    return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />;
  const rows: Row[] = [
    ...data.dashboards.map((one) => ({
      ...one,
      key: `d ${one.workbookId} ${one.state}`,
      kind: say(one.state === 'draft' ? 'draftDashboard' : 'publishedDashboard'),
      href: addressOf(deploymentId, 'dashboard', { workbookId: one.workbookId }),
    })),
    ...data.schedules.map((one) => ({
      ...one,
      key: `s ${one.id}`,
      kind: say('schedule'),
      name: one.name ?? String(one.id),
      href: addressOf(deploymentId, 'dashboard', { workbookId: one.workbookId }),
    })),
    ...data.reports.map((one) => ({
      ...one,
      key: `r ${one.id}`,
      kind: say('report'),
      href: addressOf(deploymentId, 'report', { reportId: one.id }),
    })),
  ].sort((a, b) => Number(b.effect === 'fails') - Number(a.effect === 'fails'));
  const failing = rows.filter(({ effect }) => effect === 'fails').length;
  return (
    <section class="breaks" aria-label={say('whatBreaks')}>
      <h3>{say('whatBreaks')}</h3>
      {data.conflicts.length > 0 && (
        <p class="bad">{say('hasConflicts', { files: data.conflicts.join(', ') })}</p>
      )}
      {data.errors.map((error, i) => (
        <p key={i} class="bad">
          {error.fileName}:{error.line} {error.message}
        </p>
      ))}
      {data.conflicts.length + data.errors.length === 0 && (
        <p class={failing ? 'bad' : 'soft'} role="status">
          {failing
            ? say('failing', { count: failing })
            : rows.length
              ? say('onlyChanges')
              : say('breaksNothing')}
        </p>
      )}
      {data.hiddenCount > 0 && <p class="soft">{say('hiddenContent', { count: data.hiddenCount })}</p>}
      {!data.isComplete && <p class="soft">{say('notAll')}</p>}
      {rows.length > 0 && (
        <ul>
          {rows.map(({ key, kind, name, href, effect, members }) => (
            <li key={key}>
              <span class={effect === 'fails' ? 'mark removed' : 'mark changed'}>{say(effect)}</span> {kind}{' '}
              <a href={href} target="_blank" rel="noreferrer">
                {name}
              </a>{' '}
              <span class="soft">
                {members.map((member) => (
                  <code key={member}>{member} </code>
                ))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
