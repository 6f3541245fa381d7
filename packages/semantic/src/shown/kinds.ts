/** What the names of members mean, without a query. */
import type { Cube, Model } from '../model.ts';
import { definitionOf, findMember, isOpenTo, type Member, memberOf } from '../plan/members.ts';
import type { Viewer } from '../plan/viewer.ts';
import { type ShownMember, showMember } from './annotations.ts';

export type MemberKind = 'measure' | 'dimension' | 'time' | 'segment';

/**
 * Returns the kind of a member; undefined if queries cannot use the name. Without a viewer, as if policies opened all.
 */
export function kindOfMember(model: Model, name: string, viewer: Viewer | undefined): MemberKind | undefined {
  const found = findNamed(model, name, viewer);
  if (found?.kind === 'dimension' && found.dimension.type === 'time') return 'time';
  return found?.kind;
}

/** Title, type and format. Undefined where `kindOfMember` is. */
export function describeMember(
  model: Model,
  name: string,
  viewer: Viewer | undefined,
): ShownMember | undefined {
  const found = findNamed(model, name, viewer);
  return found && showMember(model, found);
}

function findNamed(model: Model, name: string, viewer: Viewer | undefined): Member | undefined {
  const [owner, own, ...rest] = name.split('.');
  if (!owner || !own || rest.length) return undefined;
  return viewer ? findOpen(model, owner, own, viewer) : findPublic(model, owner, own);
}

function findOpen(model: Model, owner: string, name: string, viewer: Viewer): Member | undefined {
  const found = findMember(model, owner, name, viewer);
  const view = model.views.get(owner);
  return found && isOpenTo(found.cube, viewer) && (!view || isOpenTo(view, viewer)) ? found : undefined;
}

function findPublic(model: Model, owner: string, name: string): Member | undefined {
  const view = model.views.get(owner);
  if (view) {
    const included = view.public ? view.members.get(name) : undefined;
    return included?.public
      ? memberOf(model.cubes.get(included.cube)!, included.member, included.path, `${owner}.${name}`)
      : undefined;
  }
  const cube: Cube | undefined = model.cubes.get(owner);
  const member = cube?.public ? memberOf(cube, name, [owner], `${owner}.${name}`) : undefined;
  return member && definitionOf(member).public ? member : undefined;
}
