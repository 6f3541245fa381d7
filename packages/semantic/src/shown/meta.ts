/** What a viewer can query: the cubes and views of a model with the members that are open to the viewer. */
import type { Cube, Json, Model, View, ViewFolder } from '../model.ts';
import {
  definitionOf,
  existsFor,
  findMember,
  isOpenTo,
  type MeasureMember,
  type Member,
  memberNamesOf,
} from '../plan/members.ts';
import type { Viewer } from '../plan/viewer.ts';
import { drillMembersOf, type ShownMember, showMember } from './annotations.ts';
import { type ShownGranularity, shownGranularity, titleOf } from './titles.ts';

export interface MetaCube {
  readonly name: string;
  readonly title: string;
  readonly type: 'cube' | 'view';
  readonly description?: string;
  readonly meta?: Json;
  readonly public: true;
  readonly isVisible: true;
  /** Cubes with the same number can be combined in a query. */
  readonly connectedComponent?: number;
  readonly measures: readonly MetaMeasure[];
  readonly dimensions: readonly MetaDimension[];
  readonly segments: readonly MetaMember[];
  readonly hierarchies: readonly MetaHierarchy[];
  /** Without the folders in them, whose members are theirs too. */
  readonly folders: readonly { readonly name: string; readonly members: readonly string[] }[];
  readonly nestedFolders: readonly MetaFolder[];
}

export interface MetaMember extends Omit<ShownMember, 'granularity'> {
  readonly name: string;
  readonly public: true;
  readonly isVisible: true;
  /** In a view, the member of the cube. */
  readonly aliasMember?: string;
}

export interface MetaMeasure extends MetaMember {
  readonly aggType: string;
  readonly cumulative: boolean;
  readonly cumulativeTotal: boolean;
  readonly drillMembers: readonly string[];
  readonly drillMembersGrouped: {
    readonly measures: readonly string[];
    readonly dimensions: readonly string[];
  };
}

export interface MetaDimension extends MetaMember {
  readonly primaryKey: boolean;
  readonly suggestFilterValues: true;
  readonly granularities?: readonly ShownGranularity[];
}

export interface MetaFolder {
  readonly name: string;
  readonly members: readonly (string | MetaFolder)[];
}

export interface MetaHierarchy {
  readonly name: string;
  readonly title: string;
  readonly levels: readonly string[];
  readonly public: true;
}

/** Leaves out what policies hide, and what no policy opens to the viewer. */
export const metaOf = (model: Model, viewer: Viewer): MetaCube[] => {
  let text = '';
  for (const piece of metaText(model, viewer)) text += piece;
  return JSON.parse(text);
};

/**
 * JSON of what a viewer can query, in pieces. Each piece is little work, so that a large model does not block the
 * process.
 */
