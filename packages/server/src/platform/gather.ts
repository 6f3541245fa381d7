/**
 * Runs calls together that come while earlier ones run: a statement for many costs little more than one for
 * one. A call that comes alone is not held back.
 */
export function gather<Item, Result>(
  /** Answers for each item, in their order. */
  run: (items: Item[]) => Promise<Result[]>,
  { atOnce, size }: { atOnce: number; size: number },
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }
  const waiting: Waiting[] = [];
  let running = 0;

  async function runNext() {
    running++;
    while (waiting.length) {
      const batch = waiting.splice(0, size);
      try {
        const results = await run(batch.map(({ item }) => item));
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running--;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (running < atOnce) void runNext();
    });
}
