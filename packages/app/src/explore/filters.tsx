/** Filters as chips. A chip says its filter in words; a click opens its controls. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { addAlternative, addFilter, changeFilter } from './changes.ts';
import type { Exploration } from './exploration.ts';
import { type Member, searchMembers } from './members.ts';
import { filterText, firstOf, type Operator, operatorsOf, RANGES } from './operators.ts';
import { type Comparison, comparison, type FilterNode, isComplete, isGroup } from './question.ts';
import { say } from './texts/say.ts';
import { useValues } from './values.ts';

interface FiltersProps {
  exploration: Exploration;
  /** The filter whose controls are open. */
  opened: string | undefined;
  setOpened(id: string | undefined): void;
}

export function Filters({ exploration, opened, setOpened }: FiltersProps) {
  const question = exploration.question.value;
  return (
    <div class="filters" role="group" aria-label={say('filters')}>
      {question.filters.map((node) => (
        <Chip key={node.id} {...{ node, exploration, opened, setOpened }} />
      ))}
      <AddFilter
        exploration={exploration}
        label={say('addFilter')}
        onChoose={(node) => {
          exploration.change(say('addFilter'), (before) => addFilter(before, node));
          setOpened(node.id);
        }}
      />
    </div>
  );
}

type ChipProps = FiltersProps & { node: FilterNode };

function Chip(props: ChipProps) {
  const { node } = props;
  if (!isGroup(node)) return <ComparisonChip {...props} node={node} />;
  return (
    <div class="chip-group" role="group" aria-label={filterText(node, props.exploration.model)}>
      {node.filters.map((inner, i) => (
        <>
          {i > 0 && (
            <button
              key={`${inner.id}-join`}
              type="button"
              class="quiet join"
              onClick={() =>
                props.exploration.change(say('operator'), (before) =>
                  changeFilter(before, node.id, (found) =>
                    isGroup(found) ? { ...found, join: found.join === 'or' ? 'and' : 'or' } : found,
                  ),
                )
              }
            >
              {say(node.join)}
            </button>
          )}
          <Chip key={inner.id} {...props} node={inner} />
        </>
      ))}
    </div>
  );
}

function ComparisonChip({ node, exploration, opened, setOpened }: ChipProps & { node: Comparison }) {
  const { model } = exploration;
  const root = useRef<HTMLDivElement>(null);
  const isOpen = opened === node.id;
  const title = model.members.get(node.member)?.title ?? node.member;
  const remove = () =>
    exploration.change(say('removeFilter'), (before) => changeFilter(before, node.id, () => undefined));
  const close = () => {
    setOpened(undefined);
    root.current?.querySelector<HTMLElement>('.chip-name')?.focus();
  };
  useOutside(root, isOpen, () => setOpened(undefined));
  return (
    <div class={isComplete(node) ? 'filter-chip' : 'filter-chip incomplete'} ref={root}>
      <button
        type="button"
        class="quiet chip-name"
        aria-expanded={isOpen}
        aria-label={`${say('editFilter', { name: title })}: ${filterText(node, model)}`}
        onClick={() => setOpened(isOpen ? undefined : node.id)}
      >
        {filterText(node, model)}
      </button>
      <button
        type="button"
        class="icon small"
        aria-label={`${say('removeFilter')}: ${title}`}
        onClick={remove}
      >
        <Icon name="close" size={14} />
      </button>
      {isOpen && (
        <div
          class="panel filter-panel"
          role="dialog"
          aria-label={say('filterBy', { name: title })}
          onKeyDown={(event) => event.key === 'Escape' && close()}
        >
          <FilterControls node={node} exploration={exploration} />
          <div class="panel-foot">
            <AddFilter
              exploration={exploration}
              label={say('addOr')}
              kind={model.members.get(node.member)?.kind === 'measure' ? 'measure' : 'dimension'}
              onChoose={(other) => {
                exploration.change(say('addOr'), (before) => addAlternative(before, node.id, other));
                setOpened(other.id);
              }}
            />
            <button type="button" class="primary" onClick={close}>
              {say('done')}
            </button>
          </div>
        </div>
      )}
    </div>
  );
}

