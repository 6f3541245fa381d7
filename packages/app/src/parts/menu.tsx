/** A button with a menu: a popover of the browser, placed by CSS anchors, with the keys of a menu. */
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface MenuItem {
  label: string;
  /** An action or, with `href`, a link. */
  run?: () => void;
  href?: string;
  /** Whether this item is the one in force, among items that exclude one another. */
  isChosen?: boolean;
  /** Deletes something. */
  isDangerous?: boolean;
  /** Begins a group. */
  begins?: boolean;
}

export interface MenuProps {
  /** The name of the button for screen readers, if its content does not say it. */
  label?: string;
  items: readonly MenuItem[];
  class?: string;
  children: ComponentChildren;
}

export function Menu({ label, items, class: className = 'icon', children }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const anchor = `--menu-${id.replaceAll(/\W/g, '')}`;
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];

  function onKeyDown(event: KeyboardEvent) {
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const byLetter = () => {
      if (event.key.length !== 1 || event.ctrlKey || event.metaKey) return undefined;
      const starts = (one: HTMLElement) =>
        one.textContent?.toLocaleLowerCase().startsWith(event.key.toLocaleLowerCase());
      return [...all.slice(at + 1), ...all.slice(0, at + 1)].find(starts);
    };
    const target = {
      ArrowDown: all[(at + 1) % all.length],
      ArrowUp: all[(at - 1 + all.length) % all.length],
      Home: all[0],
      End: all.at(-1),
      Tab: undefined,
    }[event.key];
    if (event.key === 'Tab') return list.current?.hidePopover();
    const next = target ?? (event.key === ' ' || event.key === 'Enter' ? undefined : byLetter());
    if (!next) return;
    event.preventDefault();
    next.focus();
  }

  return (
    <>
      <button
        type="button"
        class={className}
        aria-label={label}
        aria-haspopup="menu"
        popoverTarget={id}
        style={{ anchorName: anchor }}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          list.current?.showPopover();
        }}
      >
        {children}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={label}
        class="menu-list"
        style={{ positionAnchor: anchor }}
        onKeyDown={onKeyDown}
        onToggle={(event) => event.newState === 'open' && entries()[0]?.focus()}
      >
        {items.map((item) => (
          <Item key={item.label} item={item} close={() => list.current?.hidePopover()} />
        ))}
      </div>
    </>
  );
}

function Item({ item, close }: { item: MenuItem; close(): void }) {
  const common = {
    class: [item.begins && 'begins', item.isDangerous && 'bad'].filter(Boolean).join(' '),
    tabIndex: -1,
  };
  if (item.href !== undefined)
    return (
      <a {...common} role="menuitem" href={item.href} onClick={close}>
        {item.label}
      </a>
    );
  const isChoice = item.isChosen !== undefined;
  return (
    <button
      {...common}
      type="button"
      role={isChoice ? 'menuitemradio' : 'menuitem'}
      aria-checked={isChoice ? item.isChosen : undefined}
      onClick={() => {
        close();
        item.run?.();
      }}
    >
      {item.label}
    </button>
  );
}
