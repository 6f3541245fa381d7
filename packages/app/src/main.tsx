import { render } from 'preact';
import { App } from './app.tsx';
import { listenForKeys } from './commands.ts';
import { connect } from './data/api.ts';
import { personAccess, watchPerson } from './data/person-access.ts';
import { scheme, startLook } from './look.ts';
import { isEmbedded } from './place.ts';
import { preference } from './preferences.ts';
import { useLocale } from './texts/index.ts';

async function start() {
  if (isEmbedded) return (await import('./creator-main.tsx')).startEmbedded();
  connect(personAccess);
  watchPerson();
  scheme.value = preference('scheme') ?? 'auto';
  startLook();
  await useLocale(preference('language'), ...navigator.languages);
  listenForKeys();
  render(<App />, document.getElementById('page')!);
}

void start();
