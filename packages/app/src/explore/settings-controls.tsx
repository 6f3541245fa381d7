/** The controls that settings of charts are made of. */
import type { ComponentChildren } from 'preact';

export const Section = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <details class="settings-section" open>
    <summary>{title}</summary>
    <div class="settings-body">{children}</div>
  </details>
);

export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: [value: string, text: string][];
  onChange(value: string): void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export const Check = ({
  label,
  isOn,
  onChange,
}: {
  label: string;
  isOn: boolean;
  onChange(isOn: boolean): void;
}) => (
  <label class="option">
    <input type="checkbox" checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{label}</span>
  </label>
);
