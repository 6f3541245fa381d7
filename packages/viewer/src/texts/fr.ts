import { texts as widgets } from '@oriel/charts/texts/fr';
import type { Texts } from './en.ts';

export const texts: Texts = {
  ...widgets,
  notFound: 'Ce tableau de bord n’est pas disponible',
  notFoundHint:
    'Il a peut-être été supprimé, ou vous n’y avez pas accès. Adressez-vous aux responsables de cette page.',
  waiting: 'En attente de la page qui affiche ce tableau de bord',
  waitingHint: 'Rechargez toute la page pour revoir le tableau de bord.',
  signedOut: 'Vous n’êtes pas connecté',
  signedOutHint: 'Connectez-vous, ou ouvrez la page qui affiche ce tableau de bord.',
  signIn: 'Se connecter',
  ended: 'Cette session est terminée',
  endedHint: 'Rechargez toute la page pour continuer.',
  used: 'Ce lien n’est plus utilisable',
  clearAll: 'Effacer tous les filtres',
  downloadAs: 'Télécharger en {format}',
  downloadFailed: 'Le fichier n’a pas pu être créé. Réessayez plus tard.',
  byMail: 'Par e-mail',
  subscribed: 'Vous le recevrez par e-mail.',
  unsubscribed: 'Vous ne le recevrez plus.',
  subscribeFailed: 'La modification a échoué. Réessayez plus tard.',
};
