/** A schedule in the words of the person who reads it. */
import type { api } from '../data/api.ts';
import { locale } from '../texts/index.ts';
import { say } from './say.ts';

export interface ScheduledDashboard {
  deploymentId: number;
  workbookId: number;
  /** The public id of the dashboard. */
  publicId: string;
  name: string;
}

export type Notification = Awaited<ReturnType<typeof api.getNotification>>;
export type Timing = Pick<
  Notification,
  'scheduleType' | 'minute' | 'hour' | 'dayOfWeek' | 'dayOfMonth' | 'customCron'
>;

/** A Sunday at midnight, from which days and hours are counted. */
const SUNDAY = Date.UTC(2026, 0, 4);
const HOUR_MS = 3_600_000;

export const dayName = (day: number) =>
  new Intl.DateTimeFormat(locale.value, { weekday: 'long', timeZone: 'UTC' }).format(
    SUNDAY + day * 24 * HOUR_MS,
  );

const timeText = ({ hour, minute }: Timing) =>
  new Intl.DateTimeFormat(locale.value, { timeStyle: 'short', timeZone: 'UTC' }).format(
    SUNDAY + (hour ?? 0) * HOUR_MS + (minute ?? 0) * 60_000,
  );

export function scheduleText(timing: Timing): string {
  switch (timing.scheduleType) {
    case 'HOURLY':
      return say('everyHour', { minute: String(timing.minute ?? 0).padStart(2, '0') });
    case 'DAILY':
      return say('everyDay', { time: timeText(timing) });
    case 'WEEKLY':
      return say('everyWeek', { day: dayName(timing.dayOfWeek ?? 0), time: timeText(timing) });
    case 'MONTHLY':
      return say('everyMonth', { day: timing.dayOfMonth ?? 1, time: timeText(timing) });
    case 'CUSTOM':
      return say('byCron', { cron: timing.customCron ?? '' });
  }
}

export const momentText = (at: string, timeZone?: string) =>
  new Intl.DateTimeFormat(locale.value, {
    dateStyle: 'medium',
    timeStyle: 'short',
    ...(timeZone ? { timeZone } : {}),
  }).format(new Date(at));
