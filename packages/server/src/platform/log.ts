import { setTimeout as sleep } from 'node:timers/promises';
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type { Logger };

const CLOSE_WITHIN_MS = 1000;

/**
 * Lines are gathered and written in blocks, at least every second: a write for each request costs a third of
 * the throughput of a small one. What writes few lines writes them at once, so that none is lost when it is killed.
 */
export function createLogger(
  level: string,
  onOutputClosed: () => void = () => {},
  { atOnce = false }: { atOnce?: boolean } = {},
): Logger & { close(): Promise<void> } {
  const out = destination(
    atOnce ? { fd: 1, sync: true } : { fd: 1, sync: false, minLength: 8 * 1024, periodicFlush: 1000 },
  );
  // Without a listener, a log that can not be written would end the process.
  out.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') onOutputClosed();
  });
  const logger = pino({ level, base: undefined, timestamp: createTimestamp() }, out as DestinationStream);
  // Not flushSync: where nobody reads our output any more, it would try again for ever.
  const close = async () => {
    const written = new Promise((resolve) => out.flush(resolve));
    const done = new AbortController();
    // This keeps the process alive: it would end before its exit code is set if nothing else does.
    const late = sleep(CLOSE_WITHIN_MS, undefined, { signal: done.signal }).catch(() => {});
    await Promise.race([written, late]);
    done.abort();
    out.flushSync = () => {};
  };
  return Object.assign(logger, { close });
}

/** Pino's `isoTime`, written out once a millisecond: a busy server logs several lines in one. */
function createTimestamp(): () => string {
  let writtenAt = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== writtenAt) {
      writtenAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
