import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: 'Erste Schritte: {done} von {all} erledigt',
  hide: 'Ausblenden',
  done: 'erledigt',
  data: 'Daten verbinden',
  dataHint: 'Sagen Sie diesem Deployment, wo Ihre Daten liegen. Die Demo hat eigene.',
  model: 'Ein Modell entwerfen',
  modelHint: 'Cubes und Views benennen, was Ihre Tabellen bedeuten.',
  chart: 'Ein erstes Diagramm',
  chartHint: 'Wählen Sie Kennzahlen und Dimensionen und speichern Sie, was Sie finden.',
  dashboard: 'Ein Dashboard veröffentlichen',
  dashboardHint: 'Öffnen Sie eine eigene Arbeitsmappe, ordnen Sie die Diagramme an und veröffentlichen Sie.',
  embed: 'Einbetten',
  embedHint:
    'Öffnen Sie Ihre Arbeitsmappe und wählen Sie „Einbetten“: dort sehen Sie das Dashboard wie ein Kunde, und den Code.',
  invite: 'Das Team einladen',
  inviteHint: 'Jede Person bekommt einen Link, um ein Passwort zu wählen.',
  addDemo: 'Demo hinzufügen',
  addingDemo: 'Demo wird hinzugefügt …',
  removeDemo: 'Demo entfernen',
  openDemo: 'Demo öffnen',
  demoAdded: 'Die Demo ist da. In einigen Sekunden beantwortet sie Fragen.',
  demoRemoved: 'Die Demo ist entfernt.',
  removeDemoHint:
    'Das entfernt das Deployment der Demo mit Daten, Modell, Berichten und Dashboards, und alles, was darin gemacht wurde. Sie können die Demo wieder hinzufügen.',
};
