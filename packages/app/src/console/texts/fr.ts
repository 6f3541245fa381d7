import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  admin: 'Administration',
  data: 'Données',
  sources: 'Sources de données',
  models: 'Modèle de données',
  policies: 'Règles d’accès',
  operations: 'Exploitation',
  auditLog: 'Journal d’audit',
  more: 'Afficher plus',
  all: 'Tous',
  details: 'Détails',
  actions: 'Actions',
  download: 'Télécharger',
};
