import type { Texts } from '../../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  auditHint: 'Quién cambió qué, lo más reciente primero. Los secretos están ocultos.',
  noEntries: 'Ninguna entrada coincide',
  time: 'Hora',
  operation: 'Operación',
  resource: 'Recurso',
  resourceType: 'Tipo de recurso',
  user: 'Usuario',
  userNumber: 'Número del usuario',
  apiKey: 'Clave de API',
  address: 'Dirección',
  request: 'Solicitud',
  tenant: 'Inquilino de inserción',
  from: 'Desde',
  until: 'Antes de',
  field: 'Campo',
  before: 'Antes',
  after: 'Después',
  noFields: 'Esta entrada no cambió ningún campo.',
  exportEntries: 'Exportar',
};
