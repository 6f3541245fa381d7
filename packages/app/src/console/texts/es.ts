import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  admin: 'Administración',
  data: 'Datos',
  sources: 'Fuentes de datos',
  models: 'Modelo de datos',
  policies: 'Políticas',
  operations: 'Operaciones',
  auditLog: 'Registro de auditoría',
  more: 'Mostrar más',
  all: 'Todos',
  details: 'Detalles',
  actions: 'Acciones',
  download: 'Descargar',
};
