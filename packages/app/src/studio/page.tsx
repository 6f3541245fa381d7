/** The model studio: the files of a branch, an editor that knows the language, and what becomes of a change. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { withShared } from '../console/say.ts';
import { type ConsolePageProps, consolePage } from '../console/shell.tsx';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { Editor } from './editor.tsx';
import { Graph } from './graph.tsx';
import { History } from './history.tsx';
import { Playground } from './playground.tsx';
import { ProblemList } from './problem-list.tsx';
import type { StudioProps, StudioView } from './props.ts';
import { say } from './say.ts';
import { type Branch, Studio } from './studio.ts';
import { Toolbar } from './toolbar.tsx';
import { FileTree } from './tree.tsx';

export const texts = withShared(say);

/** The branch in the address, or the one on which the person is in dev mode, or the deploy branch. */
const branchOf = (branches: readonly Branch[], name: string | undefined) =>
  branches.find((branch) => branch.name === name) ??
  branches.find(({ isActive, isDefault }) => isActive && !isDefault) ??
  branches.find(({ isDefault }) => isDefault) ??
  branches[0];

function StudioPage({ deploymentId, rights }: ConsolePageProps) {
  const { query, route } = useLocation();
  const { data, problem, reload } = useData(`d/${deploymentId}/branches`, async (signal) => {
    const { items } = await api.listBranches({ deploymentId, first: 1000 }, { signal });
    return items;
  });
  const branch = data && branchOf(data, query.branch);
  const [studio, setStudio] = useState<Studio>();
  const shown = useRef<Studio | undefined>(undefined);
  const [failure, setFailure] = useState<Problem>();
  // Another commit of a branch is another state of its files, and so is dev mode.
  const key = branch && [branch.id, branch.isActive, branch.lastHash].join();
  useEffect(() => {
    if (!branch) return;
    const controller = new AbortController();
    const next = new Studio(deploymentId, branch);
    next.open.value = query.file;
    setFailure(undefined);
    next.load(controller.signal).then(
      () => {
        // The file that was open until now, also if it was opened while this branch was loaded.
        const open = shown.current?.open.peek();
        if (open !== undefined && next.saved.peek().has(open)) next.open.value = open;
        shown.current = next;
        setStudio(next);
      },
      (error) => !controller.signal.aborted && setFailure(problemOf(error)),
    );
    return () => {
      controller.abort();
      next.stop();
    };
  }, [key]);
  if (!data || !branch) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  if (failure) return <Failed problem={failure} retry={reload} />;
  if (!studio || studio.branch.id !== branch.id) return <Skeleton />;
  const goTo = (branchName: string) => {
    const address = `${addressOf(deploymentId, 'adminModels')}?branch=${encodeURIComponent(branchName)}`;
    reload();
    route(address, true);
  };
  return <OpenStudio key={key} studio={studio} branches={data} may={rights.may} goTo={goTo} />;
}

function OpenStudio(properties: StudioProps) {
  const { studio } = properties;
  const [view, setView] = useState<StudioView>('files');
  const save = () => void attempt(() => studio.save());
  useCommands([{ id: 'save-model', title: say('save'), keys: 'mod+s', run: save }]);
  // What was typed goes to the branch when one leaves for another page.
  useEffect(() => () => void attempt(() => studio.save()), []);
  const isDirty = studio.dirty.value.size > 0;
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isDirty]);
  return (
    <div class="studio">
      <Toolbar {...properties} view={view} setView={setView} save={save} />
      {view === 'files' && (
        <div class="studio-files">
          <FileTree studio={studio} />
          <div class="studio-text">
            <Editor studio={studio} save={save} />
            <ProblemList studio={studio} />
          </div>
        </div>
      )}
      {view === 'graph' && <Graph {...properties} show={() => setView('files')} />}
      {view === 'playground' && <Playground {...properties} />}
      {view === 'history' && <History {...properties} />}
    </div>
  );
}

export default consolePage('adminModels', StudioPage);
