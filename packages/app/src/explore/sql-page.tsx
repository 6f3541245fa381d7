/** A SELECT and its rows: over the views of the model or, for those who may, in a data source itself. */
import { download, plainCell } from '@oriel/charts';
import type { VisualizationType } from '@oriel/visualization';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { api } from '../data/api.ts';
import { isAbort, type Problem, problemOf } from '../data/problem.ts';
import { CodeEditor } from '../parts/code-editor.tsx';
import { openDialog } from '../parts/dialog.tsx';
import { wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { addressOf, isEmbedded } from '../place.ts';
import { addressPart } from './address-part.ts';
import { useMay } from './rights.ts';
import type { Report } from './save.ts';
import { SaveDialog } from './save-dialog.tsx';
import { readLines, type SqlAnswer } from './sql-answer.ts';
import { SqlChart } from './sql-chart.tsx';
import { SqlTable } from './sql-table.tsx';
import { say } from './texts/say.ts';
import { Title } from './title.tsx';

export interface SqlPageProps {
  deploymentId: number;
  /** What the address says. */
  sql: string;
  /** The data source that is asked; undefined for the model. */
  dataSource: string | undefined;
  /** Any view of the model. */
  view: string | undefined;
  stored: { report: Report; etag: string | undefined } | undefined;
  reload(): void;
  write(search: string): void;
  onBack(): void;
}

const DEFAULT_SOURCE = 'default';
const typeOf = (report: Report | undefined) =>
  (report?.meta as { sqlChart?: { type?: VisualizationType } } | null)?.sqlChart?.type;

export default function SqlPage({
  deploymentId,
  sql,
  dataSource,
  view,
  stored,
  reload,
  write,
  onBack,
}: SqlPageProps) {
  const { route } = useLocation();
  const report = stored?.report;
  const [text, setText] = useState(sql);
  const [source, setSource] = useState(dataSource);
  const [type, setType] = useState(typeOf(report));
  const [tab, setTab] = useState<'chart' | 'table'>('table');
  const [answer, setAnswer] = useState<SqlAnswer & { asked: string }>();
  const [problem, setProblem] = useState<Problem>();
  const [isRunning, setRunning] = useState(false);
  const [isTooLong, setTooLong] = useState(false);
  const running = useRef<AbortController | undefined>(undefined);
  const may = useMay(deploymentId);
  const mayAskSource = !isEmbedded && may('SqlRunnerRead');
  const isOfSource = source !== undefined && mayAskSource;

  async function run() {
    running.current?.abort();
    if (!text.trim()) return;
    const asking = new AbortController();
    running.current = asking;
    setRunning(true);
    try {
      const options = { signal: asking.signal };
      const body = { query: text };
      const reply = isOfSource
        ? await api.queryDataSource({ deploymentId, name: source || DEFAULT_SOURCE, body }, options)
        : await api.runSql({ deploymentId, body }, options);
      const read = readLines(new TextDecoder().decode(await reply.bytes()));
      if (running.current !== asking) return;
      setAnswer({ ...read, asked: text });
      setProblem(undefined);
    } catch (error) {
      if (running.current === asking && !isAbort(error)) setProblem(problemOf(error));
    } finally {
      if (running.current === asking) setRunning(false);
    }
  }
  const stop = () => {
    running.current?.abort();
    running.current = undefined;
    setRunning(false);
  };
  useEffect(() => {
    // SQL of a data source may come by a link from another person, so it waits to be read and run.
    if (dataSource === undefined) void run();
    return () => running.current?.abort();
  }, []);

  // A reload brings the text back.
  useEffect(() => {
    const isStored = report?.sqlQuery === text && source === undefined;
    const written = addressPart(`sql ${location.pathname}`, text);
    setTooLong(!isStored && written === undefined);
    const search = isStored
      ? ''
      : `?${new URLSearchParams({ sql: written ?? '', ...(source === undefined ? {} : { source }) })}`;
    write(search);
  }, [text, source]);

  const switchTo = (next: string | undefined) => {
    stop();
    setSource(next);
    setAnswer(undefined);
    setProblem(undefined);
  };
  const content = {
    sqlQuery: text,
    jsonQuery: null,
    meta: { ...(report?.meta as object | null), sqlChart: type ? { type } : undefined },
  };
  const saveAs = () =>
    openDialog((close) => (
      <SaveDialog
        deploymentId={deploymentId}
        name={report?.title || report?.name || ''}
        workbookId={report?.workbookId ?? undefined}
        content={content}
        onSaved={(made) => {
          toast(say('saved'));
          const { id: reportId, workbookId } = made;
          route(
            workbookId
              ? addressOf(deploymentId, 'reportInWorkbook', { workbookId, reportId })
              : addressOf(deploymentId, 'report', { reportId }),
          );
        }}
        onClose={close}
      />
    ));
  async function save() {
    if (isOfSource || !text.trim()) return;
    if (!report?.canEdit) return saveAs();
    const done = await attempt(() =>
      api.updateReport({ deploymentId, reportId: report.id, body: content }, { ifMatch: stored?.etag }),
    );
    if (!done) return;
    toast(say('saved'));
    write('');
    reload();
  }
  useCommands([
    { id: 'sql-run', title: say('run'), keys: 'mod+enter', run: () => void run() },
    { id: 'sql-save', title: say('save'), keys: 'mod+s', run: () => void save() },
  ]);
  const downloadCsv = () => {
    const cells = (row: readonly unknown[]) =>
      row.map((value) => `"${plainCell(value).replaceAll('"', '""')}"`).join(',');
    const lines = [cells(answer!.columns.map(({ name }) => name)), ...answer!.rows.map(cells)];
    download(`${report?.title || report?.name || 'data'}.csv`, lines.join('\r\n'));
  };

  return (
    <div class="sql-page">
      <header class="page-head">
        <Title report={report} name={report?.title || report?.name || say('sqlResult')} />
        <button type="button" onClick={onBack}>
          {say('backToFields')}
        </button>
        {report?.canEdit && !isOfSource && (
          <button type="button" onClick={saveAs}>
            {say('saveAs')}
          </button>
        )}
        <button type="button" disabled={isOfSource || !text.trim()} onClick={() => void save()}>
          {say('save')}
        </button>
      </header>
      {mayAskSource && (
        <div class="sql-modes" role="radiogroup" aria-label={say('askWhat')}>
          <button type="button" role="radio" aria-checked={!isOfSource} onClick={() => switchTo(undefined)}>
            {say('askModel')}
          </button>
          <button
            type="button"
            role="radio"
            aria-checked={isOfSource}
            onClick={() => switchTo(DEFAULT_SOURCE)}
          >
            {say('askSource')}
          </button>
        </div>
      )}
      {isOfSource && (
        <>
          <p class="outside" role="note">
            <strong>{say('outsidePolicies')}</strong> {say('outsidePoliciesHint')}
          </p>
          <label class="field source-name">
            <span>{say('dataSourceName')}</span>
            <input value={source} maxLength={100} onInput={(event) => setSource(event.currentTarget.value)} />
          </label>
        </>
      )}
      <CodeEditor
        key={String(isOfSource)}
        language="sql"
        label={say(isOfSource ? 'sqlOfSource' : 'sqlLabel')}
        value={text}
        onInput={setText}
        onRun={() => void run()}
      />
      <div class="sql-actions">
        {isRunning ? (
          <button type="button" onClick={stop}>
            {say('stop')}
          </button>
        ) : (
          <button type="button" class="primary" disabled={!text.trim()} onClick={() => void run()}>
            {say('run')}
          </button>
        )}
        <p class="status" role="status">
          {isRunning
            ? say('running')
            : answer && !problem
              ? `${say('rowCount', { count: answer.rows.length })}${answer.isCapped ? ` · ${say('capped')}` : ''}`
              : ''}
        </p>
        {answer && (
          <>
            {(['table', 'chart'] as const).map((name) => (
              <button key={name} type="button" aria-pressed={tab === name} onClick={() => setTab(name)}>
                {say(name)}
              </button>
            ))}
            {may('DownloadData') && (
              <button type="button" onClick={downloadCsv}>
                {say('csv')}
              </button>
            )}
          </>
        )}
      </div>
      {isTooLong && <p class="warn">{say('tooLongForAddress')}</p>}
      {problem && (
        <p class="bad" role="alert">
          {wordsOf(problem)}
        </p>
      )}
      {answer && tab === 'table' && <SqlTable answer={answer} />}
      {answer && tab === 'chart' && (
        <SqlChart
          deploymentId={deploymentId}
          answer={answer}
          checked={isOfSource ? `select count(*) from "${view}"` : answer.asked}
          type={type}
          onType={setType}
        />
      )}
    </div>
  );
}
