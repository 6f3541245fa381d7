/** Bytes that arrive from a process, for one reader. */

export interface ByteQueue extends AsyncIterable<Buffer> {
  /** `taken` is called when the reader takes these bytes. */
  push(bytes: Buffer, taken: () => void): void;
  end(): void;
  fail(error: Error): void;
}

/** `onLeave` is called if the reader stops before the end. */
export function createByteQueue(onLeave: () => void): ByteQueue {
  const waiting: { bytes: Buffer; taken: () => void }[] = [];
  let isOver = false;
  let failure: Error | undefined;
  let wake = () => {};

  async function* read() {
    try {
      for (;;) {
        const next = waiting.shift();
        if (next) {
          next.taken();
          yield next.bytes;
        } else if (failure) throw failure;
        else if (isOver) return;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      if (!isOver) onLeave();
    }
  }

  return {
    push(bytes, taken) {
      waiting.push({ bytes, taken });
      wake();
    },
    end() {
      isOver = true;
      wake();
    },
    fail(error) {
      isOver = true;
      failure = error;
      // Drops bytes that nobody has read: the reader must get the error, and not an incomplete answer.
      waiting.length = 0;
      wake();
    },
    [Symbol.asyncIterator]: read,
  };
}