/** Calls back for a press outside of the element. */
export function useOutside(root: { current: HTMLElement | null }, isOpen: boolean, onOutside: () => void) {
  useEffect(() => {
    if (!isOpen) return;
    const onPress = (event: Event) => {
      const { target } = event;
      if (target instanceof Node && !root.current?.contains(target)) onOutside();
    };
    document.addEventListener('pointerdown', onPress);
    return () => document.removeEventListener('pointerdown', onPress);
  }, [isOpen]);
}

function FilterControls({ node, exploration }: { node: Comparison; exploration: Exploration }) {
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

const CUSTOM = 'custom';

/** Words that stay relative, or two days. */
function Range({ values, onChange }: { values: string[]; onChange(values: string[]): void }) {
  const [first = '', second] = values;
  const isKnown = RANGES.some(([words]) => words === first);
  const isDays = values.length > 1 || /^\d{4}-/.test(first);
  const today = new Date().toISOString().slice(0, 10);
  return (
    <>
      <label class="field">
        <span>{say('relative')}</span>
        <select
          value={isDays ? CUSTOM : first}
          onChange={(event) => {
            const { value } = event.currentTarget;
            onChange(value === CUSTOM ? [`${today.slice(0, 7)}-01`, today] : [value]);
          }}
        >
          {!isKnown && !isDays && <option value={first}>{first}</option>}
          {RANGES.map(([words, text]) => (
            <option key={words} value={words}>
              {say(text)}
            </option>
          ))}
          <option value={CUSTOM}>{say('customRange')}</option>
        </select>
      </label>
      {isDays && (
        <div class="two">
          <label class="field">
            <span>{say('from')}</span>
            <input
              type="date"
              value={first.slice(0, 10)}
              onChange={(event) => onChange([event.currentTarget.value, second ?? first])}
            />
          </label>
          <label class="field">
            <span>{say('to')}</span>
            <input
              type="date"
              value={(second ?? first).slice(0, 10)}
              onChange={(event) => onChange([first, event.currentTarget.value])}
            />
          </label>
        </div>
      )}
    </>
  );
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

/** A button that asks for a field. Measures and dimensions cannot be alternatives of each other. */
function AddFilter({
  exploration,
  label,
  kind,
  onChoose,
}: {
  exploration: Exploration;
  label: string;
  kind?: 'measure' | 'dimension';
  onChoose(node: Comparison): void;
}) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const root = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  useOutside(root, isOpen, () => setOpen(false));
  useEffect(() => {
    if (isOpen) input.current?.focus();
  }, [isOpen]);
  const { model } = exploration;
  const all = (model.bySource.get(exploration.question.value.source ?? '') ?? []).filter(
    (member) => member.kind !== 'segment' && (!kind || (member.kind === 'measure') === (kind === 'measure')),
  );
  const shown = (text.trim() ? searchMembers(all, text).map(({ member }) => member) : all).slice(0, 60);
  const choose = (member: Member) => {
    const { operator, values } = firstOf(member);
    setOpen(false);
    setText('');
    onChoose(comparison(member.name, operator, values));
  };
  return (
    <div class="add-filter" ref={root}>
      <button
        type="button"
        class="quiet with-icon"
        aria-expanded={isOpen}
        disabled={!all.length}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="plus" size={14} />
        {label}
      </button>
      {isOpen && (
        <div
          class="panel"
          role="dialog"
          aria-label={label}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return;
            setOpen(false);
            event.stopPropagation();
            root.current?.querySelector('button')?.focus();
          }}
        >
          <label class="search-field">
            <Icon name="search" size={16} />
            <input
              ref={input}
              type="search"
              value={text}
              placeholder={say('whichField')}
              aria-label={say('whichField')}
              onInput={(event) => setText(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && shown[0]) choose(shown[0]);
              }}
            />
          </label>
          <div class="option-list">
            {shown.map((member) => (
              <button key={member.name} type="button" class="quiet" onClick={() => choose(member)}>
                {member.title}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
