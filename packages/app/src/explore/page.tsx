/** Explore: choose fields, filter, and see the answer as a table and as a chart. */
import { lazy } from '@oriel/charts';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { useMeta } from '../data/meta.ts';
import { openDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { fromAddress } from './address.ts';
import { addressedQuestion, isTrusted, readAddressed, trust } from './address-part.ts';
import { createBoard } from './board.ts';
import { Exploration, keyOf, settingsOf } from './exploration.ts';
import { Filters } from './filters.tsx';
import { MemberList } from './member-list.tsx';
import { createModel, type Model, type Source } from './members.ts';
import { emptyQuestion, isAsked, LIMIT, LIMIT_MAX, type Question } from './question.ts';
import { Results, type Tab, tabOf } from './results.tsx';
import { contentOf, questionOf, type Report } from './save.ts';
import { Start } from './start.tsx';
import { Status } from './status.tsx';
import { say } from './texts/say.ts';
import { Title } from './title.tsx';

export { say as texts } from './texts/say.ts';

// Nothing is shown in place of a dialog that comes.
const SaveDialog = lazy(() => import('./save-dialog.tsx').then((module) => module.SaveDialog), null);
const SqlPage = lazy(() => import('./sql-page.tsx').then((module) => module.default));

interface PageProps {
  params: Record<string, string>;
  query: Record<string, string>;
}

export default function Page({ params, query }: PageProps) {
  const deploymentId = Number(params.deploymentId);
  const reportId = params.reportId ? Number(params.reportId) : undefined;
  const { write, visit } = useWrittenAddress();
  const meta = useMeta(deploymentId);
  const model = useMemo(() => meta.data && createModel(meta.data.cubes as unknown as Source[]), [meta.data]);
  const stored = useData(reportId ? `d/${deploymentId}/report/${reportId}` : null, async (signal) => {
    const { body, etag } = await api.withHeaders.getReport({ deploymentId, reportId: reportId! }, { signal });
    return { report: body, etag };
  });
  const problem = meta.problem ?? stored.problem;
  if (!model && problem) return <Failed problem={problem} retry={meta.reload} />;
  if (reportId && !stored.data && stored.problem)
    return <Failed problem={stored.problem} retry={stored.reload} />;
  if (!model || (reportId && !stored.data)) return <Skeleton />;
  return (
    <Explore
      key={`${deploymentId} ${reportId ?? ''} ${stored.data?.etag ?? ''} ${visit}`}
      deploymentId={deploymentId}
      model={model}
      stored={stored.data}
      reload={stored.reload}
      write={write}
      asked={query.q}
      tabAsked={query.tab}
      sqlAsked={query.sql}
      dataSource={query.source}
    />
  );
}

/** The page writes its question into its own address. Any other change of the address is a visit, which begins anew. */
function useWrittenAddress() {
  const { url, route } = useLocation();
  const written = useRef(url);
  const visit = useRef(0);
  if (written.current !== url) {
    written.current = url;
    visit.current++;
  }
  const write = (search: string) => {
    const address = location.pathname + search;
    if (address === location.pathname + location.search) return;
    written.current = address;
    route(address, true);
  };
  return { write, visit: visit.current };
}

interface ExploreProps {
  deploymentId: number;
  model: Model;
  stored: { report: Report; etag: string | undefined } | undefined;
  reload(): void;
  /** Puts what is asked into the address, without a new entry in the history. */
  write(search: string): void;
  /** The question in the address. */
  asked: string | undefined;
  tabAsked: string | undefined;
  /** SQL in the address, and the data source that it is for. */
  sqlAsked: string | undefined;
  dataSource: string | undefined;
}

function Explore({
  deploymentId,
  model,
  stored,
  reload,
  write,
  asked,
  tabAsked,
  sqlAsked,
  dataSource,
}: ExploreProps) {
  const { route, path } = useLocation();
  const report = stored?.report;
  const saved = useMemo(() => report && questionOf(report), [report]);
  const exploration = useMemo(() => {
    const written = asked && readAddressed(path, asked);
    const given = written ? fromAddress(written) : undefined;
    const first = given ?? saved ?? emptyQuestion();
    return new Exploration(deploymentId, model, createBoard(deploymentId), first, heldIn(given, saved, path));
  }, [deploymentId, model, stored]);
  const question = exploration.question.value;
  const [opened, setOpened] = useState<string>();
  const [sql, setSql] = useState<string | undefined>(() =>
    sqlAsked === undefined
      ? report && !saved
        ? (report.sqlQuery ?? undefined)
        : undefined
      : readAddressed(`sql ${path}`, sqlAsked),
  );
  const [tab, setTab] = useState<Tab>(() => tabOf(tabAsked));
  const [isTooLong, setTooLong] = useState(false);
  const [isListShown, setListShown] = useState(false);

  useEffect(() => {
    if (isAsked(question)) void exploration.run();
    return () => exploration.stop();
  }, [exploration]);

  // The address follows the question without a new entry in the history for each change.
  useEffect(() => {
    if (sql !== undefined) return;
    const isBegun = isAsked(question) || question.source;
    const address = isBegun ? addressedQuestion(path, question) : undefined;
    const isStored =
      saved &&
      keyOf(saved) === keyOf(question) &&
      saved.visualization === question.visualization &&
      saved.vegaLite === question.vegaLite;
    setTooLong(Boolean(isBegun && !isStored && !address));
    // A question that is too long for an address gets an empty `q`, so that the address differs from that of a new
    // question.
    const parts = [
      ...(isBegun && !isStored ? [`q=${address ?? ''}`] : []),
      ...(tab === 'chart' ? [] : [`tab=${tab}`]),
    ];
    if (location.pathname === path) write(parts.length ? `?${parts.join('&')}` : '');
  }, [question, sql, tab]);

  const held = exploration.held.value;
  useEffect(() => {
    if (question.vegaLite && question.vegaLite !== held) trust(path, question.vegaLite);
  }, [question.vegaLite, held]);

  useCommands([
    { id: 'explore-undo', title: say('undo'), keys: 'mod+z', run: () => exploration.undo() },
    { id: 'explore-redo', title: say('redo'), keys: 'mod+y', run: () => exploration.redo() },
    { id: 'explore-run', title: say('run'), keys: 'mod+enter', run: () => void exploration.run() },
    { id: 'explore-save', title: say('save'), keys: 'mod+s', run: () => void save() },
  ]);

  const visualization = () => settingsOf(question, exploration.answer.value?.recommendations ?? []);
  const name =
    report?.title || report?.name || model.sources.find(({ name }) => name === question.source)?.title || '';

  function saveAs() {
    openDialog((close) => (
      <SaveDialog
        deploymentId={deploymentId}
        name={report ? name : ''}
        workbookId={report?.workbookId ?? undefined}
        content={contentOf(question, visualization())}
        onSaved={(made) => {
          toast(say('saved'));
          route(
            made.workbookId
              ? addressOf(deploymentId, 'reportInWorkbook', {
                  workbookId: made.workbookId,
                  reportId: made.id,
                })
              : addressOf(deploymentId, 'report', { reportId: made.id }),
          );
        }}
        onClose={close}
      />
    ));
  }

  async function save() {
    if (!isAsked(question)) return;
    if (!report?.canEdit) return saveAs();
    const done = await attempt(async () => {
      const { pivotItems, meta, ...content } = contentOf(question, visualization());
      const body = {
        ...content,
        meta: { ...(report.meta as object), chart: undefined, visualization: undefined, ...meta },
        pivotItems,
      };
      return api.updateReport({ deploymentId, reportId: report.id, body }, { ifMatch: stored?.etag });
    });
    if (!done) return;
    toast(say('saved'));
    write(tab === 'chart' ? '' : `?tab=${tab}`);
    reload();
  }

  if (sql !== undefined)
    return (
      <SqlPage
        deploymentId={deploymentId}
        sql={sql}
        dataSource={dataSource}
        view={model.sources[0]?.name}
        stored={saved ? undefined : stored}
        reload={reload}
        write={write}
        onBack={() => setSql(undefined)}
      />
    );
  if (!question.source && !isAsked(question))
    return (
      <Start
        deploymentId={deploymentId}
        model={model}
        emptyReport={report && name}
        onStart={(next) => exploration.change(say('newQuestion'), () => next)}
        onSql={setSql}
      />
    );
  return (
    <div class="explore">
      <header class="explore-head">
        <button
          type="button"
          class="with-icon list-button"
          aria-expanded={isListShown}
          onClick={() => setListShown(!isListShown)}
        >
          <Icon name="list" size={16} /> {say('showMembers')}
        </button>
        <Title report={report} name={name || say('title')} />
        <div class="explore-actions">
          <IconButton
            label={say('undo')}
            keys="mod+z"
            isOff={!exploration.canUndo.value}
            onClick={() => exploration.undo()}
          >
            ↶
          </IconButton>
          <IconButton
            label={say('redo')}
            keys="mod+y"
            isOff={!exploration.canRedo.value}
            onClick={() => exploration.redo()}
          >
            ↷
          </IconButton>
          <a class="button with-icon" href={addressOf(deploymentId, 'explore')} title={say('newQuestion')}>
            <Icon name="plus" size={16} />
            <span class="tool-text">{say('newQuestion')}</span>
          </a>
          {report?.canEdit && (
            <button type="button" onClick={saveAs}>
              {say('saveAs')}
            </button>
          )}
          <button type="button" class="primary" disabled={!isAsked(question)} onClick={() => void save()}>
            {say('save')}
          </button>
        </div>
      </header>
      <div class={isListShown ? 'explore-body list-shown' : 'explore-body'}>
        <aside class="explore-side" aria-label={say('members')}>
          <label class="field">
            <span class="hidden">{say('source')}</span>
            <select
              value={question.source ?? ''}
              onChange={({ currentTarget: { value } }) =>
                exploration.change(say('source'), () => emptyQuestion(value))
              }
            >
              {model.sources.map((source) => (
                <option key={source.name} value={source.name}>
                  {source.title}
                </option>
              ))}
            </select>
          </label>
          <MemberList exploration={exploration} onFilter={setOpened} />
        </aside>
        <section class="explore-main">
          <Filters exploration={exploration} opened={opened} setOpened={setOpened} />
          <div class="run-bar">
            <Status exploration={exploration} isTooLong={isTooLong} />
            <Compare exploration={exploration} />
            <Limit exploration={exploration} />
            <label class="option">
              <input
                type="checkbox"
                checked={exploration.isAutomatic.value}
                onChange={(event) => exploration.setAutomatic(event.currentTarget.checked)}
              />
              <span>{say('autoRun')}</span>
            </label>
            {exploration.isRunning.value ? (
              <button type="button" onClick={() => exploration.stop()}>
                {say('stop')}
              </button>
            ) : (
              <button
                type="button"
                class={exploration.isOutdated.value ? 'primary' : ''}
                disabled={!isAsked(question)}
                onClick={() => void exploration.run({ isFresh: !exploration.isOutdated.peek() })}
              >
                {say('run')}
              </button>
            )}
          </div>
          <Results exploration={exploration} title={name} chosenTab={tab} setTab={setTab} onSql={setSql} />
        </section>
      </div>
    </div>
  );
}

/** Vega-Lite that came by the address, and neither from the report nor from this person. */
function heldIn(given: Question | undefined, saved: Question | undefined, path: string): object | undefined {
  const spec = given?.vegaLite;
  if (!spec || isTrusted(path, spec)) return undefined;
  return JSON.stringify(spec) === JSON.stringify(saved?.vegaLite) ? undefined : spec;
}

function IconButton({
  label,
  isOff,
  onClick,
  children,
}: {
  label: string;
  keys: string;
  isOff: boolean;
  onClick(): void;
  children: string;
}) {
  return (
    <button type="button" class="icon" aria-label={label} title={label} disabled={isOff} onClick={onClick}>
      <span aria-hidden="true">{children}</span>
    </button>
  );
}

const PERIODS = [
  ['day', 'aDayBefore'],
  ['week', 'aWeekBefore'],
  ['month', 'aMonthBefore'],
  ['quarter', 'aQuarterBefore'],
  ['year', 'aYearBefore'],
] as const;

/** An earlier period needs a range of time that can be moved. */
function Compare({ exploration }: { exploration: Exploration }) {
  const question = exploration.question.value;
  const hasRange = question.filters.some((node) => 'operator' in node && node.operator === 'inDateRange');
  const { compare } = question;
  const set = (unit: (typeof PERIODS)[number][0] | undefined) =>
    exploration.change(
      say('compare'),
      (before): Question => ({ ...before, compare: unit && { amount: 1, unit } }),
    );
  const chosen = PERIODS.find(([unit]) => unit === compare?.unit);
  if (!hasRange)
    return (
      <button type="button" disabled title={say('needsRange')}>
        {say('compare')}
      </button>
    );
  return (
    <Menu
      class=""
      items={[
        { label: say('compareOff'), isChosen: !compare, run: () => set(undefined) },
        ...PERIODS.map(([unit, text]) => ({
          label: say(text),
          isChosen: compare?.unit === unit,
          run: () => set(unit),
        })),
      ]}
    >
      {chosen ? say('compareWith', { period: say(chosen[1]) }) : say('compare')}
    </Menu>
  );
}

const LIMITS = [10, 100, 1000, LIMIT, LIMIT_MAX];

function Limit({ exploration }: { exploration: Exploration }) {
  const { limit } = exploration.question.value;
  return (
    <label class="limit">
      <span class="hidden">{say('limit')}</span>
      <select
        value={String(limit ?? '')}
        onChange={({ currentTarget: { value } }) =>
          exploration.change(say('limit'), (before) => ({
            ...before,
            limit: value ? Number(value) : undefined,
          }))
        }
      >
        <option value="">{say('noLimit')}</option>
        {[...new Set([...LIMITS, ...(limit === undefined ? [] : [limit])])]
          .sort((a, b) => a - b)
          .map((each) => (
            <option key={each} value={String(each)}>
              {say('atMost', { number: exploration.board.formats.count(each) })}
            </option>
          ))}
      </select>
    </label>
  );
}
