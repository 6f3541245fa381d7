/** Filters as chips. A chip says its filter in words; a click opens its controls. */
import { lazy } from '@oriel/charts';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { addFilter, changeFilter, combine } from './changes.ts';
import type { Exploration } from './exploration.ts';
import { type Member, searchMembers } from './members.ts';
import { filterText, firstOf } from './operators.ts';
import { type Comparison, comparison, type FilterNode, isComplete, isGroup } from './question.ts';
import { say } from './texts/say.ts';

// The controls take the focus when they come.
const FilterControls = lazy(
  () => import('./filter-values.tsx').then((module) => module.FilterControls),
  null,
);

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
      <AddFilter
        exploration={props.exploration}
        label={say('addToGroup', { join: say(node.join) })}
        isSmall
        kind={kindIn(node, props.exploration)}
        onChoose={(other) => {
          props.exploration.change(say('addFilter'), (before) => addFilter(before, other, node.id));
          props.setOpened(other.id);
        }}
      />
      <button
        type="button"
        class="icon small"
        aria-label={say('removeGroup')}
        title={say('removeGroup')}
        onClick={() =>
          props.exploration.change(say('removeGroup'), (before) =>
            changeFilter(before, node.id, () => undefined),
          )
        }
      >
        <Icon name="close" size={14} />
      </button>
    </div>
  );
}

/** Measures and dimensions cannot be alternatives of each other. */
const kindIn = (node: FilterNode, exploration: Exploration): 'measure' | 'dimension' => {
  const [first] = isGroup(node) ? node.filters : [];
  if (first) return kindIn(first, exploration);
  const member = isGroup(node) ? undefined : exploration.model.members.get(node.member);
  return member?.kind === 'measure' ? 'measure' : 'dimension';
};

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
            {(['or', 'and'] as const).map((join) => (
              <AddFilter
                key={join}
                exploration={exploration}
                label={say(join === 'or' ? 'addOr' : 'addAnd')}
                kind={kindIn(node, exploration)}
                onChoose={(other) => {
                  exploration.change(say(join === 'or' ? 'addOr' : 'addAnd'), (before) =>
                    combine(before, node.id, join, other),
                  );
                  setOpened(other.id);
                }}
              />
            ))}
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

/** A button that asks for a field. */
function AddFilter({
  exploration,
  label,
  isSmall = false,
  kind,
  onChoose,
}: {
  exploration: Exploration;
  label: string;
  isSmall?: boolean;
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
        class={isSmall ? 'icon small' : 'quiet with-icon'}
        aria-expanded={isOpen}
        {...(isSmall ? { 'aria-label': label, title: label } : {})}
        disabled={!all.length}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="plus" size={14} />
        {isSmall ? null : label}
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
