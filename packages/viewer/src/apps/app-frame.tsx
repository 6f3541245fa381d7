/**
 * Shows a dashboard that is an application. The frame has no origin: it can not reach this page, its token, or anything that
 * the browser stores. The policy of `/embed/app-frame` leaves it no network. Rows come from this page, by messages.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { App } from '../app.ts';
import { type Bridge, connectApp, describe, settingsOf } from './bridge.ts';
import type { Start } from './messages.ts';

export function AppFrame({ app }: { app: App }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const bridge = useRef<Bridge | undefined>(undefined);
  const [isStopped, setStopped] = useState(false);
  const settings = settingsOf(app);
  const key = JSON.stringify([settings, app.round]);

  useEffect(() => bridge.current?.changed(settings), [key]);
  useEffect(() => () => bridge.current?.close(), []);

  /** Starts once. If the application leaves its page, the next page in the frame gets no port. */
  function start() {
    if (bridge.current) return;
    const { port1, port2 } = new MessageChannel();
    bridge.current = connectApp(app, port1, {
      onStarted: () => app.rendered('app'),
      onStopped: () => setStopped(true),
    });
    const { entry, files, html } = app.dashboard!.config.app ?? {};
    const message: Start = {
      source: { entry: entry ?? null, files: files ?? null, html: html ?? null },
      dashboard: describe(app),
      settings,
    };
    // A frame without an origin can not be named as the receiver. `frame-src` lets it hold pages of this server only.
    frame.current!.contentWindow!.postMessage(message, '*', [port2]);
  }

  useEffect(() => {
    if (isStopped) app.rendered('app');
  }, [isStopped]);

  if (isStopped)
    return (
      <main class="notice">
        <h1>{app.say('appStopped')}</h1>
        <p>{app.say('appStoppedHint')}</p>
      </main>
    );
  return (
    <main class="app">
      <iframe
        ref={frame}
        title={app.title}
        src="/embed/app-frame"
        sandbox="allow-scripts"
        referrerpolicy="no-referrer"
        onLoad={start}
      />
    </main>
  );
}
