/** Whether the branch is built, and what the builds said. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { locale } from '../texts/index.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

type Status = Awaited<ReturnType<typeof api.buildStatus>>;

/** Builds take seconds, so that this is often enough to see one. */
const ASK_MS = 3_000;
/** How often the log is polled while it is shown. */
const LOG_MS = 1_000;

function useBuildStatus({ deploymentId, branch }: Studio, known?: Status) {
  const [status, setStatus] = useState(known);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      if (!document.hidden) {
        const next = await api.buildStatus({ deploymentId, branchName: branch.name }).catch(() => undefined);
        if (isOver) return;
        if (next) setStatus(next);
      }
      timer = setTimeout(ask, ASK_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [deploymentId, branch.name]);
  return status;
}

export function BuildState({ studio, may }: { studio: Studio; may(action: string): boolean }) {
  const status = useBuildStatus(studio);
  if (!status) return null;
  const word = wordOf(status.status);
  return (
    <button
      type="button"
      class={`quiet build ${word}`}
      onClick={() =>
        openDialog((close) => <BuildDialog studio={studio} may={may} status={status} onClose={close} />)
      }
    >
      {say(word)}
    </button>
  );
}

const wordOf = (status: Status['status']) =>
  status === 'built'
    ? 'built'
    : status === 'failed'
      ? 'buildFailed'
      : status === 'building' || status === 'warmup'
        ? 'building'
        : 'notBuilt';

function BuildDialog({
  studio,
  status: known,
  may,
  onClose,
}: {
  studio: Studio;
  status: Status;
  may(action: string): boolean;
  onClose(): void;
}) {
  const { deploymentId, branch } = studio;
  const status = useBuildStatus(studio, known) ?? known;
  const mayReadLog = may('DeploymentUpdate');
  const { data, problem, reload } = useData(
    mayReadLog ? `d/${deploymentId}/logs/${branch.id}` : null,
    async (signal) =>
      (
        await api.logs(
          { deploymentId, container: 'INIT', source: branch.isDefault ? 'production' : 'dev', first: 100 },
          { signal },
        )
      ).items,
  );
  useEffect(() => {
    const timer = setInterval(() => mayReadLog && reload(), LOG_MS);
    return () => clearInterval(timer);
  }, []);
  // The newest line is first. A build begins with its first line, and what is older is of builds before it.
  const begin = data?.findIndex(
    ({ message }) => message.startsWith(`The build of ${branch.name} at `) && message.endsWith(' begins.'),
  );
  const cut = begin === undefined || begin < 0 ? (data?.length ?? 0) : begin + 1;
  return (
    <Dialog title={say('builds')} size="wide" onClose={onClose}>
      <p>
        <strong role="status">{say(wordOf(status.status))}</strong>
        {status.updatedAt && ` · ${new Date(status.updatedAt).toLocaleString(locale.value)}`}
        {status.lastHash && ` · ${status.lastHash.slice(0, 10)}`}
      </p>
      {status.errorText && <pre class="studio-log bad">{status.errorText}</pre>}
      {mayReadLog &&
        !data &&
        (problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />)}
      {data && (
        <>
          <h3>{say('buildLog')}</h3>
          <LogLines lines={data.slice(0, cut)} />
          {cut < data.length && (
            <details>
              <summary>{say('olderBuilds')}</summary>
              <LogLines lines={data.slice(cut)} />
            </details>
          )}
        </>
      )}
    </Dialog>
  );
}

/** In the order in which they were written. */
const LogLines = ({ lines }: { lines: readonly { date: string; message: string }[] }) => (
  <pre class="studio-log" tabIndex={0} aria-live="polite">
    {lines.length
      ? lines
          .toReversed()
          .map(({ date, message }) => `${new Date(date).toLocaleTimeString(locale.value)}  ${message}\n`)
          .join('')
      : say('logEmpty')}
  </pre>
);
