import type { RawFolder, RawIncluded, RawView, RawViewCube } from '../language/files.ts';
import type { Cube, DimensionType, View, ViewFolder, ViewHierarchy, ViewMember } from '../model.ts';
import { didYouMean, type Problems, placeOf, type Spot } from '../problems.ts';
import type { Name } from '../read.ts';
import { shorten } from '../yaml.ts';
import { describe } from './members.ts';
import { requireCube } from './names.ts';
import { resolvePolicies } from './policies.ts';
import type { Context } from './references.ts';
import type { Size } from './size.ts';

export function resolveView(raw: RawView, cubes: ReadonlyMap<string, Cube>, context: Context): View {
  const members = new Map<string, ViewMember>();
  const hierarchies = new Map<string, ViewHierarchy>();
  let root: string | undefined;
  // A view that extends another one has the cubes of that one, or that one has this problem.
  if (!raw.where.keys.has('cubes') && !raw.extends?.text) {
    context.problems.add(raw.where.spot, 'missing_key', 'A view needs the key `cubes`.');
  }
  for (const item of raw.cubes) {
    const path = pathOf(item, context);
    root ??= path?.[0];
    if (!path || context.size.isFull) continue;
    include({
      item,
      path,
      cube: cubes.get(path.at(-1)!)!,
      members,
      hierarchies,
      problems: context.problems,
      size: context.size,
    });
  }
  const typeOf = (name: string): DimensionType | undefined => {
    const member = members.get(name);
    return member && cubes.get(member.cube)!.dimensions.get(member.member)?.type;
  };
  const all = new Set(members.keys());
  return {
    ...describe(raw),
    place: placeOf(raw.name.spot),
    // Without any path, the model has an error and is not used.
    root: root ?? '',
    members,
    hierarchies,
    folders: resolveFolders(raw.folders, members, context.problems),
    policies: resolvePolicies(raw.access_policy, { owner: raw.name.text, all, typeOf }, context),
  };
}

function resolveFolders(
  folders: readonly RawFolder[],
  members: ReadonlyMap<string, ViewMember>,
  problems: Problems,
): ViewFolder[] {
  return folders.map(({ name, includes }) => ({
    name,
    members: includes.flatMap((item): (string | ViewFolder)[] => {
      if ('includes' in item) return resolveFolders([item], members, problems);
      if (members.has(item.text)) return [item.text];
      const message = `The view has no member \`${shorten(item.text)}\` for this folder.`;
      problems.add(item.spot, 'unknown_name', message, () => didYouMean(item.text, members.keys()));
      return [];
    }),
  }));
}

/** `orders.customers`: each cube must be joined to the one before it. */
function pathOf({ join_path }: RawViewCube, { names, graph, problems }: Context): string[] | undefined {
  if (join_path.text === '') return undefined;
  const path = join_path.text.split('.');
  for (const [i, text] of path.entries()) {
    if (!requireCube(names, { text, spot: join_path.spot }, problems)) return undefined;
    const before = path[i - 1];
    if (before !== undefined && !graph.edges.get(before)!.has(text)) {
      const message = `\`${before}\` is not joined to \`${text}\`.`;
      problems.add(join_path.spot, 'no_join_path', message, `Add a join to \`${before}\`.`);
      return undefined;
    }
  }
  return path;
}

interface Inclusion {
  readonly item: RawViewCube;
  readonly path: readonly string[];
  readonly cube: Cube;
  readonly members: Map<string, ViewMember>;
  readonly hierarchies: Map<string, ViewHierarchy>;
  readonly problems: Problems;
  readonly size: Size;
}

