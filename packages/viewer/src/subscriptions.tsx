/** Viewers get the dashboard by mail, where a schedule of it lets them subscribe. */
import { useEffect, useState } from 'preact/hooks';
import type { Schedule } from './api.ts';
import type { PageState } from './page-state.ts';

export function Subscriptions({ page }: { page: PageState }) {
  const { say } = page.language;
  const [schedules, setSchedules] = useState<Schedule[]>([]);
  const [isBusy, setBusy] = useState(false);
  const [note, setNote] = useState('');
  useEffect(() => {
    let isGone = false;
    page.schedules().then(
      (found) => isGone || setSchedules(found),
      // The dashboard is worth showing without it.
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [page]);
  if (!schedules.length) return null;

  async function change({ id, isSubscribed }: Schedule) {
    setBusy(true);
    setNote('');
    try {
      await page.subscribe(id, !isSubscribed);
      setSchedules(
        schedules.map((each) => (each.id === id ? { ...each, isSubscribed: !isSubscribed } : each)),
      );
      setNote(say(isSubscribed ? 'unsubscribed' : 'subscribed'));
    } catch {
      setNote(say('subscribeFailed'));
    } finally {
      setBusy(false);
    }
  }

  return (
    <details
      class="subscriptions no-print"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.currentTarget.open = false;
        event.currentTarget.querySelector('summary')!.focus();
      }}
    >
      <summary>{say('byMail')}</summary>
      <div class="popover">
        {schedules.map((schedule) => (
          <label key={schedule.id}>
            <input
              type="checkbox"
              checked={schedule.isSubscribed}
              disabled={isBusy}
              onChange={() => void change(schedule)}
            />
            <span>
              {schedule.name}
              <small>{schedule.humanReadableSchedule}</small>
            </span>
          </label>
        ))}
        <p role="status">{note}</p>
      </div>
    </details>
  );
}
