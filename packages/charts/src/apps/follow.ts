/** What an application shares with the dashboard around it: filters of the same members, the time zone, and new data. */
import type { Board } from '../board.ts';
import { visibilityOf } from '../presets.ts';
import { Problem } from '../types.ts';
import type { SetFilter } from './bridge.ts';

const controlsOf = (board: Board, member: string) =>
  board.filterWidgets().filter(({ config }) => config!.member === member);

/** The application as a board of its own, with the same viewer. */
export async function openApplication(around: Board, publicId: string): Promise<Board> {
  const dashboard = await around.published?.(publicId);
  if (dashboard?.config.kind !== 'APP' || dashboard.deploymentId !== around.dashboard?.deploymentId)
    throw new Problem(404, 'application_not_found', 'There is no application with this id.');
  const own = around.beside();
  own.show(dashboard);
  follow(own, around);
  return own;
}

export function follow(own: Board, around: Board) {
  const filters = new Map(own.filters);
  for (const { config } of own.filterWidgets()) {
    const member: string = config!.member;
    if (controlsOf(around, member).length === 0) continue;
    const given = around.filters.get(member);
    if (given) filters.set(member, given);
    else filters.delete(member);
  }
  const isSame =
    own.timezone === around.timezone && JSON.stringify([...filters]) === JSON.stringify([...own.filters]);
  own.timezone = around.timezone;
  own.filters = filters;
  own.askedAt = around.askedAt;
  if (own.round < around.round) {
    own.round = around.round - 1;
    own.refresh();
  } else if (!isSame) own.changed();
}

/** A filter that both have is set for the whole dashboard, if the viewer could set it there. */
export const sharing =
  (own: Board, around: Board): SetFilter =>
  (member, filter) => {
    const controls = controlsOf(around, member);
    if (controls.length === 0) own.setFilter(member, filter);
    else if (controls.some((widget) => visibilityOf(widget) === 'visible')) around.setFilter(member, filter);
  };
