import type { Texts } from '../../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  auditHint: 'Qui a changé quoi, du plus récent au plus ancien. Les secrets sont masqués.',
  noEntries: 'Aucune entrée ne correspond',
  time: 'Heure',
  operation: 'Opération',
  resource: 'Ressource',
  resourceType: 'Type de ressource',
  user: 'Utilisateur',
  userNumber: 'Numéro de l’utilisateur',
  apiKey: 'Clé d’API',
  address: 'Adresse',
  request: 'Requête',
  tenant: 'Locataire d’intégration',
  from: 'Du',
  until: 'Avant le',
  field: 'Champ',
  before: 'Avant',
  after: 'Après',
  noFields: 'Cette entrée n’a changé aucun champ.',
  exportEntries: 'Exporter',
};
