import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: 'Premiers pas : {done} sur {all}',
  hide: 'Masquer',
  done: 'fait',
  data: 'Connecter des données',
  dataHint: 'Indiquez où se trouvent vos données. La démo a les siennes.',
  model: 'Ébaucher un modèle',
  modelHint: 'Les cubes et les vues nomment ce que vos tables signifient.',
  chart: 'Créer un premier graphique',
  chartHint: 'Choisissez mesures et dimensions, puis enregistrez vos trouvailles.',
  dashboard: 'Publier un tableau de bord',
  dashboardHint: 'Ouvrez un classeur, disposez ses graphiques et publiez.',
  embed: 'L’intégrer',
  embedHint:
    'Ouvrez votre classeur et choisissez « Intégrer » : le tableau de bord vu par un client, et le code.',
  invite: 'Inviter votre équipe',
  inviteHint: 'Chaque personne reçoit un lien pour choisir un mot de passe.',
  addDemo: 'Ajouter la démo',
  addingDemo: 'Ajout de la démo…',
  removeDemo: 'Retirer la démo',
  openDemo: 'Ouvrir la démo',
  demoAdded: 'La démo est là. Elle répondra aux questions dans quelques secondes.',
  demoRemoved: 'La démo est retirée.',
  removeDemoHint:
    'Cela retire le déploiement de la démo avec ses données, son modèle, ses rapports et ses tableaux de bord, et tout ce qui y a été fait. Vous pouvez ajouter la démo de nouveau.',
};
