/** The answer: as a chart, as a table, and as SQL. */
import { drillFrom, lazy, type Row } from '@oriel/charts';
import { useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { Empty, wordsOf } from '../parts/states.tsx';
import { ChartView, DrillMenu } from './chart-view.tsx';
import type { Exploration } from './exploration.ts';
import { isAsked } from './question.ts';
import { copyRows, downloadCsv, downloadXlsx, ResultTable } from './result-table.tsx';
import { useMay, useSqlShown } from './rights.ts';
import { say } from './texts/say.ts';
import { TypePicker } from './type-picker.tsx';

const ChartSettings = lazy(() => import('./chart-settings.tsx').then((module) => module.ChartSettings));
const SqlTab = lazy(() => import('./sql-tab.tsx').then((module) => module.SqlTab));
const VegaEditor = lazy(() => import('./vega-editor.tsx').then((module) => module.default));

const ALL_TABS = ['chart', 'table', 'sql'] as const;
export type Tab = (typeof ALL_TABS)[number];

/** What an address says, if it is a tab. */
export const tabOf = (text: string | undefined): Tab => ALL_TABS.find((tab) => tab === text) ?? 'chart';

export function Results({
  exploration,
  title,
  chosenTab,
  setTab,
  onSql,
}: {
  exploration: Exploration;
  title: string;
  chosenTab: Tab;
  setTab(tab: Tab): void;
  onSql(sql: string): void;
}) {
  const { isSemantic, isGenerated } = useSqlShown(exploration.deploymentId);
  const tabs = isSemantic || isGenerated ? ALL_TABS : ALL_TABS.slice(0, 2);
  const tab = tabs.includes(chosenTab) ? chosenTab : 'chart';
  const [hasSettings, setSettings] = useState(false);
  const [cell, setCell] = useState<{ row: Row; member: string }>();
  const [isEditing, setByHand] = useState(false);
  const isByHand = isEditing || exploration.question.value.vegaLite !== undefined;
  const may = useMay(exploration.deploymentId);
  const question = exploration.question.value;
  const answer = exploration.answer.value;
  const problem = exploration.problem.value;
  if (!isAsked(question)) return <Empty title={say('chooseFields')} hint={say('chooseFieldsHint')} />;
  if (!answer && problem)
    return (
      <div class="empty" role="alert">
        <h2>{say('queryFailed')}</h2>
        <p>{wordsOf(problem)}</p>
      </div>
    );
  if (!answer)
    return (
      <div class="results">
        <div class="skeleton fill" role="status" aria-label={say('running')} />
      </div>
    );
  const isStale = exploration.isOutdated.value || exploration.isRunning.value;
  const isEmpty = answer.rows.rows.length === 0;
  const drilled =
    cell &&
    drillFrom({
      widgetId: 'explore',
      title,
      member: cell.member,
      value: cell.row[cell.member],
      row: cell.row,
      query: answer.rows.query,
      annotation: answer.rows.result.annotation,
    });
  return (
    <div class="results">
      <div class="tabs-bar">
        <div role="tablist" aria-label={say('results')}>
          {tabs.map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              id={`tab-${name}`}
              aria-controls="results-panel"
              aria-selected={tab === name}
              tabIndex={tab === name ? 0 : -1}
              onClick={() => setTab(name)}
              onKeyDown={(event) => {
                const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
                if (!step) return;
                const next = tabs[(tabs.indexOf(name) + step + tabs.length) % tabs.length]!;
                setTab(next);
                document.getElementById(`tab-${next}`)?.focus();
              }}
            >
              {say(name)}
            </button>
          ))}
        </div>
        <div class="tab-actions">
          {tab === 'table' && (
            <button type="button" onClick={() => copyRows(exploration, answer)}>
              {say('copyRows')}
            </button>
          )}
          {tab !== 'sql' && may('DownloadData') && (
            <>
              <Download
                text={say('csv')}
                type="CSV"
                run={() => downloadCsv(exploration, answer, title || 'data')}
              />
              <Download
                text={say('xlsx')}
                type="XLSX"
                run={() => void downloadXlsx(exploration, answer, title || 'data')}
              />
            </>
          )}
          {tab === 'chart' && (
            <button
              type="button"
              class="with-icon"
              aria-expanded={hasSettings}
              onClick={() => setSettings(!hasSettings)}
            >
              <Icon name="menu" size={16} />
              {say('settings')}
            </button>
          )}
        </div>
      </div>
      <div
        id="results-panel"
        role="tabpanel"
        aria-labelledby={`tab-${tab}`}
        class={isStale ? 'results-panel stale' : 'results-panel'}
        aria-busy={isStale}
      >
        {tab === 'sql' ? (
          <SqlTab exploration={exploration} onSql={onSql} />
        ) : isEmpty ? (
          <Empty title={say('noRows')} hint={say('noRowsHint')} />
        ) : tab === 'table' ? (
          <ResultTable
            exploration={exploration}
            answer={answer}
            onCell={(row, member) => setCell({ row, member })}
          />
        ) : (
          <div class={hasSettings ? 'chart-area with-settings' : 'chart-area'}>
            <div class="chart-column">
              <TypePicker exploration={exploration} answer={answer} />
              <ChartView exploration={exploration} answer={answer} title={title} />
            </div>
            {hasSettings && (
              <div class={isByHand ? 'chart-settings by-hand' : 'chart-settings'}>
                <label class="option">
                  <input
                    type="checkbox"
                    checked={isByHand}
                    onChange={(event) => {
                      setByHand(event.currentTarget.checked);
                      if (!event.currentTarget.checked && question.vegaLite)
                        exploration.change(say('vegaByHand'), (before) => ({
                          ...before,
                          vegaLite: undefined,
                        }));
                    }}
                  />
                  <span>{say('vegaByHand')}</span>
                </label>
                {isByHand ? (
                  <VegaEditor exploration={exploration} answer={answer} />
                ) : (
                  <ChartSettings exploration={exploration} answer={answer} />
                )}
              </div>
            )}
          </div>
        )}
      </div>
      {drilled && (
        <DrillMenu exploration={exploration} drilled={drilled} onClose={() => setCell(undefined)} />
      )}
    </div>
  );
}

/** On a phone only the type of the file is seen. */
const Download = ({ text, type, run }: { text: string; type: string; run(): void }) => (
  <button type="button" class="with-icon" onClick={run}>
    <Icon name="download" size={16} />
    <span class="tool-text">{text}</span>
    <span class="short-text" aria-hidden="true">
      {type}
    </span>
  </button>
);
