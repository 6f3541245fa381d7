/** Dialogs: the browser keeps the focus inside, closes them by Escape, and gives the focus back. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { say } from '../texts/say.ts';
import { Icon } from './icons.tsx';

export interface DialogProps {
  title: string;
  onClose(): void;
  /** `wide` for tables and previews. */
  size?: 'small' | 'wide';
  children: ComponentChildren;
}

export function Dialog({ title, onClose, size = 'small', children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    dialog.showModal();
    if (!dialog.querySelector('[autofocus]')) firstField(dialog)?.focus();
    return () => {
      // Nothing outside of an open dialog takes the focus, and its owner knows already that it closes.
      dialog.addEventListener('close', (event) => event.stopImmediatePropagation(), { capture: true });
      dialog.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${size}`}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="icon" aria-label={say('close')} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** The field that a dialog begins with. Where there is something to read or to choose before, nothing is passed over. */
function firstField(dialog: HTMLDialogElement): HTMLElement | undefined {
  const first = dialog.querySelectorAll<HTMLElement>(FOCUSABLE)[1];
  return first?.matches('input, textarea') ? first : undefined;
}

type DialogEntry = { id: number; view(close: () => void): ComponentChildren };
const opened = signal<readonly DialogEntry[]>([]);
let ids = 0;

/** Shows a dialog from anywhere: `openDialog((close) => <Dialog title="…" onClose={close}>…</Dialog>)`. */
export function openDialog(view: DialogEntry['view']): () => void {
  const one = { id: ++ids, view };
  opened.value = [...opened.peek(), one];
  return () => {
    opened.value = opened.peek().filter((other) => other !== one);
  };
}

export const Dialogs = () => (
  <>
    {opened.value.map((one) => (
      <DialogEntry key={one.id} one={one} />
    ))}
  </>
);

const DialogEntry = ({ one }: { one: DialogEntry }) => (
  <>
    {one.view(() => {
      opened.value = opened.peek().filter((other) => other !== one);
    })}
  </>
);

/** Asks for one line of text. The form is sent by Enter. */
export function askText(question: {
  title: string;
  label: string;
  action: string;
  value?: string;
  maxLength?: number;
  onAnswer(text: string): unknown;
}) {
  openDialog((close) => <AskText {...question} onClose={close} />);
}

function AskText({
  title,
  label,
  action,
  value = '',
  maxLength = 255,
  onAnswer,
  onClose,
}: Parameters<typeof askText>[0] & { onClose(): void }) {
  const input = useRef<HTMLInputElement>(null);
  const inputId = useId();
  useLayoutEffect(() => input.current?.select(), []);
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = input.current!.value.trim();
          if (!text) return input.current!.focus();
          onClose();
          onAnswer(text);
        }}
      >
        <label class="field" for={inputId}>
          <span>{label}</span>
          <input
            ref={input}
            id={inputId}
            autoFocus
            required
            autocomplete="off"
            maxLength={maxLength}
            defaultValue={value}
          />
        </label>
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            {say('cancel')}
          </button>
          <button type="submit" class="primary">
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
