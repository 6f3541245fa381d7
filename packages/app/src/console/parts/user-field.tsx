/** Chooses one person by a part of their name, and stands for them by their number. */
import { useEffect, useId, useState } from 'preact/hooks';
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { say } from '../say.ts';

interface Person {
  id: number;
  firstName?: string | null;
  username: string;
  email: string;
}

const shownPerson = ({ firstName, username, email }: Person) =>
  [firstName || username, email].filter((text, i, all) => text && all.indexOf(text) === i).join(' · ');

const FOUND_MAX = 8;

/** `value` is the number of a user as text, or nothing. */
export function UserField({
  label,
  value,
  onChange,
  hint,
  shown,
  isFilter = false,
}: {
  label: string;
  value: string;
  onChange(value: string): void;
  hint?: string;
  /** The name to show if the user is not a person of the account. */
  shown?: string | undefined;
  isFilter?: boolean;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const [chosen, setChosen] = useState(0);
  const userId = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
  const { data: person } = useData(userId && !shown ? `users/one/${userId}` : null, (signal) =>
    api.getUser({ id: userId! }, { signal }),
  );
  const search = typed?.trim() ?? '';
  const { data: found = [] } = useData(
    typed === undefined ? null : `users/found/${search}`,
    async (signal) =>
      (await api.listUsers({ ...(search ? { search } : {}), first: FOUND_MAX }, { signal })).items,
  );
  useEffect(() => setChosen(0), [search]);
  const current = found[Math.min(chosen, found.length - 1)];
  const isOpen = typed !== undefined && found.length > 0;
  const choose = (next: Person | undefined) => {
    setTyped(undefined);
    onChange(next ? String(next.id) : '');
  };
  return (
    <div class={isFilter ? 'field filter user-field' : 'field user-field'}>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-found`}
        aria-activedescendant={isOpen && current ? `${id}-${current.id}` : undefined}
        aria-describedby={hint ? `${id}-note` : undefined}
        placeholder={say(isFilter ? 'anybody' : 'findPerson')}
        autocomplete="off"
        maxLength={255}
        value={typed ?? (value && shown ? shown : person ? shownPerson(person) : value)}
        onFocus={(event) => event.currentTarget.select()}
        onInput={(event) => {
          const text = event.currentTarget.value;
          if (text) setTyped(text);
          else choose(undefined);
        }}
        onBlur={() => setTyped(undefined)}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (step !== undefined) {
            event.preventDefault();
            if (typed === undefined) setTyped('');
            else if (found.length) setChosen((chosen + step + found.length) % found.length);
          } else if (event.key === 'Enter' && isOpen) {
            event.preventDefault();
            choose(current);
          } else if (event.key === 'Escape' && typed !== undefined) {
            // The dialog around it stays.
            event.preventDefault();
            event.stopPropagation();
            setTyped(undefined);
          }
        }}
      />
      <div id={`${id}-found`} role="listbox" aria-label={label} class="user-found" hidden={!isOpen}>
        {isOpen &&
          found.map((one) => (
            <div
              key={one.id}
              id={`${id}-${one.id}`}
              role="option"
              tabIndex={-1}
              aria-selected={one === current}
              // Before the field loses the focus.
              onPointerDown={(event) => {
                event.preventDefault();
                choose(one);
              }}
            >
              {shownPerson(one)}
            </div>
          ))}
      </div>
      {hint && (
        <span id={`${id}-note`} class="soft note">
          {hint}
        </span>
      )}
    </div>
  );
}
