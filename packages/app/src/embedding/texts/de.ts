import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: '„{name}“ einbetten',
  back: 'Zurück zur Arbeitsmappe',
  access: 'Wer es in Ihrem Produkt sehen darf',
  allowEmbed: 'Dieses Dashboard darf eingebettet werden',
  allTenants: 'Alle, in jedem Embed-Mandanten',
  tenantAccess: 'Embed-Mandanten mit eigener Regel',
  mayRead: 'Darf es sehen',
  mayNot: 'Darf es nicht sehen',
  tenantName: 'Embed-Mandant',
  addTenant: 'Hinzufügen',
  removeTenant: 'Regel von {name} entfernen',
  viewer: 'Ein Betrachter zum Ausprobieren',
  viewerHint:
    'Ihr Backend sendet dieselben Felder. Beim Ausprobieren wird dieser Betrachter angelegt oder geändert.',
  externalId: 'Externe Kennung',
  displayName: 'Anzeigename',
  groups: 'Gruppen, durch Kommas getrennt',
  attributes: 'Attribute, eines je Zeile: name = wert',
  attributesBad: 'Zeile {line} hat kein „=“.',
  show: 'Dashboard als dieser Betrachter zeigen',
  showing: 'Wird geöffnet…',
  preview: 'Das Dashboard, wie {name} es sieht',
  previewEmpty:
    'Beschreiben Sie einen Betrachter und zeigen Sie das Dashboard: hier steht live, was er sehen wird.',
  missing: 'Was noch fehlt',
  nothingMissing: 'Es fehlt nichts: der Code unten funktioniert, wie er ist.',
  notPublished: 'Das Dashboard ist nicht veröffentlicht. Veröffentlichen Sie es zuerst im Editor.',
  notAllowed: 'Das Einbetten ist für dieses Dashboard ausgeschaltet. Schalten Sie es oben ein.',
  noAccess: 'Der Embed-Mandant „{name}“ darf es nicht sehen. Ändern Sie das oben.',
  noOrigins:
    'Es sind keine erlaubten Ursprünge gesetzt, also darf jede Seite Ihre Dashboards einbetten. Nennen Sie Ihre Seiten in den Einstellungen des Kontos.',
  noPolicies:
    'Cubes ohne Datenrichtlinie sind für eingebettete Betrachter geschlossen. Bleiben Diagramme leer, ergänzen Sie Richtlinien im Modell.',
  code: 'Der Code',
  backend: 'Ihr Backend',
  page: 'Ihre Seite',
  backendHint: 'Der API-Schlüssel bleibt in Ihrem Backend; der Betrachter kommt aus Ihrer eigenen Anmeldung.',
  pageHint: '„/session“ ist die Adresse Ihres Backends, die die Sitzungskennung liefert.',
  copy: 'Code kopieren',
  copied: 'Kopiert.',
  element: 'HTML-Element',
  react: 'React',
};
