import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: 'Primeros pasos: {done} de {all}',
  hide: 'Ocultar',
  done: 'hecho',
  data: 'Conectar datos',
  dataHint: 'Indique dónde están sus datos. La demo tiene los suyos.',
  model: 'Esbozar un modelo',
  modelHint: 'Los cubos y las vistas nombran lo que significan sus tablas.',
  chart: 'Crear un primer gráfico',
  chartHint: 'Elija medidas y dimensiones, y guarde lo que encuentre.',
  dashboard: 'Publicar un panel',
  dashboardHint: 'Abra un libro suyo, coloque sus gráficos y publíquelo.',
  embed: 'Integrarlo',
  embedHint: 'Abra su libro y elija «Incrustar»: verá el panel como un cliente, y el código.',
  invite: 'Invitar a su equipo',
  inviteHint: 'Cada persona recibe un enlace para elegir una contraseña.',
  addDemo: 'Añadir la demo',
  addingDemo: 'Añadiendo la demo…',
  removeDemo: 'Quitar la demo',
  openDemo: 'Abrir la demo',
  demoAdded: 'La demo está lista. En unos segundos responderá a preguntas.',
  demoRemoved: 'La demo se ha quitado.',
  removeDemoHint:
    'Esto quita el despliegue de la demo con sus datos, modelo, informes y paneles, y todo lo que se hizo en él. Puede volver a añadir la demo.',
};
