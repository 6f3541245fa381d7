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
};
