/** The commits of a branch, what each changed, and a way back to it. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { locale } from '../texts/index.ts';
import { confirm } from './confirm.tsx';
import { loadFiles } from './files.ts';
import type { StudioProps } from './props.ts';
import { say } from './say.ts';

type CommitPage = Awaited<ReturnType<typeof api.listCommits>>;
type Commit = CommitPage['items'][number];

const PAGE = 100;

export function History(properties: StudioProps) {
  const { deploymentId, branch } = properties.studio;
  const [chosen, choose] = useState<Commit>();
  // Older pages, after the first one.
  const [older, setOlder] = useState<readonly CommitPage[]>([]);
  const {
    data: first,
    problem,
    reload,
  } = useData(`d/${deploymentId}/commits/${branch.name}/${branch.lastHash}`, (signal) =>
    api.listCommits({ deploymentId, name: branch.name, first: PAGE }, { signal }),
  );
  const pages = first ? [first, ...older] : [];
  const { hasNextPage, endCursor } = pages.at(-1)?.pageInfo ?? {};
  const more = () =>
    attempt(async () => {
      const page = await api.listCommits({ deploymentId, name: branch.name, first: PAGE, after: endCursor! });
      setOlder([...older, page]);
    });
  const data = first && pages.flatMap(({ items }) => items);
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  return (
    <div class="studio-history">
      <ol>
        {data.map((commit) => (
          <li key={commit.hash}>
            <button
              type="button"
              class="tree-row"
              aria-current={chosen?.hash === commit.hash ? 'true' : undefined}
              onClick={() => choose(commit)}
            >
              <span class="grow">
                <strong>{commit.message.split('\n')[0] || commit.hash.slice(0, 10)}</strong>
                <span class="soft">
                  {commit.author.name} · {new Date(commit.createdAt).toLocaleString(locale.value)} ·{' '}
                  {commit.hash.slice(0, 10)}
                </span>
              </span>
            </button>
          </li>
        ))}
        {hasNextPage && (
          <li>
            <button type="button" onClick={() => void more()}>
              {say('olderCommits')}
            </button>
          </li>
        )}
      </ol>
      {chosen && <OneCommit key={chosen.hash} {...properties} commit={chosen} />}
    </div>
  );
}

function OneCommit({ studio, commit, goTo }: StudioProps & { commit: Commit }) {
  const { deploymentId, branch } = studio;
  const { data, problem, reload } = useData(`d/${deploymentId}/commit/${commit.hash}`, (signal) =>
    api.getCommit({ deploymentId, hash: commit.hash }, { signal }),
  );
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  return (
    <section class="studio-commit" aria-label={commit.message}>
      <div class="page-head">
        <h2 class="grow">{commit.message || commit.hash.slice(0, 10)}</h2>
        {!studio.isReadOnly && commit.hash !== branch.lastHash && (
          <button
            type="button"
            onClick={() =>
              confirm(
                say('restore'),
                say('restoreHint'),
                async () => {
                  await restore(studio, commit.hash);
                  toast(say('restored'));
                  goTo(branch.name);
                },
                { isDangerous: false },
              )
            }
          >
            {say('restore')}
          </button>
        )}
      </div>
      <p class="soft">{say('filesChanged', { count: data.filesChanged })}</p>
      {data.files.map(({ path, hunks, isShortened }) => (
        <details key={path} open={data.files.length < 5}>
          <summary>{path}</summary>
          <pre class="studio-log" tabIndex={0}>
            {hunks.map(({ oldStart, newStart, lines }) => (
              <span key={`${oldStart} ${newStart}`}>
                <span class="soft">{`@@ ${oldStart} → ${newStart}\n`}</span>
                {lines.map((line, i) => (
                  <span key={i} class={line.startsWith('+') ? 'new' : line.startsWith('-') ? 'old' : ''}>
                    {`${line}\n`}
                  </span>
                ))}
              </span>
            ))}
            {isShortened && '⋯'}
          </pre>
        </details>
      ))}
    </section>
  );
}

/** The files of a commit again, as changes of the branch that are not committed yet. */
async function restore(studio: StudioProps['studio'], commit: string) {
  const { deploymentId, branch } = studio;
  const files = await loadFiles(deploymentId, branch.name, { commit });
  const now = studio.saved.peek();
  const then = new Set(files.map(({ path }) => path));
  const changed = files.flatMap(({ path, text }) =>
    text !== undefined && now.get(path) !== text ? [{ path, content: text }] : [],
  );
  if (changed.length) await studio.write(changed);
  for (const path of now.keys()) if (!then.has(path)) await attempt(() => studio.remove(path));
}
