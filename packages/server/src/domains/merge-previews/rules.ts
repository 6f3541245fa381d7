/** Which members content names, and what a change of the model does to it. */

export interface ModelSides {
  /** All members that the model has after the change. */
  members: ReadonlySet<string>;
  /** The members whose answers may differ from before. */
  affected: ReadonlySet<string>;
}

export interface Effect {
  effect: 'fails' | 'changes';
  members: string[];
}

const MEMBERS_MAX = 20;

/** Undefined if nothing happens to content that names these members. */
export function effectOn(named: Iterable<string>, { members, affected }: ModelSides): Effect | undefined {
  const all = [...new Set(named)];
  const missing = all.filter((member) => !members.has(member));
  if (missing.length) return { effect: 'fails', members: missing.slice(0, MEMBERS_MAX) };
  const changed = all.filter((member) => affected.has(member));
  return changed.length ? { effect: 'changes', members: changed.slice(0, MEMBERS_MAX) } : undefined;
}

/** The worse of two. */
export function worse(one: Effect | undefined, other: Effect | undefined): Effect | undefined {
  if (!one || !other) return one ?? other;
  if (one.effect !== other.effect) return one.effect === 'fails' ? one : other;
  return { ...one, members: [...new Set([...one.members, ...other.members])].slice(0, MEMBERS_MAX) };
}

/** The members that the JSON of a query names. What is no query names none: it is broken with every model. */
export function membersInText(jsonQuery: string): string[] {
  try {
    return membersIn(JSON.parse(jsonQuery));
  } catch {
    return [];
  }
}

const FILTERS_DEPTH_MAX = 20;

/** The members that a query, or a list of queries, names. */
export function membersIn(query: unknown): string[] {
  const found = new Set<string>();
  const add = (name: unknown) => {
    // A third part is a granularity.
    const [cube, member] = typeof name === 'string' ? name.split('.') : [];
    if (cube && member) found.add(`${cube}.${member}`);
  };
  const addFilters = (filters: unknown, depth = 0) => {
    if (!Array.isArray(filters) || depth > FILTERS_DEPTH_MAX) return;
    for (const filter of filters) {
      const { member, dimension, and, or } = Object(filter);
      add(member ?? dimension);
      addFilters(and, depth + 1);
      addFilters(or, depth + 1);
    }
  };
  for (const one of [query].flat()) {
    const { measures, dimensions, segments, timeDimensions, filters } = Object(one);
    for (const names of [measures, dimensions, segments]) if (Array.isArray(names)) names.forEach(add);
    if (Array.isArray(timeDimensions)) for (const each of timeDimensions) add(Object(each).dimension);
    addFilters(filters);
  }
  return [...found];
}

/** What the config of a dashboard names: the members of its controls, and the reports of its charts. */
export function namedInConfig(config: unknown): { members: string[]; reportIds: number[] } {
  const { widgets } = Object(config);
  const configs = (Array.isArray(widgets) ? widgets : []).map((widget) => Object(Object(widget).config));
  return {
    members: membersIn({ filters: configs.map(({ member }) => ({ member })) }),
    reportIds: configs.map(({ reportId }) => reportId).filter((id) => Number.isSafeInteger(id)),
  };
}
