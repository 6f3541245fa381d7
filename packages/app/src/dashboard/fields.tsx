/** Fields of the panel. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  label: string;
  hint?: string;
}

export function TextField({
  label,
  hint,
  value,
  rows,
  maxLength = 255,
  placeholder,
  onChange,
}: FieldProps & {
  value: string;
  rows?: number;
  maxLength?: number;
  placeholder?: string | undefined;
  onChange(value: string): void;
}) {
  const id = useId();
  const common = { id, value, maxLength, placeholder, 'aria-describedby': hint ? `${id}-hint` : undefined };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows ? (
        <textarea {...common} rows={rows} onInput={(event) => onChange(event.currentTarget.value)} />
      ) : (
        <input {...common} autocomplete="off" onInput={(event) => onChange(event.currentTarget.value)} />
      )}
      {hint && (
        <span id={`${id}-hint`} class="soft">
          {hint}
        </span>
      )}
    </div>
  );
}

export function SelectField({
  label,
  hint,
  value,
  options,
  onChange,
}: FieldProps & {
  value: string;
  options: readonly { value: string; label: string; group?: string }[];
  onChange(value: string): void;
}) {
  const id = useId();
  const groups = [...new Set(options.map(({ group }) => group))];
  const drawn = (list: typeof options) =>
    list.map((option) => (
      <option key={option.value} value={option.value}>
        {option.label}
      </option>
    ));
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {groups.map((group) =>
          group === undefined ? (
            drawn(options.filter((option) => option.group === undefined))
          ) : (
            <optgroup key={group} label={group}>
              {drawn(options.filter((option) => option.group === group))}
            </optgroup>
          ),
        )}
      </select>
      {hint && <span class="soft">{hint}</span>}
    </div>
  );
}

export const CheckField = ({
  label,
  note,
  checked,
  onChange,
}: {
  label: string;
  note?: string;
  checked: boolean;
  onChange(checked: boolean): void;
}) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{label}</span>
    {note && <span class="soft">{note}</span>}
  </label>
);

export function NumberField({
  label,
  value,
  min,
  max,
  onChange,
}: {
  label: string;
  value: number;
  min: number;
  max: number;
  onChange(value: number): void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="number"
        min={min}
        max={max}
        value={value}
        onChange={(event) => {
          const given = event.currentTarget.valueAsNumber;
          if (Number.isFinite(given)) onChange(Math.min(Math.max(given, min), max));
        }}
      />
    </div>
  );
}

/** A colour, or the usual one. */
export function ColorField({
  label,
  usual,
  shown,
  value,
  onChange,
}: {
  label: string;
  usual: string;
  /** What is in force without a choice. */
  shown: string;
  value: string | undefined;
  onChange(value: string | undefined): void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="color">
        <input
          id={id}
          type="color"
          value={value ?? shown}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        <button
          type="button"
          class="quiet"
          disabled={value === undefined}
          onClick={() => onChange(undefined)}
        >
          {usual}
        </button>
      </div>
    </div>
  );
}

export const Group = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <fieldset class="group">
    <legend>{title}</legend>
    {children}
  </fieldset>
);
