import { chartLocale } from '../src/vega/locale.ts';
import { createView } from '../src/vega/runtime.ts';

/** Draws a chart by Vega itself. Returns why it was refused while it ran, if it was. */
export async function problemOf(spec: object): Promise<string | undefined> {
  let problem: string | undefined;
  const refuse = ({ message }: Error) => {
    problem = message;
  };
  const view = createView(spec, {}, chartLocale('en', 'EUR'), () => ({}), refuse, 'none');
  await view.runAsync();
  // Drawings can begin others, for which nobody waits.
  await new Promise((resolve) => setTimeout(resolve, 0));
  view.finalize();
  return problem;
}
