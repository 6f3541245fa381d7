/**
 * Runs an application: a published dashboard of the kind `APP`. The frame has no origin: it cannot reach this page, its token,
 * or anything that the browser stores. The policy of `/embed/app-frame` leaves it no network. Rows come from this page, by
 * messages.
 */
import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Board } from '../board.ts';
import { type Bridge, connectApplication, describe, type SetFilter, settingsOf } from './bridge.ts';
import type { Start } from './messages.ts';

export function ApplicationFrame({
  board,
  onRendered,
  setFilter = (member, filter) => board.setFilter(member, filter),
}: {
  /** The board of the application, whose charts are the data that it can ask for. */
  board: Board;
  /** Called when the application has drawn what it asked for first, or was stopped. */
  onRendered(): void;
  setFilter?: SetFilter | undefined;
}) {
  const frame = useRef<HTMLIFrameElement>(null);
  const bridge = useRef<Bridge | undefined>(undefined);
  const startedIn = useRef<Window | null>(null);
  const [isStopped, setStopped] = useState(false);
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const settings = settingsOf(board);
  const key = JSON.stringify([settings, board.round]);

  useEffect(() => board.subscribe(() => redraw(undefined)), [board]);
  useEffect(() => bridge.current?.changed(settings), [key]);
  useEffect(() => () => bridge.current?.close(), []);

  /**
   * Starts once in each window. If the application leaves its page, the next page is in the same window, and gets no port.
   * If the frame moves in the document, some browsers close its window and load `src` into a new one. Only the page around
   * it can bring that about.
   */
  function start() {
    const { contentWindow } = frame.current!;
    if (contentWindow === startedIn.current) return;
    startedIn.current = contentWindow;
    bridge.current?.close();
    const { port1, port2 } = new MessageChannel();
    bridge.current = connectApplication(board, port1, {
      onStarted: onRendered,
      onStopped: () => setStopped(true),
      setFilter,
    });
    const { entry, files, html } = board.dashboard!.config.app ?? {};
    const message: Start = {
      source: { entry: entry ?? null, files: files ?? null, html: html ?? null },
      dashboard: describe(board),
      settings,
    };
    // A frame without an origin cannot be named as the receiver. `frame-src` lets it hold pages of this server only.
    contentWindow!.postMessage(message, '*', [port2]);
  }

  useEffect(() => {
    if (isStopped) onRendered();
  }, [isStopped]);

  if (isStopped)
    return (
      <div class="empty" role="alert">
        <strong>{board.say('appStopped')}</strong>
        <span>{board.say('appStoppedHint')}</span>
      </div>
    );
  return (
    <iframe
      ref={frame}
      class="application"
      title={board.title}
      src="/embed/app-frame"
      sandbox="allow-scripts"
      referrerpolicy="no-referrer"
      onLoad={start}
    />
  );
}
