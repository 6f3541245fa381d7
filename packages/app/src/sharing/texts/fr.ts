import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: 'Partager « {name} »',
  who: 'Qui a accès',
  read: 'Peut voir',
  edit: 'Peut modifier',
  manage: 'Peut gérer',
  from_: 'de {name}',
  owner: 'Propriétaire',
  user: 'Personne',
  group: 'Groupe',
  role: 'Rôle',
  add: 'Ajouter des personnes, groupes ou rôles',
  searchPeople: 'Rechercher personnes, groupes et rôles',
  nobody: 'Personne d’autre que le propriétaire et les admins n’a encore accès.',
  remove: 'Retirer {name}',
  level: 'Accès de {name}',
  addSome: 'Ajouter des personnes ou des groupes',
  searchSome: 'Rechercher des personnes et des groupes',
  viewers:
    'Les autres membres de votre organisation voient les tableaux de bord publiés qu’il contient dès que vous le partagez avec eux ou avec un groupe.',
  noViewers: 'Il n’est encore partagé avec personne d’autre.',
  unnamed: 'N° {id}',
  tenant: 'Toutes les personnes de votre organisation qui peuvent créer peuvent voir et modifier ceci.',
  noMatch: 'Personne trouvé',
};
