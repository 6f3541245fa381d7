/** The schedules of a dashboard: who gets it when, and what became of it. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate, useData } from '../data/cache.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { isEmbedded } from '../place.ts';
import { ScheduleForm } from './form.tsx';
import { Recipients } from './recipients.tsx';
import { Runs, runNow } from './runs.tsx';
import { say } from './say.ts';
import { momentText, type Notification, type ScheduledDashboard, scheduleText } from './words.ts';

export const showSchedules = (scheduled: ScheduledDashboard) =>
  openDialog((close) => <Schedules scheduled={scheduled} onClose={close} />);

/** What the dialog shows: all of them, one to change, or who gets one and its runs. */
type View = { name: 'list' } | { name: 'form' | 'recipients' | 'runs'; id: number | undefined };

function Schedules({ scheduled, onClose }: { scheduled: ScheduledDashboard; onClose(): void }) {
  const { deploymentId, publicId, name } = scheduled;
  const [view, setView] = useState<View>({ name: 'list' });
  const key = keyOf(scheduled);
  const { data, problem, reload } = useData(
    key,
    async (signal) =>
      (await api.getNotifications({ deploymentId, dashboardPublicId: publicId, first: 200 }, { signal }))
        .items,
  );
  const one = view.name === 'list' ? undefined : data?.find(({ id }) => id === view.id);
  const back = () => setView({ name: 'list' });
  const title =
    view.name === 'list'
      ? say('title', { name })
      : view.name === 'form' && !one
        ? say('add')
        : one?.name || name;
  const place = { deploymentId, id: one?.id ?? 0 };
  return (
    <Dialog title={title} size="wide" onClose={onClose}>
      {view.name !== 'list' && (
        <div>
          <button ref={focus} type="button" class="quiet" onClick={back}>
            {say('back')}
          </button>
        </div>
      )}
      {!data ? (
        problem ? (
          <Failed problem={problem} retry={reload} />
        ) : (
          <Skeleton lines={3} />
        )
      ) : view.name === 'list' ? (
        <List scheduled={scheduled} items={data} open={setView} />
      ) : view.name === 'form' ? (
        <ScheduleForm
          scheduled={scheduled}
          before={one}
          onCancel={back}
          onDone={(saved) => {
            invalidate(key);
            // A new schedule has no recipients yet.
            setView(one ? { name: 'list' } : { name: 'recipients', id: saved.id });
          }}
        />
      ) : !one ? (
        <Skeleton lines={3} />
      ) : view.name === 'recipients' ? (
        <Recipients place={place} />
      ) : (
        <Runs place={place} zone={one.timezone} />
      )}
    </Dialog>
  );
}

/** Moves the focus to the new content, where a keyboard user goes on. */
const focus = (element: HTMLElement | null) => element?.focus();

const keyOf = ({ deploymentId, publicId }: ScheduledDashboard) => `d/${deploymentId}/schedules/${publicId}`;

/** Whether the person may add schedules. In a frame everyone is a creator, who may within the limit of the account. */
function useMayAdd({ deploymentId, workbookId }: ScheduledDashboard): boolean {
  const { data } = useData(isEmbedded ? null : `d/${deploymentId}/rights/schedules/${workbookId}`, (signal) =>
    api.workspaceRights({ deploymentId, workbookIds: [workbookId] }, { signal }),
  );
  if (isEmbedded) return true;
  const mayCreate = data?.actions.some((action) => action === 'All' || action === 'AlertsCreate');
  return (
    mayCreate === true && data?.workbooks.some(({ id, canEdit }) => id === workbookId && canEdit) === true
  );
}

