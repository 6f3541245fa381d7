/** Local times, as texts. */

/** What a clock in the zone shows at a time in UTC: `2024-03-31 02:30:00.5`. */
export function localText(utc: string, timeZone: string): string {
  const [date, fraction = ''] = utc.split('.');
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  }).format(new Date(`${date!.replace(' ', 'T')}Z`));
  return `${parts}${fraction && `.${fraction}`}`;
}

/** The first day or hour of the bucket, found by counting back. */
export function startOfBucket(utc: string, granularity: string, timeZone: string): string {
  const local = localText(utc, timeZone);
  if (granularity === 'hour') return `${local.slice(0, 13)}:00:00`;
  const day = new Date(`${local.slice(0, 10)}T00:00:00Z`);
  const isStart = () => {
    if (granularity === 'week') return day.getUTCDay() === 1;
    if (granularity === 'day') return true;
    const months = { month: 1, quarter: 3, year: 12 }[granularity]!;
    return day.getUTCDate() === 1 && day.getUTCMonth() % months === 0;
  };
  while (!isStart()) day.setUTCDate(day.getUTCDate() - 1);
  return `${day.toISOString().slice(0, 10)} 00:00:00`;
}
