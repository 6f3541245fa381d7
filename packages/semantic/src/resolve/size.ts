/** How large a model may become. */
import type { Problems, Spot } from '../problems.ts';

/** Beside the limits for one file and for the number of files, so that a compilation ends. */
export const MODEL_CHARACTERS_MAX = 20 * 1024 * 1024;
export const MEMBERS_MAX = 50_000;
const OPENED_MAX = 1_000_000;

/** How large the model has become. */
export interface Size {
  readonly isFull: boolean;
  /**
   * Returns false if the model has become too large, which is reported once. `characters` counts repeated ones only.
   */
  add(spot: Spot, more: { members?: number; characters?: number; opened?: number }): boolean;
}

/** Counts what a model is made of. Views repeat what they include, so a few words can make a large model. */
export function createSize(problems: Problems): Size {
  const sums = { members: 0, characters: 0, opened: 0 };
  let isFull = false;
  return {
    get isFull() {
      return isFull;
    },
    add(spot, more) {
      if (isFull) return false;
      for (const kind of KINDS) sums[kind] += more[kind] ?? 0;
      const full = KINDS.find((kind) => sums[kind] > TOO_LARGE[kind].max);
      isFull = full !== undefined;
      if (full) problems.add(spot, 'too_large', TOO_LARGE[full].message, TOO_LARGE[full].hint);
      return !isFull;
    },
  };
}

const KINDS = ['members', 'characters', 'opened'] as const;
const TOO_LARGE = {
  members: {
    max: MEMBERS_MAX,
    message: `A model has at most ${MEMBERS_MAX} members, those of views included.`,
    hint: 'Include fewer members in views.',
  },
  characters: {
    max: MODEL_CHARACTERS_MAX,
    message: 'What views and cubes take over from others is larger than 20 MB.',
    hint: 'Include fewer members in views, or extend fewer cubes.',
  },
  opened: {
    max: OPENED_MAX,
    message: `The policies of a model open at most ${OPENED_MAX} members by \`member_level\`, all together.`,
    hint: 'Leave out `member_level` where a policy opens everything, or join policies for several groups.',
  },
};
