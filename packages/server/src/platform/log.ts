import { setTimeout as sleep } from 'node:timers/promises';
import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type { Logger };

const CLOSE_WITHIN_MS = 1000;

/**
 * Lines are collected and written in blocks, at least every second, because one write per request costs a third of the
 * throughput of small requests. A process that writes few lines uses `atOnce`, so that no line is lost if it is killed.
 */
export function createLogger(
  level: string,
  onOutputClosed: () => void = () => {},
  { atOnce = false }: { atOnce?: boolean } = {},
): Logger & { close(): Promise<void> } {
  const out = destination(
    atOnce ? { fd: 1, sync: true } : { fd: 1, sync: false, minLength: 8 * 1024, periodicFlush: 1000 },
  );
  // Without this listener, a failed write to the log would end the process.
  out.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') onOutputClosed();
  });
  const logger = pino({ level, base: undefined, timestamp: createTimestamp() }, out as DestinationStream);
  // Does not use flushSync, which would retry forever if nobody reads our output any more.
  const close = async () => {
    const written = new Promise((resolve) => out.flush(resolve));
    const done = new AbortController();
    // The timer keeps the process alive. Otherwise it could end before its exit code is set.
    const late = sleep(CLOSE_WITHIN_MS, undefined, { signal: done.signal }).catch(() => {});
    await Promise.race([written, late]);
    done.abort();
    out.flushSync = () => {};
  };
  return Object.assign(logger, { close });
}

/**
 * Like Pino's `isoTime`, but formats the time once per millisecond, because a busy server logs several lines in a
 * millisecond.
 */
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
