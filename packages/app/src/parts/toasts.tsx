/** Messages about what has happened, with a way back where there is one. Screen readers say them. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isAbort, problemOf } from '../data/problem.ts';
import { say } from '../texts/say.ts';
import { Icon } from './icons.tsx';
import { wordsOf } from './states.tsx';

interface Toast {
  id: number;
  text: string;
  isProblem: boolean;
  undo?: (() => void | Promise<void>) | undefined;
  /** Where to go on from here. */
  next?: { text: string; href: string } | undefined;
  /** Called once the way back is over. */
  onEnd?: (() => void) | undefined;
}

const SHOWN_MS = 6_000;
/** Longer, because people decide in this time. */
const SHOWN_WITH_CHOICE_MS = 10_000;
const TOASTS_MAX = 4;

const toasts = signal<readonly Toast[]>([]);
let ids = 0;

function end(toast: Toast, isUndone = false) {
  if (!toasts.peek().includes(toast)) return;
  toasts.value = toasts.peek().filter((other) => other !== toast);
  if (!isUndone) toast.onEnd?.();
}

export function toast(
  text: string,
  options: Pick<Toast, 'undo' | 'next' | 'onEnd'> & { isProblem?: boolean } = {},
) {
  const added: Toast = { isProblem: false, ...options, id: ++ids, text };
  toasts.value = [...toasts.peek(), added];
  for (const old of toasts.peek().slice(0, -TOASTS_MAX)) end(old);
}

export const toastProblem = (error: unknown) => toast(wordsOf(problemOf(error)), { isProblem: true });

/** Does what a person asked for. If it fails, says why, and returns undefined. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!isAbort(error)) toastProblem(error);
    return undefined;
  }
}

export const Toasts = () => (
  <div class="toasts" role="region" aria-label={say('notifications')} aria-live="polite">
    {toasts.value.map((each) => (
      <ToastView key={each.id} toast={each} />
    ))}
  </div>
);

function ToastView({ toast }: { toast: Toast }) {
  useEffect(() => {
    const timer = setTimeout(() => end(toast), toast.undo || toast.next ? SHOWN_WITH_CHOICE_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={toast.isProblem ? 'toast bad' : 'toast'}>
      <p>{toast.text}</p>
      {toast.undo && (
        <button
          type="button"
          class="quiet"
          onClick={() => {
            end(toast, true);
            void attempt(async () => toast.undo!());
          }}
        >
          {say('undo')}
        </button>
      )}
      {toast.next && (
        <a class="button quiet" href={toast.next.href} onClick={() => end(toast)}>
          {toast.next.text}
        </a>
      )}
      <button type="button" class="icon" aria-label={say('close')} onClick={() => end(toast)}>
        <Icon name="close" size={16} />
      </button>
    </div>
  );
}
