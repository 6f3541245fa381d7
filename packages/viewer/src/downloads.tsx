/** The whole dashboard as a picture or as PDF. */
import { useState } from 'preact/hooks';
import type { PageState } from './page-state.ts';

const FORMATS = ['png', 'pdf'] as const;

export function Downloads({ page }: { page: PageState }) {
  const { say } = page.language;
  const [state, setState] = useState<'busy' | 'failed'>();
  const run = (format: (typeof FORMATS)[number]) => {
    setState('busy');
    page.download(format).then(
      () => setState(undefined),
      () => setState('failed'),
    );
  };
  return (
    <div class="downloads no-print" aria-busy={state === 'busy'}>
      {FORMATS.map((format) => (
        <button
          key={format}
          type="button"
          class="quiet"
          disabled={state === 'busy'}
          aria-label={say('downloadAs', { format: format.toUpperCase() })}
          title={say('downloadAs', { format: format.toUpperCase() })}
          onClick={() => run(format)}
        >
          {format.toUpperCase()}
        </button>
      ))}
      {state === 'failed' && <p role="alert">{say('downloadFailed')}</p>}
    </div>
  );
}