function include(inclusion: Inclusion) {
  const { item, path, cube, members, hierarchies, problems, size } = inclusion;
  const prefix = item.prefix ? `${item.alias?.text ?? cube.name}_` : '';
  const excluded = new Set(
    item.excludes.filter((name) => requireIncludable(name, cube, problems)).map(({ text }) => text),
  );
  const wanted = item.includes === '*' ? allOf(cube) : item.includes;
  const spotOf = ({ name }: Pick<RawIncluded, 'name'>) =>
    item.includes === '*' ? item.where.spot : name.spot;
  const given = new Map<string, string>();
  for (const one of wanted) {
    const name = one.name.text;
    if (excluded.has(name) || cube.hierarchies.has(name) || !requireIncludable(one.name, cube, problems))
      continue;
    const shown = `${prefix}${one.alias?.text ?? name}`;
    const spot = spotOf(one);
    const member = memberOf(shown, one, cube, path);
    if (!size.add(spot, { members: 1, characters: lengthOf(member) })) return;
    if (isSame(members.get(shown), member)) {
      problems.note(spot, 'duplicate_name', `The view includes \`${shown}\` twice.`, 'Remove one of them.');
    } else if (members.has(shown) || hierarchies.has(shown)) refuseTwice(shown, spot, problems);
    else members.set(shown, member);
    given.set(name, shown);
  }
  for (const one of wanted) {
    const hierarchy = excluded.has(one.name.text) ? undefined : cube.hierarchies.get(one.name.text);
    if (!hierarchy) continue;
    const levels = hierarchy.levels.flatMap(
      (level) => (level.cube === cube.name && given.get(level.dimension)) || [],
    );
    const name = `${prefix}${one.alias?.text ?? hierarchy.name}`;
    if (!levels.length) continue;
    if (hierarchies.has(name) || members.has(name)) refuseTwice(name, spotOf(one), problems);
    else hierarchies.set(name, { name, title: one.title ?? hierarchy.title, levels });
  }
}

const isSame = (known: ViewMember | undefined, { cube, member, path }: ViewMember) =>
  known?.cube === cube && known.member === member && known.path.join() === path.join();

const lengthOf = ({ title, description, meta }: ViewMember) =>
  (title?.length ?? 0) + (description?.length ?? 0) + (meta === undefined ? 0 : JSON.stringify(meta).length);

function refuseTwice(name: string, spot: Spot, problems: Problems) {
  const hint = 'Use `prefix: true`, an `alias`, or `excludes`.';
  problems.add(spot, 'duplicate_name', `The view has two members with the name \`${name}\`.`, hint);
}

const allOf = (
  cube: Cube,
): Pick<RawIncluded, 'name' | 'alias' | 'title' | 'description' | 'public' | 'meta'>[] =>
  [cube.dimensions, cube.measures, cube.segments, cube.hierarchies].flatMap((kind) =>
    [...kind.keys()].map((text) => ({
      name: { text, spot: { source: { file: '', text: '' }, offset: 0 } },
      alias: undefined,
      title: undefined,
      description: undefined,
      public: undefined,
      meta: undefined,
    })),
  );

function requireIncludable({ text, spot }: Name, cube: Cube, problems: Problems): boolean {
  const kinds = [cube.dimensions, cube.measures, cube.segments, cube.hierarchies];
  if (text === '') return false;
  if (kinds.some((kind) => kind.has(text))) return true;
  problems.add(spot, 'unknown_name', `The cube \`${cube.name}\` has no member \`${shorten(text)}\`.`, () =>
    didYouMean(
      text,
      kinds.flatMap((kind) => [...kind.keys()]),
    ),
  );
  return false;
}

function memberOf(
  name: string,
  one: Pick<RawIncluded, 'name' | 'title' | 'description' | 'public' | 'meta'>,
  cube: Cube,
  path: readonly string[],
): ViewMember {
  const member = one.name.text;
  const kind = cube.dimensions.has(member) ? 'dimension' : cube.measures.has(member) ? 'measure' : 'segment';
  const own = cube.dimensions.get(member) ?? cube.measures.get(member) ?? cube.segments.get(member)!;
  return {
    name,
    title: one.title ?? own.title,
    description: one.description ?? own.description,
    meta: one.meta ?? own.meta,
    public: one.public ?? true,
    kind,
    cube: cube.name,
    member,
    path,
    format: 'format' in own ? own.format : undefined,
  };
}
