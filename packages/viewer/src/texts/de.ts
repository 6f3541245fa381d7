import { texts as widgets } from '@oriel/charts/texts/de';
import type { Texts } from './en.ts';

export const texts: Texts = {
  ...widgets,
  notFound: 'Dieses Dashboard ist nicht verfügbar',
  notFoundHint:
    'Es wurde vielleicht entfernt, oder Sie haben keinen Zugriff. Fragen Sie die Betreiber dieser Seite.',
  waiting: 'Warten auf die Seite, die dieses Dashboard zeigt',
  waitingHint: 'Laden Sie die ganze Seite neu, um das Dashboard wieder zu sehen.',
  signedOut: 'Sie sind nicht angemeldet',
  signedOutHint: 'Melden Sie sich an, oder öffnen Sie die Seite, die dieses Dashboard zeigt.',
  signIn: 'Anmelden',
  ended: 'Diese Sitzung ist beendet',
  endedHint: 'Laden Sie die ganze Seite neu, um fortzufahren.',
  used: 'Dieser Link kann nicht mehr verwendet werden',
  clearAll: 'Alle Filter zurücksetzen',
  downloadAs: 'Als {format} herunterladen',
  downloadFailed: 'Die Datei konnte nicht erstellt werden. Versuchen Sie es später noch einmal.',
  byMail: 'Per Mail',
  subscribed: 'Sie bekommen es per Mail.',
  unsubscribed: 'Sie bekommen es nicht mehr.',
  subscribeFailed: 'Das konnte nicht geändert werden. Versuchen Sie es später noch einmal.',
};
