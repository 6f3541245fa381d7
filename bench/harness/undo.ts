/** Undoes in reverse order what a benchmark started: at its end, when it fails, and on Ctrl-C. */
const steps: (() => Promise<void> | void)[] = [];

/** Call it in the same turn of the event loop as the action that it undoes, so that no signal comes in between. */
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
