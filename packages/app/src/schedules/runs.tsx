/** What ran when, and what became of it for each recipient. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import type { Place } from './recipients.tsx';
import { say } from './say.ts';
import { momentText } from './words.ts';

type Run = Awaited<ReturnType<typeof api.listNotificationRuns>>['items'][number];

const keyOf = ({ deploymentId, id }: Place) => `d/${deploymentId}/runs/${id}`;
const LOOK_EVERY_MS = 2_000;
const LOOKS_MAX = 60;

/** Runs it, and says what became of it once it has ended. */
export const runNow = (place: Place, preview: boolean) =>
  attempt(async () => {
    const { id: runId } = await api.runNotification({ ...place, body: { preview } });
    toast(say(preview ? 'testBegun' : 'runBegun'));
    for (let look = 0; look < LOOKS_MAX; look++) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      invalidate(keyOf(place));
      const { items } = await api.listNotificationRuns({ ...place, first: 5 });
      const run = items.find(({ id }) => id === runId);
      if (!run || run.state === 'waiting' || (run.state === 'running' && run.phase !== 'retrying')) continue;
      toast(outcomeText(run), { isProblem: run.state === 'failed' });
      return;
    }
  });

const STATES = {
  waiting: 'stateWaiting',
  running: 'stateRunning',
  done: 'stateDone',
  failed: 'stateFailed',
  missed: 'stateMissed',
} as const satisfies Record<Run['state'], string>;

const outcomeText = ({ sent, skipped, failed, reason, hidesOthers }: Run) =>
  [hidesOthers ? say('othersHidden') : say('counts', { sent, skipped, failed }), reason]
    .filter(Boolean)
    .join(' ');

export function Runs({ place, zone }: { place: Place; zone: string }) {
  const { data, problem, reload } = useData(keyOf(place), (signal) =>
    api.listNotificationRuns({ ...place, first: 30 }, { signal }),
  );
  return (
    <>
      <div class="buttons">
        <button type="button" onClick={() => void runNow(place, true)}>
          {say('test')}
        </button>
        <button type="button" onClick={() => void runNow(place, false)}>
          {say('runNow')}
        </button>
      </div>
      {!data && (problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />)}
      {data?.items.length === 0 && <p class="soft">{say('noRuns')}</p>}
      <ol class="runs">
        {data?.items.map((run) => (
          <RunRow key={run.id} place={place} run={run} zone={zone} />
        ))}
      </ol>
    </>
  );
}

function RunRow({ place, run, zone }: { place: Place; run: Run; zone: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span class="grow">
            {momentText(run.dueAt ?? run.createdAt, zone)}{' '}
            {run.isPreview && <span class="tag">{say('isTest')}</span>}
          </span>
          <span class={run.state === 'failed' || run.state === 'missed' ? 'bad' : 'soft'}>
            {say(STATES[run.state])}
          </span>
        </summary>
        <p>{outcomeText(run)}</p>
        {isOpen && <Deliveries place={place} runId={run.id} />}
      </details>
    </li>
  );
}

const STATUSES = {
  waiting: 'stateWaiting',
  sending: 'stateRunning',
  sent: 'statusSent',
  failed: 'stateFailed',
  skipped: 'statusSkipped',
  unknown: 'statusUnknown',
} as const;

function Deliveries({ place, runId }: { place: Place; runId: number }) {
  const { data, problem, reload } = useData(`${keyOf(place)}/${runId}`, (signal) =>
    api.listNotificationDeliveries({ ...place, runId, first: 200 }, { signal }),
  );
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={2} />;
  return (
    <ul class="deliveries">
      {data.items.map(({ id, userId, address, status, reason }) => (
        <li key={id}>
          <span>{address ?? say('userNo', { id: userId ?? 0 })}</span>
          <span class={status === 'failed' || status === 'unknown' ? 'bad' : 'soft'}>
            {say(STATUSES[status])}
            {reason && `: ${reason}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
