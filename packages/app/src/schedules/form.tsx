/** When a schedule runs, and what it sends. */
import { useId, useState } from 'preact/hooks';
import { CheckField, SelectField, TextField } from '../dashboard/fields.tsx';
import { api } from '../data/api.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { wordsOf } from '../parts/states.tsx';
import { say as sayApp } from '../texts/say.ts';
import { ChoiceFields, type Choices, keptOf, useChoiceOptions } from './choices.tsx';
import { say } from './say.ts';
import { dayName, type Notification, type ScheduledDashboard, scheduleText, type Timing } from './words.ts';

const TYPES = ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'CUSTOM'] as const;
const TYPE_TEXTS = {
  HOURLY: 'hourly',
  DAILY: 'daily',
  WEEKLY: 'weekly',
  MONTHLY: 'monthly',
  CUSTOM: 'custom',
} as const;

const two = (number: number) => String(number).padStart(2, '0');
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ value: String(from + i), label: String(from + i) }));

interface Draft extends Timing, Choices {
  name: string;
  timezone: string;
  notificationFormat: 'png' | 'pdf';
  isEnabled: boolean;
  notificationEnabled: boolean;
  allowSubscribe: boolean;
}

const fresh = (): Draft => ({
  name: '',
  scheduleType: 'WEEKLY',
  minute: 0,
  hour: 9,
  dayOfWeek: 1,
  dayOfMonth: 1,
  customCron: '0 9 * * 1-5',
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC',
  notificationFormat: 'png',
  isEnabled: true,
  notificationEnabled: true,
  allowSubscribe: false,
  filters: [],
  timeGrains: [],
  condition: null,
});

/** Fields that the schedule does not use have something to begin with, should its type be changed. */
const draftOf = (before: Notification | undefined): Draft => {
  const known = Object.entries(before ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...fresh(), ...(Object.fromEntries(known) as Partial<Draft>) };
};

/** Fields of another type are an error. */
function timingOf({ scheduleType, minute, hour, dayOfWeek, dayOfMonth, customCron }: Draft) {
  if (scheduleType === 'CUSTOM') return { scheduleType, customCron };
  return {
    scheduleType,
    minute,
    ...(scheduleType !== 'HOURLY' && { hour }),
    ...(scheduleType === 'WEEKLY' && { dayOfWeek }),
    ...(scheduleType === 'MONTHLY' && { dayOfMonth }),
  };
}

