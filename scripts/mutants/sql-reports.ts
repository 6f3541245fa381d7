import type { Mutant } from './mutant.ts';

const SQL = 'packages/semantic/src/sql/';
const MEANING = `${SQL}sql.test.ts`;
const ATTACKS = `${SQL}attacks.test.ts`;
const RANDOM = `${SQL}random.test.ts`;
const DOMAIN = 'packages/server/src/domains/queries/';
const API = `${DOMAIN}sql.test.ts`;

export const sqlReports: Mutant[] = [
  {
    name: 'policies apply to the rows of a table in SQL',
    file: `${SQL}tables.ts`,
    from: '    ...source,\n    isClosed',
    to: '    joins: rows.joins,\n    where: [],\n    isClosed',
    tests: [MEANING],
  },
  {
    name: 'a policy opens something of a table whose rows SQL only counts',
    file: `${SQL}tables.ts`,
    from: 'used.size || measures.size ? used : new Map',
    to: 'used.size >= 0 ? used : new Map',
    tests: [MEANING],
  },
  {
    name: 'SQL sees no column that is hidden from the viewer',
    file: 'packages/semantic/src/plan/members.ts',
    from: 'if (!member || !isPublic(member) || !opens(',
    to: 'if (!member || !opens(',
    tests: [MEANING],
  },
  {
    name: 'conditions of SQL are not computed for rows that the viewer may not see',
    file: `${SQL}tables.ts`,
    from: 'isClosed: isGuarded(context),',
    to: 'isClosed: false,',
    tests: [MEANING],
  },
  {
    name: 'no pattern of LIKE fails only if a hidden value fits it',
    file: `${SQL}expressions.ts`,
    from: 'if (i === pattern.length - 1) {',
    to: 'if (i === pattern.length) {',
    tests: [MEANING, ATTACKS],
  },
  {
    name: 'a pattern that DuckDB would try in all ways becomes a regular expression',
    file: 'packages/semantic/src/plan/dialects/duckdb.ts',
    from: 'expression === undefined ? `',
    to: 'expression !== null ? `',
    tests: [MEANING],
  },
  {
    name: 'an escaped character of a pattern is no wildcard',
    file: `${SQL}patterns.ts`,
    from: '(isEscaped ? undefined : WILDCARDS[character])',
    to: 'WILDCARDS[character]',
    tests: [MEANING],
  },
  {
    name: 'a measure in SQL is not multiplied by joins of its view',
    file: `${SQL}tables.ts`,
    from: 'for (const { member } of bases) requireOnce(rows, member);',
    to: '',
    tests: [MEANING, RANDOM],
  },
  {
    name: 'a measure in SQL stands alone in its FROM',
    file: `${SQL}scopes.ts`,
    from: 'if (!relation?.table || another) {',
    to: 'if (!relation?.table) {',
    tests: [MEANING],
  },
  {
    name: 'a part of SQL that nobody knows is refused',
    file: `${SQL}tree.ts`,
    from: "if (key !== 'location' && !(keys as readonly string[]).includes(key)) {",
    to: "if (key === 'intoClause') {",
    tests: [ATTACKS],
  },
  {
    name: 'a function that is not in the list is refused',
    file: `${SQL}calls.ts`,
    from: 'const known = FUNCTIONS.get(name);',
    to: "const known = FUNCTIONS.get(name) ?? { use: 'value' as const, arguments: [0, 9] as const, written: name };",
    tests: [ATTACKS],
  },
  {
    name: 'a function with a schema before its name is refused',
    file: `${SQL}calls.ts`,
    from: 'if (names.length > 1 && !isOfParser) throw',
    to: 'if (names.length > 9) throw',
    tests: [ATTACKS],
  },
  {
    name: 'a type that is not in the list is refused',
    file: `${SQL}expressions.ts`,
    from: 'const type = isPlain ? TYPES.get(name) : undefined;',
    to: 'const type = TYPES.get(name) ?? name;',
    tests: [ATTACKS],
  },
  {
    name: 'an operator that is not in the list is refused',
    file: `${SQL}expressions.ts`,
    from: 'if (lexpr === undefined || !OPERATORS.has(operator)) break;',
    to: 'if (lexpr === undefined) break;',
    tests: [ATTACKS],
  },
  {
    name: 'a name that is taken by a cube or view is refused for other things',
    file: `${SQL}selects.ts`,
    from: 'if (statement.isTable(name)) {',
    to: "if (statement.isTable(name) && name === '') {",
    tests: [ATTACKS],
  },
  {
    name: 'SQL of callers is one statement',
    file: `${SQL}plan-sql.ts`,
    from: 'if (another !== undefined) throw',
    to: 'if (false) throw',
    tests: [ATTACKS],
  },
  {
    name: 'the text of a value in SQL stays inside of its quotes',
    file: `${SQL}constants.ts`,
    from: `text.replaceAll("'", "''")`,
    to: `text.replaceAll("'", "'")`,
    tests: [MEANING],
  },
  {
    name: 'a backslash in a value of SQL stays one',
    file: `${SQL}constants.ts`,
    from: "quoted.replaceAll('\\\\', '\\\\\\\\')",
    to: 'quoted',
    tests: [MEANING],
  },
  {
    name: 'names that SQL gets are in no text of the model',
    file: `${SQL}names.ts`,
    from: "while (mentions(model, prefix)) prefix += '_';",
    to: '',
    tests: [ATTACKS],
  },
  {
    name: 'columns of SQL can not be doubled without end',
    file: `${SQL}selects.ts`,
    from: 'if (columns.length > SQL_LIMITS.columns) {',
    to: 'if (columns.length > SQL_LIMITS.columns ** 3) {',
    tests: [ATTACKS],
  },
  {
    name: 'SQL that breaks the parser is refused, and the next statement works',
    file: `${DOMAIN}sql-parser.ts`,
    from: "(error.name === 'RangeError' || error.name === 'RuntimeError')",
    to: "error.name === 'RuntimeError'",
    tests: [API],
  },
  {
    name: 'SQL of one sharer does not keep the SQL of others waiting',
    file: `${DOMAIN}sql-parser.ts`,
    from: 'async parse(text, { sharer, signal }) {',
    to: 'async parse(text, { signal }, sharer = String(Math.random())) {',
    tests: [`${DOMAIN}sql-parser.test.ts`],
  },
  {
    name: 'a large answer that is kept is not copied for each reader',
    file: `${DOMAIN}answers.ts`,
    from: 'byteLength <= JOINED_BYTES_MAX)',
    to: 'byteLength < Number.POSITIVE_INFINITY)',
    tests: [`${DOMAIN}answers.test.ts`],
  },
];
