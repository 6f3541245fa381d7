/** A new question: one search over views, measures and dimensions; reports to start from; or a query to paste. */
import { lazy } from '@oriel/charts';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { openDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Empty } from '../parts/states.tsx';
import { addressOf } from '../place.ts';
import { addMember } from './changes.ts';
import { inGroupOrder, useLaunchpad } from './launchpad.ts';
import { type Hit, type Model, type Source, searchSources } from './members.ts';
import { emptyQuestion, type Question } from './question.ts';
import { say } from './texts/say.ts';

const PasteDialog = lazy(() => import('./paste.tsx').then((module) => module.PasteDialog), null);

const HITS_SHOWN = 4;
const SOURCES_SHOWN = 40;
const WHY = { title: 'matchedTitle', name: 'matchedName', description: 'matchedDescription' } as const;

export function Start({
  deploymentId,
  model,
  emptyReport,
  onStart,
  onSql,
}: {
  deploymentId: number;
  model: Model;
  /** The title of a stored report that asks for nothing yet: what is begun here becomes its question. */
  emptyReport?: string | undefined;
  onStart(question: Question): void;
  onSql(sql: string): void;
}) {
  const [text, setText] = useState('');
  const launchpad = useLaunchpad(deploymentId);
  const found = useMemo(
    () => inGroupOrder(searchSources(model, text), launchpad).slice(0, SOURCES_SHOWN),
    [model, text, launchpad],
  );
  const { data: reports } = useData(
    launchpad.sections.has('reports') ? `d/${deploymentId}/reports/start` : null,
    async (signal) =>
      (await api.getReports({ deploymentId, first: 8, sortBy: 'updatedAt', includeCount: false }, { signal }))
        .items,
  );
  const begin = (source: Source, hit?: Hit) => {
    const empty = emptyQuestion(source.name);
    onStart(hit ? addMember(empty, hit.member.name, hit.member.kind) : empty);
  };
  if (!model.sources.length) return <Empty title={say('emptyModel')} hint={say('emptyModelHint')} />;
  return (
    <div class="explore-start">
      <header class="page-head">
        <div class="grow">
          <h1>{emptyReport ?? say('newQuestion')}</h1>
          {emptyReport !== undefined && <p class="soft">{say('emptyReport')}</p>}
        </div>
        {launchpad.sections.has('source_sql') && (
          <button
            type="button"
            onClick={() =>
              openDialog((close) => <PasteDialog onQuestion={onStart} onSql={onSql} onClose={close} />)
            }
          >
            {say('paste')}
          </button>
        )}
        {launchpad.sections.has('source_sql') && (
          <button type="button" onClick={() => onSql('')}>
            {say('writeSql')}
          </button>
        )}
      </header>
      {launchpad.sections.has('semantic_search') && (
        <>
          <label class="search-field large">
            <Icon name="search" />
            <input
              type="search"
              value={text}
              placeholder={say('searchAll')}
              aria-label={say('searchAll')}
              onInput={(event) => setText(event.currentTarget.value)}
              onKeyDown={(event) => {
                const [first] = found;
                if (event.key === 'Enter' && text && first) begin(first.source, first.hits[0]);
              }}
            />
          </label>
          {found.length === 0 && <p class="soft">{say('nothingFound', { text })}</p>}
          <ul class="sources">
            {found.map(({ source, hits }) => (
              <li key={source.name} class="source-card">
                <button type="button" class="source-name" onClick={() => begin(source)}>
                  <strong>{source.title}</strong>
                  {source.description && <span class="soft">{source.description}</span>}
                </button>
                {text && hits.length > 0 && (
                  <ul class="hits">
                    {hits.slice(0, HITS_SHOWN).map((hit) => (
                      <li key={hit.member.name}>
                        <button type="button" class="quiet" onClick={() => begin(source, hit)}>
                          {hit.member.title}
                        </button>
                        <span class="soft">{say(WHY[hit.why])}</span>
                      </li>
                    ))}
                  </ul>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {launchpad.sections.has('reports') && reports && reports.length > 0 && (
        <section>
          <h2>{say('reportsToStart')}</h2>
          <ul class="start-reports">
            {reports.map((report) => (
              <li key={report.id}>
                <a
                  href={
                    report.workbookId
                      ? addressOf(deploymentId, 'reportInWorkbook', {
                          workbookId: report.workbookId,
                          reportId: report.id,
                        })
                      : addressOf(deploymentId, 'report', { reportId: report.id })
                  }
                >
                  <Icon name="report" size={16} />
                  {report.title || report.name}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
