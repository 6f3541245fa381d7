import type { Texts } from '../../texts/index.ts';
import type { en } from './en.ts';

export const texts: Texts<typeof en> = {
  title: 'Compartir «{name}»',
  who: 'Quién tiene acceso',
  read: 'Puede ver',
  edit: 'Puede editar',
  manage: 'Puede administrar',
  from_: 'de {name}',
  owner: 'Propietario',
  user: 'Persona',
  group: 'Grupo',
  role: 'Rol',
  add: 'Añadir personas, grupos o roles',
  searchPeople: 'Buscar personas, grupos y roles',
  nobody: 'Todavía nadie más que el propietario y los administradores tiene acceso.',
  remove: 'Quitar a {name}',
  level: 'Acceso de {name}',
  addSome: 'Añadir personas o grupos',
  searchSome: 'Buscar personas y grupos',
  viewers:
    'Otras personas de su organización ven los paneles publicados que contiene cuando lo comparte con ellas o con un grupo.',
  noViewers: 'Todavía no se ha compartido con nadie más.',
  unnamed: 'N.º {id}',
  tenant: 'Todas las personas de su organización que pueden crear pueden ver y cambiar esto.',
  noMatch: 'No se encontró a nadie',
};
