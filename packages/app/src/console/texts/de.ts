import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  admin: 'Verwaltung',
  data: 'Daten',
  sources: 'Datenquellen',
  models: 'Datenmodell',
  policies: 'Richtlinien',
  operations: 'Betrieb',
  auditLog: 'Prüfprotokoll',
  more: 'Mehr anzeigen',
  all: 'Alle',
  details: 'Einzelheiten',
  actions: 'Aktionen',
  download: 'Herunterladen',
};