function List({
  scheduled,
  items,
  open,
}: {
  scheduled: ScheduledDashboard;
  items: Notification[];
  open(view: View): void;
}) {
  const mayAdd = useMayAdd(scheduled);
  return (
    <>
      {items.length === 0 && <p class="soft">{say(mayAdd ? 'noneYet' : 'none')}</p>}
      <ul class="schedules">
        {items.map((one) => (
          <Row key={one.id} scheduled={scheduled} one={one} mayAdd={mayAdd} open={open} />
        ))}
      </ul>
      {mayAdd && (
        <div class="dialog-foot">
          <button
            type="button"
            class="primary with-icon"
            onClick={() => open({ name: 'form', id: undefined })}
          >
            <Icon name="plus" size={16} />
            {say('add')}
          </button>
        </div>
      )}
    </>
  );
}

function Row({
  scheduled,
  one,
  mayAdd,
  open,
}: {
  scheduled: ScheduledDashboard;
  one: Notification;
  mayAdd: boolean;
  open(view: View): void;
}) {
  const { deploymentId } = scheduled;
  const { id, canEdit } = one;
  const place = { deploymentId, id };
  /** Does it, and shows the list as it is then. */
  const change = (work: () => Promise<unknown>, done?: string) =>
    void attempt(async () => {
      await work();
      invalidate(keyOf(scheduled));
      if (done) toast(done);
    });
  const items: (MenuItem | false)[] = [
    { label: say('test'), run: () => void runNow(place, true) },
    { label: say('runNow'), run: () => void runNow(place, false) },
    { label: say('recipients'), begins: true, run: () => open({ name: 'recipients', id }) },
    { label: say('runs'), run: () => open({ name: 'runs', id }) },
    {
      label: say(one.isEnabled ? 'switchOff' : 'switchOn'),
      begins: true,
      run: () => change(() => api.updateNotification({ ...place, body: { isEnabled: !one.isEnabled } })),
    },
    mayAdd && { label: say('duplicate'), run: () => change(() => api.duplicateNotification(place)) },
    {
      label: say('remove'),
      begins: true,
      isDangerous: true,
      run: () => confirmRemoval(one, () => change(() => api.deleteNotification(place), say('removed'))),
    },
  ];
  return (
    <li>
      <Icon name="recent" />
      <div class="grow">
        <strong>{one.name}</strong> {!one.isEnabled && <span class="tag">{say('off')}</span>}
        {one.isEnabled && !one.notificationEnabled && <span class="tag">{say('onlyRenews')}</span>}
        <p>
          {scheduleText(one)} <span class="soft">({one.timezone})</span>
        </p>
        {one.nextRunAt && (
          <p class="soft">{say('next', { time: momentText(one.nextRunAt, one.timezone) })}</p>
        )}
        {one.condition && <p class="soft">{say('alert', { measure: one.condition.measure })}</p>}
        {(one.filters?.length ?? 0) > 0 && (
          <p class="soft">
            {say('filtered', { members: one.filters!.map(({ member }) => member).join(', ') })}
          </p>
        )}
      </div>
      <div class="buttons">
        <button
          type="button"
          aria-label={`${say(one.isSubscribed ? 'unsubscribe' : 'subscribe')}: ${one.name}`}
          onClick={() =>
            one.isSubscribed
              ? change(() => api.unsubscribeFromNotification(place), say('unsubscribed'))
              : change(() => api.subscribeToNotification(place), say('subscribed'))
          }
        >
          {say(one.isSubscribed ? 'unsubscribe' : 'subscribe')}
        </button>
        {canEdit && (
          <>
            <button
              type="button"
              aria-label={`${say('edit')}: ${one.name}`}
              onClick={() => open({ name: 'form', id })}
            >
              {say('edit')}
            </button>
            <Menu label={say('more', { name: one.name })} items={items.filter((item) => item !== false)}>
              <Icon name="more" />
            </Menu>
          </>
        )}
      </div>
    </li>
  );
}

const confirmRemoval = ({ name }: Notification, run: () => void) =>
  openDialog((close) => (
    <Dialog title={say('removeTitle', { name })} onClose={close}>
      <p>{say('removeHint')}</p>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          {say('keep')}
        </button>
        <button
          type="button"
          class="primary bad"
          onClick={() => {
            close();
            run();
          }}
        >
          {say('remove')}
        </button>
      </div>
    </Dialog>
  ));
