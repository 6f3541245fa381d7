import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  somebodyElse: 'Jetzt ist jemand anderes angemeldet',
  somebodyElseHint:
    'In einem anderen Tab dieses Browsers hat sich jemand anderes angemeldet. In deren Namen wurde nichts gespeichert. Was Sie an einem Dashboard noch nicht gespeichert hatten, wartet in diesem Browser, bis Sie sich wieder anmelden.',
  toHome: 'Zur Startseite',
  notSaved: 'Nicht alles ist gespeichert',
  notSavedHint:
    'Dieser Browser bewahrt Änderungen an einem Dashboard auf, die noch nicht gespeichert werden konnten. Sie warten hier zwei Wochen, und wer diesen Browser benutzt, kann sie lesen.',
  forget: 'Löschen und abmelden',
  keep: 'Behalten und abmelden',
};
