import { texts as widgets } from '@oriel/charts/texts/es';
import type { Texts } from './en.ts';

export const texts: Texts = {
  ...widgets,
  notFound: 'Este panel no está disponible',
  notFoundHint:
    'Puede que se haya eliminado o que no tenga acceso. Consulte a los responsables de esta página.',
  waiting: 'Esperando a la página que muestra este panel',
  waitingHint: 'Recargue toda la página para volver a ver el panel.',
  signedOut: 'No ha iniciado sesión',
  signedOutHint: 'Inicie sesión o abra la página que muestra este panel.',
  signIn: 'Iniciar sesión',
  ended: 'Esta sesión ha terminado',
  endedHint: 'Recargue toda la página para continuar.',
  used: 'Este enlace ya no se puede usar',
  clearAll: 'Borrar todos los filtros',
  downloadAs: 'Descargar como {format}',
  downloadFailed: 'No se pudo crear el archivo. Inténtelo más tarde.',
  byMail: 'Por correo',
  subscribed: 'Lo recibirá por correo.',
  unsubscribed: 'Ya no lo recibirá.',
  subscribeFailed: 'No se pudo cambiar. Inténtelo más tarde.',
};
