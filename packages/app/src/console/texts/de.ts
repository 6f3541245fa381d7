import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  admin: 'Verwaltung',
  operations: 'Betrieb',
  auditLog: 'Prüfprotokoll',
  more: 'Mehr anzeigen',
  all: 'Alle',
  details: 'Einzelheiten',
  actions: 'Aktionen',
  download: 'Herunterladen',
};
