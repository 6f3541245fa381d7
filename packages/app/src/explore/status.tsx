/** What an answer is worth: how long it took, how old it is, whether it is the answer to what is asked now. */
import { wordsOf } from '../parts/states.tsx';
import type { Exploration } from './exploration.ts';
import { say } from './texts/say.ts';

const seconds = (ms: number, locale: string) =>
  new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: 'second',
    maximumFractionDigits: ms < 10_000 ? 2 : 0,
  }).format(ms / 1000);

function ageOf(ms: number, locale: string) {
  const unit = ms < 90_000 ? 'second' : ms < 5_400_000 ? 'minute' : 'hour';
  const of = { second: 1000, minute: 60_000, hour: 3_600_000 }[unit];
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 0,
  }).format(Math.max(1, Math.round(ms / of)));
}

export function Status({ exploration, isTooLong }: { exploration: Exploration; isTooLong: boolean }) {
  const answer = exploration.answer.value;
  const problem = exploration.problem.value;
  const limits = exploration.limits.value;
  const { locale, formats } = exploration.board;
  if (exploration.isRunning.value)
    return (
      <p class="status" role="status">
        <span class="spinner" aria-hidden="true" /> {say('running')}
      </p>
    );
  if (problem && answer)
    return (
      <p class="status bad" role="alert">
        {wordsOf(problem)}
      </p>
    );
  if (exploration.isOutdated.value)
    return (
      <p class="status warn" role="status">
        {say('outdated')}
      </p>
    );
  if (!answer) return <p class="status" role="status" />;
  const count = answer.rows.rows.length;
  return (
    <p class="status" role="status">
      <span>
        {formats.count(count)} {say('took', { count, time: seconds(answer.ms, locale) })}
      </span>
      <span class="soft">
        {answer.cachedMs === undefined ? say('fresh') : say('kept', { age: ageOf(answer.cachedMs, locale) })}
      </span>
      {answer.rows.result.rowsCapped && <span class="warn">{say('capped')}</span>}
      {isTooLong && <span class="warn">{say('tooLongForAddress')}</span>}
      {limits && limits.length > 0 ? (
        <span class="badge" title={say('limitedHint')}>
          {say('limited', { names: limits.join(', ') })}
        </span>
      ) : (
        exploration.isLimited.value && <span class="badge">{say('limitedSomehow')}</span>
      )}
    </p>
  );
}
