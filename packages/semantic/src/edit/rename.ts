/**
 * Gives a member of a cube another name in all files of a model. Only the names change: comments, order and layout of the
 * files stay as they are.
 */
import { isMap, isScalar, isSeq, parseDocument, type Scalar, type YAMLMap } from 'yaml';

export interface MemberRename {
  readonly cube: string;
  readonly member: string;
  readonly newName: string;
}

export interface RenameResult {
  /** The files that change, with their new texts. */
  readonly files: ReadonlyMap<string, string>;
  /** How many places change. */
  readonly places: number;
  /** What views call the member, before and after, as `view.member`. */
  readonly shownBy: readonly { readonly before: string; readonly after: string }[];
  /** A cube or view that has the new name already: nothing was changed. */
  readonly takenIn: string | undefined;
}

interface Part {
  file: string;
  map: YAMLMap;
}

type Edit = { from: number; to: number; text: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LISTS = ['dimensions', 'measures', 'segments', 'hierarchies'];
/** Their values are texts for people, or names of other things. */
const NO_MEMBERS = new Set(['name', 'title', 'description', 'meta', 'extends', 'sql_table', 'data_source']);
/** Keys whose plain values are members. */
const MEMBERS = new Set([
  'member',
  'drill_members',
  'drillMembers',
  'levels',
  'includes',
  'excludes',
  'measures',
  'dimensions',
  'segments',
  'time_dimension',
  'timeDimension',
  'time_dimensions',
]);
const VIEWER = /^\s*(userAttributes|securityContext)\b/;

const scalarText = (value: unknown) =>
  isScalar(value) && value.value != null ? String(value.value) : undefined;
const itemsOf = (map: YAMLMap, key: string): unknown[] => {
  const value = map.get(key, true);
  return isSeq(value) ? value.items : [];
};
const mapsOf = (map: YAMLMap, key: string) => itemsOf(map, key).filter((item) => isMap(item));
const nameOf = (map: YAMLMap) => scalarText(map.get('name', true));

export function renameMember(files: ReadonlyMap<string, string>, renaming: MemberRename): RenameResult {
  const { member, newName } = renaming;
  const cubes = new Map<string, Part>();
  const views = new Map<string, Part>();
  for (const [file, text] of files) {
    if (!/\.ya?ml$/i.test(file)) continue;
    const { contents } = parseDocument(text, { schema: 'failsafe', uniqueKeys: false });
    if (!isMap(contents)) continue;
    for (const [key, found] of [['cubes', cubes] as const, ['views', views] as const])
      for (const map of mapsOf(contents, key)) {
        const name = nameOf(map);
        if (name !== undefined) found.set(name, { file, map });
      }
  }
  const nothing = { files: new Map(), places: 0, shownBy: [] };
  if (!NAME.test(newName) || newName === member) return { ...nothing, takenIn: undefined };
  const family = familyOf(cubes, renaming);
  const taken = [...family].find((name) => hasOwn(cubes.get(name)!.map, newName));
  if (taken !== undefined) return { ...nothing, takenIn: taken };

  const edits = new Map<string, Map<number, Edit>>();
  const change = (file: string, edit: Edit) => {
    const known = edits.get(file) ?? new Map<number, Edit>();
    // What an alias repeats stands in the file once.
    edits.set(file, known.set(edit.from, edit));
  };
  for (const [name, { file, map }] of cubes) {
    const text = files.get(file)!;
    if (family.has(name))
      for (const list of LISTS)
        for (const item of mapsOf(map, list)) {
          const key = item.get('name', true);
          if (isScalar(key) && scalarText(key) === member) change(file, whole(text, key, member, newName));
        }
    const isMeant = (path: readonly string[]) => placeInPath(path, name, member, family, cubes);
    editTexts(map, text, isMeant, newName, (edit) => change(file, edit));
  }
  const shown = new Map<string, Map<string, string>>();
  const exposed = (name: string, seen: readonly string[] = []): Map<string, string> => {
    const known = shown.get(name);
    if (known || seen.includes(name)) return known ?? new Map();
    const part = views.get(name);
    if (!part) return new Map();
    const parent = scalarText(part.map.get('extends', true));
    const all = new Map(parent === undefined ? [] : exposed(parent, [...seen, name]));
    for (const item of mapsOf(part.map, 'cubes')) {
      const cube = scalarText(item.get('join_path', true))?.split('.').at(-1);
      if (cube === undefined || !family.has(cube)) continue;
      const prefix =
        scalarText(item.get('prefix', true)) === 'true'
          ? `${scalarText(item.get('alias', true)) ?? cube}_`
          : '';
      const text = files.get(part.file)!;
      const includes = item.get('includes', true);
      let isShown = scalarText(includes) === '*';
      for (const one of [...itemsOf(item, 'includes'), ...itemsOf(item, 'excludes')]) {
        const scalar = isMap(one) ? one.get('name', true) : one;
        if (!isScalar(scalar) || scalarText(scalar) !== member) continue;
        change(part.file, whole(text, scalar, member, newName));
        if (!isSeq(includes) || !includes.items.includes(one as never)) isShown = false;
        else isShown ||= !isMap(one) || scalarText(one.get('alias', true)) === undefined;
      }
      if (isShown) all.set(prefix + member, prefix + newName);
    }
    shown.set(name, all);
    return all;
  };
  for (const [name, { file, map }] of views) {
    const names = exposed(name);
    const text = files.get(file)!;
    for (const [before, after] of names)
      for (const key of ['folders', 'access_policy'])
        for (const item of mapsOf(map, key))
          editTexts(
            item,
            text,
            (path) => (path.length === 1 && path[0] === before ? 0 : undefined),
            after,
            (edit) => change(file, edit),
          );
  }
  const changed = new Map<string, string>();
  let places = 0;
  for (const [file, found] of edits) {
    places += found.size;
    const last = [...found.values()].sort((a, b) => b.from - a.from);
    changed.set(
      file,
      last.reduce(
        (text, { from, to, text: now }) => text.slice(0, from) + now + text.slice(to),
        files.get(file)!,
      ),
    );
  }
  const shownBy = [...shown].flatMap(([view, names]) =>
    [...names].map(([before, after]) => ({ before: `${view}.${before}`, after: `${view}.${after}` })),
  );
  return { files: changed, places, shownBy, takenIn: undefined };
}

const hasOwn = (cube: YAMLMap, member: string) =>
  LISTS.some((list) => mapsOf(cube, list).some((item) => nameOf(item) === member));

/** The cubes that have this member by `extends`, above and below, so that an override goes with what it overrides. */
function familyOf(cubes: ReadonlyMap<string, Part>, { cube, member }: MemberRename): Set<string> {
  const parentOf = (name: string) => scalarText(cubes.get(name)?.map.get('extends', true));
  const has = (name: string | undefined, depth = 0): boolean =>
    name !== undefined &&
    cubes.has(name) &&
    depth < 100 &&
    (hasOwn(cubes.get(name)!.map, member) || has(parentOf(name), depth + 1));
  const family = new Set(cubes.has(cube) ? [cube] : []);
  for (let size = -1; size !== family.size; ) {
    size = family.size;
    for (const name of [...family]) {
      const parent = parentOf(name);
      if (parent !== undefined && has(parent)) family.add(parent);
    }
    for (const name of cubes.keys()) if (family.has(parentOf(name) ?? '')) family.add(name);
  }
  return family;
}

/** Which part of a path is the member, if one is: `m`, `CUBE.m`, `orders.m`, `customers.orders.m`, and all with a granularity. */
function placeInPath(
  path: readonly string[],
  own: string,
  member: string,
  family: ReadonlySet<string>,
  cubes: ReadonlyMap<string, Part>,
): number | undefined {
  for (const at of [path.length - 1, path.length - 2]) {
    if (at < 0 || path[at] !== member) continue;
    const before = path[at - 1];
    // A name with dots behind it is a cube, if there is one.
    if (before === undefined && at < path.length - 1 && cubes.has(member)) continue;
    if (family.has(before === undefined || before === 'CUBE' ? own : before)) return at;
  }
  return undefined;
}

const rangeOf = (text: string, scalar: Scalar) => {
  const [from, to] = scalar.range!;
  return { from, source: text.slice(from, to) };
};

/** The value is the name and nothing else, with or without quotes. */
function whole(text: string, scalar: Scalar, member: string, newName: string): Edit {
  const { from, source } = rangeOf(text, scalar);
  const at = from + source.indexOf(member);
  return { from: at, to: at + member.length, text: newName };
}

/** Changes members in braces everywhere, and plain ones where a value is a member. */
function editTexts(
  value: unknown,
  text: string,
  isMeant: (path: readonly string[]) => number | undefined,
  newName: string,
  change: (edit: Edit) => void,
  key = '',
) {
  if (isMap(value)) {
    for (const pair of value.items) {
      const name = scalarText(pair.key) ?? '';
      if (!NO_MEMBERS.has(name)) editTexts(pair.value, text, isMeant, newName, change, name);
    }
    return;
  }
  if (isSeq(value)) {
    for (const item of value.items) editTexts(item, text, isMeant, newName, change, key);
    return;
  }
  if (!isScalar(value) || typeof value.value !== 'string') return;
  const { from, source } = rangeOf(text, value);
  const edit = (path: string, at: number) => {
    const parts = path.split('.');
    const place = isMeant(parts);
    if (place === undefined) return;
    const start = at + parts.slice(0, place).reduce((sum, part) => sum + part.length + 1, 0);
    change({ from: start, to: start + parts[place]!.length, text: newName });
  };
  for (const match of source.matchAll(/(?<!\\)\{(\s*)([A-Za-z_][\w.]*)\s*\}/g)) {
    if (!VIEWER.test(match[2]!)) edit(match[2]!, from + match.index + 1 + match[1]!.length);
  }
  const plain = /^["']?([A-Za-z_][\w.]*)["']?$/.exec(source);
  if (plain && MEMBERS.has(key)) edit(plain[1]!, from + source.indexOf(plain[1]!));
  // `{CUBE}.region` is a column in SQL, and a member where only a member can stand.
  const braced = /^["']?\{\s*([A-Za-z_]\w*)\s*\}\.([A-Za-z_]\w*)["']?$/.exec(source);
  if (braced && MEMBERS.has(key) && isMeant([braced[1]!, braced[2]!]) === 1) {
    const at = from + source.lastIndexOf(braced[2]!);
    change({ from: at, to: at + braced[2]!.length, text: newName });
  }
}
