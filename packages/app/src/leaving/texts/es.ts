import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  somebodyElse: 'Ahora ha iniciado sesión otra persona',
  somebodyElseHint:
    'En otra pestaña de este navegador ha iniciado sesión otra persona. No se ha guardado nada en su nombre. Lo que usted no había guardado de un panel espera en este navegador hasta que vuelva a iniciar sesión.',
  toHome: 'Ir al inicio',
  notSaved: 'No todo está guardado',
  notSavedHint:
    'Este navegador conserva cambios de un panel que aún no se han podido guardar. Esperan aquí dos semanas, y quien use este navegador puede leerlos.',
  forget: 'Eliminarlos y cerrar sesión',
  keep: 'Conservarlos y cerrar sesión',
};
