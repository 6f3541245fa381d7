/** The access of a viewer as it is shown and exported. */
import type { api } from '../data/api.ts';

export type Access = Awaited<ReturnType<typeof api.explainAccess>>;

export interface Identity {
  name: string;
  body: Parameters<typeof api.explainAccess>[0]['body'];
}

/** `region equals EMEA and (…)`. `missing` stands for a value that the viewer does not have: it matches no row. */
export function filterText(filter: unknown, missing: string): string {
  const { and, or, member, operator, values, missing: lacking } = Object(filter);
  if (Array.isArray(and)) return and.map((part) => filterText(part, missing)).join(' and ');
  if (Array.isArray(or)) return `(${or.map((part) => filterText(part, missing)).join(' or ')})`;
  const lacks = Array.isArray(lacking) ? lacking.map((name) => `${missing} ${name}`) : [];
  return [member, operator, [...(values ?? []), ...lacks].join(', ')].filter(Boolean).join(' ');
}

const HEAD = [
  'identity',
  'kind',
  'name',
  'rows',
  'because of',
  'filter',
  'and policies of',
  'members shown',
  'members hidden',
  'hidden members',
];

/** A line for each identity and cube, for auditors. */
export function accessCsv(asked: readonly { identity: Identity; access: Access }[]): string {
  const lines = asked.flatMap(({ identity, access }) =>
    access.cubes.map(({ kind, name, rows, root, policies, shownCount, hiddenCount, hiddenMembers }) => {
      const counting = policies.filter(({ counts }) => counts);
      return [
        identity.name,
        kind,
        name,
        rows,
        counting.map(({ matchedGroups }) => matchedGroups.join(' ')).join('; '),
        counting.map(({ filter }) => (filter ? filterText(filter, 'missing') : 'all rows')).join('; '),
        root ?? '',
        String(shownCount),
        String(hiddenCount),
        hiddenMembers.map(({ member }) => member).join(' '),
      ];
    }),
  );
  return [HEAD, ...lines].map((line) => line.map(cell).join(',')).join('\r\n');
}

/** A spreadsheet takes a text that begins with these for a formula. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
