/** What the two halves of the page share. */
import type { ComponentChildren } from 'preact';

/** One of a few providers, as a row of buttons. */
export function Choice<Name extends string>({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: Name;
  options: Record<Name, { title: string }>;
  onChange(name: Name): void;
}) {
  return (
    <div class="provider-choice" role="group" aria-label={label}>
      {(Object.keys(options) as Name[]).map((name) => (
        <button key={name} type="button" aria-pressed={name === value} onClick={() => onChange(name)}>
          {options[name].title}
        </button>
      ))}
    </div>
  );
}

export const Step = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="set-up-step">
    <h3>{title}</h3>
    {children}
  </section>
);
