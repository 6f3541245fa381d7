/**
 * Runs calls together if they come while earlier calls run, because one statement for many items costs little more than
 * a statement for one. A single call does not wait.
 */
export function batchCalls<Item, Result>(
  /** Returns one result for each item, in the same order. */
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
