/**
 * Shows a dashboard that is an application. The frame has no origin: it cannot reach this page, its token, or anything that
 * the browser stores. The policy of `/embed/app-frame` leaves it no network. Rows come from this page, by messages.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { PageState } from '../page-state.ts';
import { type Bridge, connectApplication, describe, settingsOf } from './bridge.ts';
import type { Start } from './messages.ts';

export function ApplicationFrame({ page }: { page: PageState }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const bridge = useRef<Bridge | undefined>(undefined);
  const [isStopped, setStopped] = useState(false);
  const settings = settingsOf(page.board);
  const key = JSON.stringify([settings, page.board.round]);

  useEffect(() => bridge.current?.changed(settings), [key]);
  useEffect(() => () => bridge.current?.close(), []);

  /** Starts once. If the application leaves its page, the next page in the frame gets no port. */
  function start() {
    if (bridge.current) return;
    const { port1, port2 } = new MessageChannel();
    bridge.current = connectApplication(page.board, port1, {
      onStarted: () => page.board.rendered('app'),
      onStopped: () => setStopped(true),
    });
    const { entry, files, html } = page.board.dashboard!.config.app ?? {};
    const message: Start = {
      source: { entry: entry ?? null, files: files ?? null, html: html ?? null },
      dashboard: describe(page.board),
      settings,
    };
    // A frame without an origin cannot be named as the receiver. `frame-src` lets it hold pages of this server only.
    frame.current!.contentWindow!.postMessage(message, '*', [port2]);
  }

  useEffect(() => {
    if (isStopped) page.board.rendered('app');
  }, [isStopped]);

  if (isStopped)
    return (
      <main class="notice">
        <h1>{page.language.say('appStopped')}</h1>
        <p>{page.language.say('appStoppedHint')}</p>
      </main>
    );
  return (
    <main class="app">
      <iframe
        ref={frame}
        title={page.board.title}
        src="/embed/app-frame"
        sandbox="allow-scripts"
        referrerpolicy="no-referrer"
        onLoad={start}
      />
    </main>
  );
}
