/** What is shown when a person leaves this browser, or another one has come. It is loaded when it is first needed. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { forgetOwn, hasUnsaved, savers } from '../drafts.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { say as sayApp } from '../texts/say.ts';
import { say } from './say.ts';

/** The page that replaces everything else, because that belongs to the person before. */
export function OtherPersonPage() {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    document.title = `${say('somebodyElse')} · ${sayApp('appName')}`;
    heading.current!.focus();
  }, []);
  return (
    <main>
      <div class="empty">
        <h1 ref={heading} tabIndex={-1}>
          {say('somebodyElse')}
        </h1>
        <p>{say('somebodyElseHint')}</p>
        <div class="actions">
          <a class="button primary" href="/">
            {say('toHome')}
          </a>
        </div>
      </div>
    </main>
  );
}

/** The longest wait for saving: a server that does not answer must not keep the person signed in. */
const SAVE_MAX_MS = 5000;

/**
 * Signs the person out. Unsaved drafts would stay readable in this browser, so the person decides about them; the rest
 * is removed.
 */
export async function leave(signOut: () => void) {
  const forget = () => {
    forgetOwn();
    signOut();
  };
  if (hasUnsaved()) {
    // What was typed a moment ago is about to be saved.
    const saved = Promise.all([...savers].map((save) => save()));
    await Promise.race([saved, new Promise((resolve) => setTimeout(resolve, SAVE_MAX_MS))]);
  }
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
