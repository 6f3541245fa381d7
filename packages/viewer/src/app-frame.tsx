/** Dashboards that are applications. They do not run yet. */
import { useEffect } from 'preact/hooks';
import type { App } from './app.ts';

export function AppFrame({ app }: { app: App }) {
  useEffect(() => app.rendered('app'), []);
  return (
    <main class="notice">
      <h1>{app.say('app')}</h1>
      <p>{app.say('appFailed')}</p>
    </main>
  );
}
