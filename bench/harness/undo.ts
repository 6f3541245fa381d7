/** What a benchmark started, undone in reverse: at its end, when it fails, and on Ctrl-C. */
const steps: (() => Promise<void> | void)[] = [];

/** To be called in the same turn as what it undoes, so that no signal comes in between. */
export const undoAtEnd = (step: () => Promise<void> | void) => void steps.push(step);

let running: Promise<void> | undefined;

export function undoAll(): Promise<void> {
  running ??= undo().finally(() => {
    running = undefined;
  });
  return running;
}

async function undo() {
  for (let step = steps.pop(); step; step = steps.pop()) {
    try {
      await step();
    } catch (error) {
      console.error('Could not clean up:', error);
    }
  }
}
