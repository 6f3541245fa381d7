/** The entry for frames of other products. */
import { render } from 'preact';
import { App } from './app.tsx';
import { listenForKeys } from './commands.ts';
import { Gate } from './creator/gate.tsx';
import { startCreator } from './creator/session.ts';
import { startLook } from './look.ts';

export async function startEmbedded() {
  startLook();
  const started = startCreator();
  listenForKeys();
  render(
    <Gate>
      <App />
    </Gate>,
    document.getElementById('page')!,
  );
  await started;
}
