import type { Texts } from '../../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  auditHint: 'Wer was geändert hat, das Neueste zuerst. Geheimnisse sind verdeckt.',
  noEntries: 'Kein Eintrag passt',
  time: 'Zeit',
  operation: 'Vorgang',
  resource: 'Gegenstand',
  resourceType: 'Art des Gegenstands',
  user: 'Benutzer',
  userNumber: 'Nummer des Benutzers',
  apiKey: 'API-Schlüssel',
  address: 'Adresse',
  request: 'Anfrage',
  tenant: 'Einbettungsmandant',
  from: 'Von',
  until: 'Bis vor',
  field: 'Feld',
  before: 'Vorher',
  after: 'Nachher',
  noFields: 'Dieser Eintrag hat kein Feld geändert.',
  exportEntries: 'Exportieren',
};
