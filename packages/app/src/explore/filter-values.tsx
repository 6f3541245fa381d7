/** The controls of a filter: how it compares, and with what. */
import { lazy } from '@oriel/charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { changeFilter } from './changes.ts';
import type { Exploration } from './exploration.ts';
import { type Operator, operatorsOf } from './operators.ts';
import type { Comparison, FilterNode } from './question.ts';
import { say } from './texts/say.ts';
import { useValues } from './values.ts';

const Range = lazy(() => import('./range-input.tsx').then((module) => module.Range), null);

export function FilterControls({ node, exploration }: { node: Comparison; exploration: Exploration }) {
  const member = exploration.model.members.get(node.member);
  const operators = operatorsOf(member);
  const operator = operators.find(({ name }) => name === node.operator);
  const change = (changed: Partial<Comparison>, field?: string) =>
    exploration.change(
      say('editFilter', { name: member?.title ?? node.member }),
      (before) => changeFilter(before, node.id, (found) => ({ ...found, ...changed }) as FilterNode),
      field && `${node.id}-${field}`,
    );
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <>
      <label class="field">
        <span>{say('operator')}</span>
        <select
          ref={first}
          value={node.operator}
          onChange={(event) => {
            const next = operators.find(({ name }) => name === event.currentTarget.value)!;
            change({ operator: next.name, values: valuesFor(next, operator, node.values) });
          }}
        >
          {!operator && <option value={node.operator}>{node.operator}</option>}
          {operators.map(({ name, text }) => (
            <option key={name} value={name}>
              {say(text)}
            </option>
          ))}
        </select>
      </label>
      <Values node={node} operator={operator} exploration={exploration} onChange={change} />
    </>
  );
}

/** What was typed stays if it means the same. */
const valuesFor = (next: Operator, before: Operator | undefined, values: string[]) => {
  if (next.form === before?.form) return values;
  if (next.form === 'range') return ['last 30 days'];
  return next.form === 'one' && before?.form === 'many' ? values.slice(0, 1) : [];
};

interface ValuesProps {
  node: Comparison;
  operator: Operator | undefined;
  exploration: Exploration;
  onChange(changed: Partial<Comparison>, field?: string): void;
}

function Values({ node, operator, exploration, onChange }: ValuesProps) {
  const [value = ''] = node.values;
  const one = (type: 'text' | 'number' | 'date', label = say('value')) => (
    <label class="field">
      <span>{label}</span>
      <input
        type={type as 'text'}
        value={value}
        step="any"
        onInput={(event) => onChange({ values: [event.currentTarget.value] }, 'value')}
      />
    </label>
  );
  switch (operator?.form) {
    case 'none':
      return null;
    case 'many':
      return <ManyValues node={node} exploration={exploration} onChange={onChange} />;
    case 'number':
      return one('number');
    case 'date':
      return one('date');
    case 'boolean':
      return (
        <label class="field">
          <span>{say('value')}</span>
          <select value={value} onChange={(event) => onChange({ values: [event.currentTarget.value] })}>
            <option value="">…</option>
            <option value="true">{say('yes')}</option>
            <option value="false">{say('no')}</option>
          </select>
        </label>
      );
    case 'range':
      return <Range values={node.values} onChange={(values) => onChange({ values })} />;
    default:
      return one('text');
  }
}

function ManyValues({ node, exploration, onChange }: Omit<ValuesProps, 'operator'>) {
  const [text, setText] = useState('');
  const found = useValues(exploration.deploymentId, node.member, text);
  const chosen = new Set(node.values);
  const others = found.values.filter((value) => !chosen.has(value));
  const isNew = text !== '' && !chosen.has(text) && !found.values.includes(text);
  const set = (value: string, isOn: boolean) =>
    onChange({ values: isOn ? [...node.values, value] : node.values.filter((each) => each !== value) });
  const option = (value: string) => (
    <label key={value} class="option">
      <input
        type="checkbox"
        checked={chosen.has(value)}
        onChange={(event) => set(value, event.currentTarget.checked)}
      />
      <span>{value}</span>
    </label>
  );
  return (
    <div class="values">
      <label class="search-field">
        <Icon name="search" size={16} />
        <input
          type="search"
          value={text}
          placeholder={say('searchValues')}
          aria-label={say('searchValues')}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <div class="option-list" role="group" aria-label={say('values')} aria-busy={found.isLoading}>
        {node.values.map(option)}
        {others.map(option)}
        {isNew && !found.isLoading && (
          <button type="button" class="quiet" onClick={() => set(text, true)}>
            {say('addValue', { text })}
          </button>
        )}
        {!found.isLoading && !node.values.length && !others.length && !isNew && (
          <p class="soft">{say('noValues')}</p>
        )}
      </div>
    </div>
  );
}
