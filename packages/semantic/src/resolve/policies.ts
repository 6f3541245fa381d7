import type { RawComparison, RawCondition, RawPolicy } from '../language/policies.ts';
import type { Comparison, Condition, DimensionType, Policy } from '../model.ts';
import { OF_TEXT, OF_TIME } from '../operators.ts';
import { numberValue } from '../plan/comparisons.ts';
import { didYouMean, type Problems } from '../problems.ts';
import { atKey, type Name } from '../read.ts';
import { readMoment } from '../times/moments.ts';
import { UTC } from '../times/zones.ts';
import { shorten } from '../yaml.ts';
import type { Context } from './references.ts';

/** The members of the cube or view that has the policies. */
export interface PolicyMembers {
  /** The name of the cube or view. */
  readonly owner: string;
  readonly all: ReadonlySet<string>;
  /** Returns the type of a dimension; undefined for other members. */
  typeOf(name: string): DimensionType | undefined;
}

export const resolvePolicies = (
  raws: readonly RawPolicy[] | undefined,
  members: PolicyMembers,
  context: Pick<Context, 'problems' | 'size'>,
): Policy[] => (raws ?? []).map((raw) => resolvePolicy(raw, members, context));

const BRACES = /^\{\s*(?:(?<cube>\w+)(?:\s*\}\.(?<behind>\w+)|\.(?<member>\w+)\s*\})|(?<alone>\w+)\s*\})$/;

/** A member may also be written in braces, alone or behind its cube: `{region}`, `{CUBE}.region`, `{orders.region}`. */
function bare(name: Name, { owner }: PolicyMembers): Name {
  const { cube, behind, member, alone } = BRACES.exec(name.text.trim())?.groups ?? {};
  const text =
    cube === undefined || cube === 'CUBE' || cube === owner ? (alone ?? behind ?? member) : undefined;
  return text === undefined ? name : { ...name, text };
}

function resolvePolicy(
  raw: RawPolicy,
  members: PolicyMembers,
  { problems, size }: Pick<Context, 'problems' | 'size'>,
): Policy {
  const open = membersOf(raw, members, problems);
  if (open !== members.all) size.add(raw.where.spot, { opened: open.size });
  return {
    groups: groupsOf(raw, problems),
    rows: rowsOf(raw, members, problems),
    members: open,
  };
}

function groupsOf(raw: RawPolicy, problems: Problems): Policy['groups'] {
  if ((raw.group === undefined) === (raw.groups === undefined)) {
    const hint = 'Use `group: "*"` for everybody.';
    problems.add(raw.where.spot, 'missing_key', 'A policy needs `group` or `groups`, and not both.', hint);
  }
  const groups = raw.groups ?? (raw.group === undefined ? [] : [raw.group]);
  if (groups === '*' || groups.includes('*')) return '*';
  if (raw.groups && groups.length === 0) {
    problems.add(atKey(raw, 'groups'), 'bad_value', '`groups` cannot be an empty list.');
  }
  return groups;
}

function rowsOf(
  { row_level: level }: RawPolicy,
  members: PolicyMembers,
  problems: Problems,
): Condition | undefined {
  if (!level) return undefined;
  if ((level.filters === undefined) === !level.allow_all) {
    const message = '`row_level` needs `filters` or `allow_all: true`, and not both.';
    problems.add(level.where.spot, 'missing_key', message);
  }
  return level.filters && { and: level.filters.map((filter) => resolveCondition(filter, members, problems)) };
}

function resolveCondition(raw: RawCondition, members: PolicyMembers, problems: Problems): Condition {
  if ('and' in raw) return { and: raw.and.map((part) => resolveCondition(part, members, problems)) };
  if ('or' in raw) return { or: raw.or.map((part) => resolveCondition(part, members, problems)) };
  return resolveComparison(raw, members, problems);
}

function resolveComparison(raw: RawComparison, members: PolicyMembers, problems: Problems): Comparison {
  const { operator, values } = raw;
  const member = bare(raw.member, members);
  const type = requireMember(member, members, problems) ? members.typeOf(member.text) : undefined;
  if (type === undefined && members.all.has(member.text)) {
    problems.add(
      member.spot,
      'not_allowed_here',
      `\`${member.text}\` is not a dimension, so it cannot choose rows.`,
    );
  }
  const fits = !(OF_TIME.test(operator) && type !== 'time') && !(OF_TEXT.test(operator) && type !== 'string');
  if (type !== undefined && !fits) {
    const message = `\`${operator}\` does not fit \`${member.text}\`, which is of type \`${type}\`.`;
    problems.add(raw.spot, 'bad_value', message);
  }
  for (const { value, spot } of values) {
    if (type !== undefined && 'literal' in value && !isOf(type, value.literal)) {
      const message = `\`${shorten(value.literal)}\` does not fit \`${member.text}\`, which is of type \`${type}\`.`;
      problems.add(spot, 'bad_value', message);
    }
  }
  return { member: member.text, operator, values: values.map(({ value }) => value) };
}

function isOf(type: DimensionType, literal: string): boolean {
  if (type === 'number') return numberValue(literal) !== undefined;
  if (type === 'boolean') return literal === 'true' || literal === 'false';
  return type === 'string' || readMoment(literal, UTC) !== undefined;
}

function membersOf(
  { member_level: level }: RawPolicy,
  members: PolicyMembers,
  problems: Problems,
): ReadonlySet<string> {
  const pick = (names: readonly Name[] | '*' | undefined, otherwise: Iterable<string>) => {
    if (names === undefined) return otherwise;
    if (names === '*') return members.all;
    return names
      .map((name) => bare(name, members))
      .filter((name) => requireMember(name, members, problems))
      .map(({ text }) => text);
  };
  if (level && !level.where.keys.has('includes') && !level.where.keys.has('excludes')) {
    problems.add(level.where.spot, 'missing_key', '`member_level` needs `includes` or `excludes`.');
  }
  // One set for all policies that leave nothing out.
  if (!level) return members.all;
  const open = new Set(pick(level.includes, members.all));
  for (const name of pick(level.excludes, [])) open.delete(name);
  return open;
}

function requireMember(name: Name, { all }: PolicyMembers, problems: Problems): boolean {
  if (name.text === '') return false;
  const isThere = all.has(name.text);
  if (!isThere) {
    const message = `There is no member \`${shorten(name.text)}\` here.`;
    const hint = () => didYouMean(name.text, all) ?? 'A policy names the members of its own cube or view.';
    problems.add(name.spot, 'unknown_name', message, hint);
  }
  return isThere;
}