export function* metaText(model: Model, viewer: Viewer, { onlyViews = false } = {}): Generator<string> {
  let separator = '[';
  const components = connectedComponents(model, viewer);
  for (const owner of [...(onlyViews ? [] : model.cubes.values()), ...model.views.values()]) {
    if (!owner.public || !isOpenTo(owner, viewer)) {
      yield '';
      continue;
    }
    const found = yield* membersOf(model, viewer, owner);
    if (!found.length) continue;
    const component = 'members' in owner ? undefined : components.get(owner.name);
    yield `${separator}${headOf(owner, component)}`;
    yield* listsOf(model, viewer, owner, found);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** How many members make a piece. */
const TOGETHER = 100;

function* membersOf(model: Model, viewer: Viewer, owner: Cube | View): Generator<string, Member[]> {
  const found: Member[] = [];
  for (const [i, name] of memberNamesOf(owner).entries()) {
    const member = findMember(model, owner.name, name, viewer);
    if (member && isOpenTo(member.cube, viewer)) found.push(member);
    if (i % TOGETHER === 0) yield '';
  }
  return found;
}

/** The beginning of the JSON of a cube or view, without the closing brace. */
const headOf = (owner: Cube | View, connectedComponent: number | undefined): string =>
  JSON.stringify({
    name: owner.name,
    title: titleOf(owner),
    type: 'members' in owner ? 'view' : 'cube',
    ...(owner.description === undefined ? {} : { description: owner.description }),
    ...(owner.meta === undefined ? {} : { meta: owner.meta }),
    public: true,
    isVisible: true,
    connectedComponent,
  }).slice(0, -1);

function* listsOf(
  model: Model,
  viewer: Viewer,
  owner: Cube | View,
  found: readonly Member[],
): Generator<string> {
  const visible = new Set(found.map(({ key }) => key));
  const isView = 'members' in owner;
  const show = (member: Member): MetaMember => {
    const common: MetaMember = {
      name: member.key,
      ...showMember(model, member),
      public: true,
      isVisible: true,
      ...(isView ? { aliasMember: `${member.cube.name}.${definitionOf(member).name}` } : {}),
    };
    if (member.kind === 'measure') return measureOf(model, member, common, viewer);
    return member.kind === 'dimension' ? dimensionOf(member, common) : common;
  };
  for (const kind of ['measure', 'dimension', 'segment'] as const) {
    const members = found.filter((member) => member.kind === kind);
    yield `,"${kind}s":[`;
    for (let i = 0; i < members.length; i += TOGETHER) {
      const shown = members.slice(i, i + TOGETHER).map(show);
      yield `${i ? ',' : ''}${JSON.stringify(shown).slice(1, -1)}`;
    }
    yield ']';
  }
  const nested = 'folders' in owner ? foldersOf(owner.name, owner.folders, visible) : [];
  const folders = nested.map((folder) => ({ name: folder.name, members: membersInside(folder) }));
  yield `,"hierarchies":${JSON.stringify(hierarchiesOf(owner, visible))}`;
  yield `,"folders":${JSON.stringify(folders)},"nestedFolders":${JSON.stringify(nested)}}`;
}

function measureOf(model: Model, member: MeasureMember, common: MetaMember, viewer: Viewer): MetaMeasure {
  const { measure } = member;
  const { drillMembers = [], drillMembersGrouped = { measures: [], dimensions: [] } } = drillMembersOf(
    model,
    member,
    viewer,
  );
  return {
    ...common,
    aggType: AGG_TYPES[measure.type] ?? measure.type,
    cumulative: measure.rollingWindow !== undefined,
    cumulativeTotal: measure.rollingWindow !== undefined,
    drillMembers,
    drillMembersGrouped,
  };
}

/** The names of aggregations that clients know. */
const AGG_TYPES: Record<string, string> = {
  count_distinct: 'countDistinct',
  count_distinct_approx: 'countDistinctApprox',
};

const dimensionOf = (
  { dimension }: Extract<Member, { kind: 'dimension' }>,
  common: MetaMember,
): MetaDimension => ({
  ...common,
  primaryKey: dimension.primaryKey,
  suggestFilterValues: true,
  ...(dimension.granularities.size
    ? { granularities: [...dimension.granularities.values()].map(shownGranularity) }
    : {}),
});

/** The folders without hidden members, and without folders that hold nothing else. */
const foldersOf = (
  owner: string,
  folders: readonly ViewFolder[],
  visible: ReadonlySet<string>,
): MetaFolder[] =>
  folders.flatMap(({ name, members }): MetaFolder[] => {
    const shown = members.flatMap((member): (string | MetaFolder)[] => {
      if (typeof member !== 'string') return foldersOf(owner, [member], visible);
      return visible.has(`${owner}.${member}`) ? [`${owner}.${member}`] : [];
    });
    return shown.length ? [{ name, members: shown }] : [];
  });

const membersInside = ({ members }: MetaFolder): string[] =>
  members.flatMap((member) => (typeof member === 'string' ? [member] : membersInside(member)));

/** A hierarchy without a level that is hidden would say something else, so it is hidden too. */
function hierarchiesOf(owner: Cube | View, visible: ReadonlySet<string>): MetaHierarchy[] {
  return [...owner.hierarchies.values()].flatMap((hierarchy): MetaHierarchy[] => {
    const levels = hierarchy.levels.map((level) =>
      typeof level === 'string' ? `${owner.name}.${level}` : `${level.cube}.${level.dimension}`,
    );
    const isPublic = !('public' in hierarchy) || hierarchy.public;
    if (!isPublic || !levels.every((level) => visible.has(level))) return [];
    return [{ name: `${owner.name}.${hierarchy.name}`, title: titleOf(hierarchy), levels, public: true }];
  });
}

function connectedComponents(model: Model, viewer: Viewer): ReadonlyMap<string, number> {
  const exists = (cube: string) => existsFor(viewer, model.cubes.get(cube)!);
  const found = new Map<string, number>();
  let count = 0;
  for (const first of model.cubes.keys()) {
    if (found.has(first) || !exists(first)) continue;
    count++;
    const queue = [first];
    for (const cube of queue) {
      if (found.has(cube)) continue;
      found.set(cube, count);
      queue.push(...[...model.cubes.get(cube)!.joins.keys()].filter(exists));
    }
  }
  return found;
}
