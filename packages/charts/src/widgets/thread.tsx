/** A stored conversation. There is nobody to answer yet. */
import { Markdown } from '../markdown.tsx';
import { useBoard } from '../shared.ts';
import type { Widget } from '../types.ts';

interface Entry {
  role?: string;
  text?: string;
  at?: string;
}

export function Thread({ widget: { config } }: { widget: Widget }) {
  const { say, formats } = useBoard();
  const entries: Entry[] = Array.isArray(config?.thread) ? config.thread : [];
  return (
    <section class="card">
      <header class="card-head">
        <h2>{String(config?.title ?? say('assistant'))}</h2>
      </header>
      {entries.length === 0 && <div class="empty">{say('emptyThread')}</div>}
      <ol class="thread">
        {entries.map((entry, i) => (
          <li key={i} class={entry.role === 'user' ? 'own' : ''}>
            <small>
              {entry.role === 'user' ? say('you') : say('assistant')}
              {entry.at && ` · ${formats.date(entry.at)}`}
            </small>
            <Markdown text={String(entry.text ?? '')} />
          </li>
        ))}
      </ol>
    </section>
  );
}
