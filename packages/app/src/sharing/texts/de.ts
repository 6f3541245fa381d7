import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: '„{name}“ freigeben',
  who: 'Wer Zugriff hat',
  read: 'Kann ansehen',
  edit: 'Kann bearbeiten',
  manage: 'Kann verwalten',
  from_: 'von {name}',
  owner: 'Eigentümer',
  user: 'Person',
  group: 'Gruppe',
  role: 'Rolle',
  add: 'Personen, Gruppen oder Rollen hinzufügen',
  searchPeople: 'Personen, Gruppen und Rollen suchen',
  nobody: 'Außer dem Eigentümer und Admins hat noch niemand Zugriff.',
  remove: '{name} entfernen',
  level: 'Zugriff von {name}',
  addSome: 'Personen oder Gruppen hinzufügen',
  searchSome: 'Personen und Gruppen suchen',
  viewers:
    'Andere in Ihrer Organisation sehen die veröffentlichten Dashboards darin, sobald Sie es für sie oder für eine Gruppe freigeben.',
  noViewers: 'Es ist noch für niemand anderen freigegeben.',
  unnamed: 'Nr. {id}',
  tenant: 'Alle in Ihrer Organisation, die Inhalte anlegen dürfen, können dies sehen und ändern.',
  noMatch: 'Niemand gefunden',
};
