/** The dialog of a calculated field. The server checks each change, so that what is wrong is known before it is applied. */
import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { isAbort, problemOf } from '../data/problem.ts';
import { Dialog } from '../parts/dialog.tsx';
import {
  aggregatesOf,
  type Calculated,
  errorIn,
  FORMATS,
  isByOrder,
  KINDS,
  type Kind,
  nameFor,
} from './calculated.ts';
import { setCalculated } from './changes.ts';
import type { Exploration } from './exploration.ts';
import { ExpressionInput } from './expression-input.tsx';
import type { Member } from './members.ts';
import { groupKeys, toQuery } from './question.ts';
import { say, type TextKey } from './texts/say.ts';
import { aggregateText, kindText, titleOfField } from './titles.ts';

const CHECK_MS = 300;
/** When a check is tried again that a busy server has refused. */
const RETRY_MS = 2000;
const ROWS = { first: 3, least: 2, most: 1000 };

const FORMAT_TEXTS: Record<(typeof FORMATS)[number], TextKey> = {
  number: 'formatNumber',
  percent: 'formatPercent',
  currency: 'formatCurrency',
};

interface CheckResult {
  isRight: boolean;
  problem?: ReturnType<typeof errorIn>;
}

export default function CalculatedEditor({
  exploration,
  field: given,
  onClose,
}: {
  exploration: Exploration;
  /** The one to change; undefined for a new one. */
  field: Calculated | undefined;
  onClose(): void;
}) {
  const question = exploration.question.peek();
  const { model } = exploration;
  const members = model.bySource.get(question.source ?? '') ?? [];
  const index = given ? question.calculated.findIndex(({ name }) => name === given.name) : -1;
  const before = index < 0 ? question.calculated : question.calculated.slice(0, index);
  const measures = members.filter(({ kind }) => kind === 'measure');
  const dimensions = members.filter(({ kind }) => kind === 'dimension' || kind === 'time');
  const [field, setField] = useState<Calculated>(
    given ?? { name: '', kind: 'expression', expression: question.measures[0] ?? '' },
  );
  const [checked, setChecked] = useState<CheckResult>({ isRight: false });
  const ids = { title: useId(), kind: useId(), of: useId(), more: useId(), along: useId(), format: useId() };

  /** As it is sent: a new field gets a name from its title. */
  const made: Calculated = {
    ...field,
    name: field.name || nameFor(field.title || titleOfField(field, model), question.calculated),
    title: titleOfField(field, model),
  };
  const text = JSON.stringify(made);
  useEffect(() => {
    const stopped = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const check = async () => {
      const query = toQuery(setCalculated(question, made));
      const at = query.calculated!.findIndex(({ name }) => name === made.name);
      try {
        const body = { query } as never;
        await api.dryRunQuery({ deploymentId: exploration.deploymentId, body }, { signal: stopped.signal });
        setChecked({ isRight: true });
      } catch (error) {
        if (isAbort(error)) return;
        const problem = problemOf(error);
        setChecked({ isRight: false, problem: errorIn(problem.message, at) });
        if (problem.kind === 'busy') timer = setTimeout(check, RETRY_MS);
      }
    };
    timer = setTimeout(check, CHECK_MS);
    return () => {
      clearTimeout(timer);
      stopped.abort();
    };
  }, [text]);

  const change = (more: Partial<Calculated>) => setField((known) => ({ ...known, ...more }));
  /** What another kind does not take is left out. */
  const setKind = (kind: Kind) => {
    const { name, title, format } = field;
    const common = { name, kind, ...(title ? { title } : {}), ...(format ? { format } : {}) };
    if (kind === 'expression') setField({ ...common, expression: field.of ?? '' });
    else if (kind === 'aggregate') {
      const [first] = dimensions;
      setField({ ...common, function: 'countDistinct', ...(first ? { of: first.name } : {}) });
    } else {
      const of = field.kind === 'aggregate' ? undefined : field.of;
      const first = of ?? question.measures[0] ?? measures[0]?.name;
      setField({ ...common, ...(first ? { of: first } : {}) });
    }
  };

  function apply() {
    exploration.change(titleOfField(made, model), (known) => setCalculated(known, made));
    onClose();
  }

  const { kind } = field;
  const isOverRows = kind !== 'expression' && kind !== 'aggregate';
  const of = members.find(({ name }) => name === field.of);
  const keys = groupKeys(question);
  const titleOfKey = (key: string) => {
    const member = model.members.get(key.split('.').slice(0, 2).join('.'));
    const granularity = key.split('.')[2];
    return `${member?.title ?? key}${granularity ? ` (${say(granularity as TextKey) ?? granularity})` : ''}`;
  };
  return (
    <Dialog title={say('calculatedField')} onClose={onClose} size="wide">
      <form
        class="calculated-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (checked.isRight) apply();
        }}
      >
        <label class="field" for={ids.kind}>
          <span>{say('kind')}</span>
          <select id={ids.kind} value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
            {KINDS.map((each) => (
              <option key={each} value={each}>
                {kindText(each)}
              </option>
            ))}
          </select>
        </label>
        {kind === 'expression' ? (
          <ExpressionInput
            value={field.expression ?? ''}
            members={members}
            fields={before}
            keys={keys}
            problem={checked.problem}
            onChange={(expression) => change({ expression })}
          />
        ) : (
          <label class="field" for={ids.of}>
            <span>{say('computedFrom')}</span>
            <select
              id={ids.of}
              value={field.of ?? ''}
              onChange={(event) => {
                const name = event.currentTarget.value;
                const type = members.find((member) => member.name === name)?.type ?? '';
                const isKept = !field.function || aggregatesOf(type).includes(field.function);
                change({ of: name, ...(isKept ? {} : { function: 'countDistinct' as const }) });
              }}
            >
              {(kind === 'aggregate' ? dimensions : measures).map(({ name, title }) => (
                <option key={name} value={name}>
                  {title}
                </option>
              ))}
              {kind !== 'aggregate' &&
                before.map((other) => (
                  <option key={other.name} value={other.name}>
                    {titleOfField(other, model)}
                  </option>
                ))}
            </select>
          </label>
        )}
        {kind === 'aggregate' && (
          <label class="field" for={ids.more}>
            <span>{say('aggregate')}</span>
            <select
              id={ids.more}
              value={field.function}
              onChange={(event) =>
                change({ function: event.currentTarget.value as Calculated['function'] & string })
              }
            >
              {aggregatesOf((of as Member | undefined)?.type ?? '').map((each) => (
                <option key={each} value={each}>
                  {aggregateText(each)}
                </option>
              ))}
            </select>
          </label>
        )}
        {isByOrder(kind) && keys.length > 0 && (
          <label class="field" for={ids.along}>
            <span>{say('along')}</span>
            <select
              id={ids.along}
              value={field.along ?? ''}
              onChange={({ currentTarget: { value } }) => {
                const { along: _, ...rest } = field;
                setField(value ? { ...rest, along: value } : rest);
              }}
            >
              <option value="">{say('alongUsual')}</option>
              {keys.map((key) => (
                <option key={key} value={key}>
                  {titleOfKey(key)}
                </option>
              ))}
            </select>
          </label>
        )}
        {isOverRows && keys.length > 0 && (
          <fieldset class="field">
            <legend>{say('within')}</legend>
            <div class="checks">
              {keys.map((key) => (
                <label key={key} class="option">
                  <input
                    type="checkbox"
                    checked={field.within?.includes(key) ?? false}
                    onChange={(event) => {
                      const others = (field.within ?? []).filter((one) => one !== key);
                      const within = event.currentTarget.checked ? [...others, key] : others;
                      const { within: _, ...rest } = field;
                      setField(within.length ? { ...rest, within } : rest);
                    }}
                  />
                  <span>{titleOfKey(key)}</span>
                </label>
              ))}
            </div>
          </fieldset>
        )}
        {kind === 'movingAverage' && (
          <label class="field" for={ids.more}>
            <span>{say('averagedRows')}</span>
            <input
              id={ids.more}
              type="number"
              min={ROWS.least}
              max={ROWS.most}
              value={field.rows ?? ROWS.first}
              onInput={(event) => change({ rows: Number(event.currentTarget.value) })}
            />
          </label>
        )}
        {kind === 'rank' && (
          <label class="option">
            <input
              type="checkbox"
              checked={field.direction === 'asc'}
              onChange={(event) => {
                const { direction: _, ...rest } = field;
                setField(event.currentTarget.checked ? { ...rest, direction: 'asc' } : rest);
              }}
            />
            <span>{say('smallestFirst')}</span>
          </label>
        )}
        <div class="field-pair">
          <label class="field" for={ids.title}>
            <span>{say('name')}</span>
            <input
              id={ids.title}
              autocomplete="off"
              maxLength={200}
              placeholder={titleOfField({ ...field, title: '' }, model)}
              value={field.title ?? ''}
              onInput={({ currentTarget: { value } }) => {
                const { title: _, ...rest } = field;
                setField(value ? { ...rest, title: value } : rest);
              }}
            />
          </label>
          <label class="field" for={ids.format}>
            <span>{say('format')}</span>
            <select
              id={ids.format}
              value={field.format ?? ''}
              onChange={({ currentTarget: { value } }) => {
                const { format: _, ...rest } = field;
                setField(value ? { ...rest, format: value as (typeof FORMATS)[number] } : rest);
              }}
            >
              <option value="">{say('formatUsual')}</option>
              {FORMATS.map((each) => (
                <option key={each} value={each}>
                  {say(FORMAT_TEXTS[each])}
                </option>
              ))}
            </select>
          </label>
        </div>
        <p class={checked.problem ? 'bad' : 'soft'} role="status">
          {checked.problem?.message ?? (checked.isRight ? say('canBeComputed') : '')}
        </p>
        <div class="dialog-foot">
          <button type="submit" class="primary" disabled={!checked.isRight}>
            {say('done')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
