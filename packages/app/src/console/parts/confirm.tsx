/** Asks before something is done that ends or changes something, and shows a secret once. */
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toasts.tsx';
import { say as sayAll } from '../../texts/say.ts';
import { say } from '../say.ts';

interface Question {
  title: string;
  hint?: string;
  action: string;
  /** Whether the action takes something away. Most that are asked about do. */
  isDangerous?: boolean;
  run(): unknown;
}

export function confirm({ isDangerous = true, ...question }: Question) {
  openDialog((close) => (
    <Dialog title={question.title} onClose={close}>
      {question.hint && <p>{question.hint}</p>}
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          {sayAll('cancel')}
        </button>
        <button
          type="button"
          class={isDangerous ? 'primary bad' : 'primary'}
          onClick={() => {
            close();
            void question.run();
          }}
        >
          {question.action}
        </button>
      </div>
    </Dialog>
  ));
}

/** A text to paste elsewhere, with a button that copies it. */
export const CopyField = ({ label, value }: { label: string; value: string }) => (
  <div class="copy-field">
    <label class="field">
      <span>{label}</span>
      <input readOnly value={value} onFocus={(event) => event.currentTarget.select()} />
    </label>
    <button
      type="button"
      aria-label={`${say('copy')}: ${label}`}
      onClick={() => void navigator.clipboard.writeText(value).then(() => toast(say('copied')))}
    >
      {say('copy')}
    </button>
  </div>
);

export function showOnce(title: string, label: string, value: string) {
  openDialog((close) => (
    <Dialog title={title} onClose={close}>
      <p>{say('shownOnce')}</p>
      <CopyField label={label} value={value} />
    </Dialog>
  ));
}
