/** What is shown when a person leaves this browser, or another one has come. It is loaded when it is first needed. */
import { forgetOwn, hasUnsaved } from '../drafts.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { say } from './say.ts';

/** In place of everything else, because that belongs to the person before. */
export const SomebodyElse = () => (
  <main>
    <div class="empty">
      <h1>{say('somebodyElse')}</h1>
      <p>{say('somebodyElseHint')}</p>
      <div class="actions">
        <a class="button primary" href="/">
          {say('toHome')}
        </a>
      </div>
    </div>
  </main>
);

/** What is not saved yet stays legible in this browser, so the person decides about it. The rest goes with them. */
export async function leave(signOut: () => void) {
  const forget = () => {
    forgetOwn();
    signOut();
  };
  if (!hasUnsaved()) return forget();
  await say.ready();
  openDialog((close) => (
    <Dialog title={say('notSaved')} onClose={close}>
      <p>{say('notSavedHint')}</p>
      <div class="dialog-foot">
        <button type="button" onClick={forget}>
          {say('forget')}
        </button>
        <button type="button" class="primary" onClick={signOut}>
          {say('keep')}
        </button>
      </div>
    </Dialog>
  ));
}
