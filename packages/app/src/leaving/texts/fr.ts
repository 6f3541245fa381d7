import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  somebodyElse: 'Quelqu’un d’autre est maintenant connecté',
  somebodyElseHint:
    'Quelqu’un d’autre s’est connecté dans un autre onglet de ce navigateur. Rien n’a été enregistré en son nom. Ce que vous n’aviez pas encore enregistré d’un tableau de bord attend dans ce navigateur que vous vous reconnectiez.',
  toHome: 'Aller à l’accueil',
  notSaved: 'Tout n’est pas enregistré',
  notSavedHint:
    'Ce navigateur conserve des modifications d’un tableau de bord qui n’ont pas encore pu être enregistrées. Elles attendent ici deux semaines, et quiconque utilise ce navigateur peut les lire.',
  forget: 'Les supprimer et se déconnecter',
  keep: 'Les conserver et se déconnecter',
};
