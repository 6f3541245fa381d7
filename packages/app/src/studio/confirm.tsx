/** Asks before something is lost. */
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { attempt } from '../parts/toasts.tsx';
import { say as sayAll } from '../texts/say.ts';

export function confirm(title: string, text: string, run: () => Promise<unknown>) {
  openDialog((close) => (
    <Dialog title={title} onClose={close}>
      <p>{text}</p>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          {sayAll('cancel')}
        </button>
        <button
          type="button"
          class="primary bad"
          onClick={() => {
            close();
            void attempt(run);
          }}
        >
          {title}
        </button>
      </div>
    </Dialog>
  ));
}
