/** Fields of forms and filters, each with its label, and what is wrong with it beside it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';

const PAUSE_MS = 250;

interface Common {
  label: string;
  value: string;
  onChange(value: string): void;
}

type InputType = 'search' | 'text' | 'email' | 'password' | 'number' | 'url' | 'date' | 'datetime-local';
/** The types of elements have one shape for each type of input, and none for a type that is chosen later. */
const ofType = (type: InputType) => ({ type: type as 'text' });

/** A filter that is applied when typing pauses. */
export function FilterField({ label, value, onChange, type = 'search' }: Common & { type?: InputType }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => onChange(typed.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label class="field filter">
      <span>{label}</span>
      <input
        {...ofType(type)}
        value={typed}
        maxLength={255}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}

export interface Option {
  value: string;
  label: string;
}

export const FilterChoice = ({
  label,
  value,
  onChange,
  options,
}: Common & { options: readonly Option[] }) => (
  <label class="field filter">
    <span>{label}</span>
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  </label>
);

export function TextField({
  label,
  value,
  onChange,
  hint,
  error,
  ...others
}: Common & {
  hint?: string | undefined;
  error?: string | undefined;
  type?: InputType;
  required?: boolean;
  readOnly?: boolean;
  maxLength?: number;
  rows?: number;
  autocomplete?: string;
}) {
  const id = useId();
  const { rows, type = 'text', ...input } = others;
  const common = {
    id,
    value,
    'aria-invalid': error ? true : undefined,
    'aria-describedby': error || hint ? `${id}-note` : undefined,
    onInput: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows ? (
        <textarea {...common} {...input} rows={rows} spellcheck={false} />
      ) : (
        <input {...ofType(type)} {...common} {...input} />
      )}
      {(error || hint) && (
        <span id={`${id}-note`} class={error ? 'bad note' : 'soft note'}>
          {error ?? hint}
        </span>
      )}
    </div>
  );
}

export const CheckField = ({
  label,
  isOn,
  onChange,
  hint,
  isFixed = false,
}: {
  label: string;
  isOn: boolean;
  isFixed?: boolean;
  onChange(isOn: boolean): void;
  hint?: string | undefined;
}) => (
  <label class="check-field">
    <input
      type="checkbox"
      checked={isOn}
      disabled={isFixed}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    <span>
      {label}
      {hint && <span class="soft note">{hint}</span>}
    </span>
  </label>
);

export const Filters = ({ children }: { children: ComponentChildren }) => (
  <div class="toolbar filters">{children}</div>
);