export function ScheduleForm({
  scheduled,
  before,
  onCancel,
  onDone,
}: {
  scheduled: ScheduledDashboard;
  before: Notification | undefined;
  onCancel(): void;
  onDone(saved: Notification): void;
}) {
  const { deploymentId, publicId, name: dashboardName } = scheduled;
  const offered = useChoiceOptions(scheduled);
  const [draft, setDraft] = useState(() => draftOf(before));
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const set = (changed: Partial<Draft>) => {
    setProblem(undefined);
    setDraft({ ...draft, ...changed });
  };

  async function save() {
    setBusy(true);
    setProblem(undefined);
    const { name, timezone, notificationFormat, isEnabled, notificationEnabled, allowSubscribe } = draft;
    const body = {
      ...timingOf(draft),
      ...(name.trim() ? { name: name.trim() } : {}),
      timezone,
      notificationFormat,
      isEnabled,
      notificationEnabled,
      allowSubscribe,
      ...(offered.data && keptOf(draft, offered.data)),
    };
    try {
      const saved = before
        ? await api.updateNotification({ deploymentId, id: before.id, body })
        : await api.createNotification({ deploymentId, body: { ...body, dashboardPublicId: publicId } });
      onDone(saved);
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  }

  return (
    <form
      class="schedule-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        label={say('name')}
        value={draft.name}
        placeholder={dashboardName}
        onChange={(name) => set({ name })}
      />
      <div class="columns">
        <SelectField
          label={say('howOften')}
          value={draft.scheduleType}
          options={TYPES.map((type) => ({ value: type, label: say(TYPE_TEXTS[type]) }))}
          onChange={(type) => set({ scheduleType: type as Draft['scheduleType'] })}
        />
        <TimeFields draft={draft} set={set} />
        <ZoneField value={draft.timezone} onChange={(timezone) => set({ timezone })} />
      </div>
      <p role="status" class="schedule-words">
        {scheduleText(draft)} ({draft.timezone})
      </p>
      <SelectField
        label={say('format')}
        value={draft.notificationFormat}
        options={[
          { value: 'png', label: say('asPicture') },
          { value: 'pdf', label: say('asPdf') },
        ]}
        onChange={(format) => set({ notificationFormat: format as 'png' | 'pdf' })}
      />
      <ChoiceFields
        scheduled={scheduled}
        offered={offered.data}
        problem={offered.problem}
        retry={offered.reload}
        choices={draft}
        set={set}
      />
      <CheckField
        label={say('isEnabled')}
        checked={draft.isEnabled}
        onChange={(isEnabled) => set({ isEnabled })}
      />
      <CheckField
        label={say('isSent')}
        checked={draft.notificationEnabled}
        onChange={(notificationEnabled) => set({ notificationEnabled })}
      />
      <CheckField
        label={say('allowSubscribe')}
        checked={draft.allowSubscribe}
        onChange={(allowSubscribe) => set({ allowSubscribe })}
      />
      {problem && (
        <div role="alert" class="problem">
          {problem.issues.length > 0
            ? problem.issues.map(({ path, message }) => (
                <p key={path + message}>
                  {fieldText(path)}: {message}
                </p>
              ))
            : wordsOf(problem)}
        </div>
      )}
      <div class="dialog-foot">
        <button type="button" onClick={onCancel}>
          {sayApp('cancel')}
        </button>
        <button type="submit" class="primary" disabled={isBusy}>
          {say('save')}
        </button>
      </div>
    </form>
  );
}

/** Errors of the server name fields as the API does. */
const FIELDS = {
  name: 'name',
  scheduleType: 'howOften',
  minute: 'minute',
  hour: 'time',
  dayOfWeek: 'weekday',
  dayOfMonth: 'day',
  customCron: 'cron',
  timezone: 'zone',
} as const;
const fieldText = (path: string) =>
  Object.hasOwn(FIELDS, path) ? say(FIELDS[path as keyof typeof FIELDS]) : path;

function TimeFields({ draft, set }: { draft: Draft; set(changed: Partial<Draft>): void }) {
  const id = useId();
  const { scheduleType } = draft;
  if (scheduleType === 'CUSTOM')
    return (
      <TextField
        label={say('cron')}
        hint={say('cronHint')}
        value={draft.customCron ?? ''}
        maxLength={100}
        onChange={(customCron) => set({ customCron })}
      />
    );
  if (scheduleType === 'HOURLY')
    return (
      <SelectField
        label={say('minute')}
        value={String(draft.minute ?? 0)}
        options={numbers(0, 59)}
        onChange={(minute) => set({ minute: Number(minute) })}
      />
    );
  return (
    <>
      {scheduleType === 'WEEKLY' && (
        <SelectField
          label={say('weekday')}
          value={String(draft.dayOfWeek ?? 1)}
          options={[1, 2, 3, 4, 5, 6, 0].map((day) => ({ value: String(day), label: dayName(day) }))}
          onChange={(day) => set({ dayOfWeek: Number(day) })}
        />
      )}
      {scheduleType === 'MONTHLY' && (
        <SelectField
          label={say('day')}
          hint={say('dayHint')}
          value={String(draft.dayOfMonth ?? 1)}
          options={numbers(1, 31)}
          onChange={(day) => set({ dayOfMonth: Number(day) })}
        />
      )}
      <div class="field">
        <label for={id}>{say('time')}</label>
        <input
          id={id}
          type="time"
          required
          value={`${two(draft.hour ?? 0)}:${two(draft.minute ?? 0)}`}
          onInput={(event) => {
            const [hour, minute] = event.currentTarget.value.split(':').map(Number);
            if (hour !== undefined && minute !== undefined) set({ hour, minute });
          }}
        />
      </div>
    </>
  );
}

function ZoneField({ value, onChange }: { value: string; onChange(zone: string): void }) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{say('zone')}</label>
      <input
        id={id}
        list={`${id}-zones`}
        required
        autocomplete="off"
        maxLength={100}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      <datalist id={`${id}-zones`}>
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  );
}
