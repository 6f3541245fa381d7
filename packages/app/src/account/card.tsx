import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

export function Card({
  title,
  hint,
  children,
}: {
  title: string;
  hint?: string;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="console-card form account-card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hint && <p class="soft">{hint}</p>}
      {children}
    </section>
  );
}
