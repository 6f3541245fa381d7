/** Asks before something is lost, or much is changed. */
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { attempt } from '../parts/toasts.tsx';
import { say as sayAll } from '../texts/say.ts';

export function confirm(
  title: string,
  text: string,
  run: () => Promise<unknown>,
  { isDangerous = true }: { isDangerous?: boolean } = {},
) {
  openDialog((close) => (
    <Dialog title={title} onClose={close}>
      <p>{text}</p>
      <div class="dialog-foot">
        <button type="button" onClick={close}>
          {sayAll('cancel')}
        </button>
        <button
          type="button"
          class={isDangerous ? 'primary bad' : 'primary'}
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
