interface Accepted {
  file: string;
  text: string;
  why: string;
}

const PLAN = 'packages/semantic/src/plan';
const SQL = 'packages/semantic/src/sql';
const all = (why: string, texts: [file: string, ...texts: string[]][]): Accepted[] =>
  texts.flatMap(([file, ...given]) => given.map((text) => ({ file, text, why })));

/** Mutants that survive because they change nothing that anybody could notice. */
export const accepted: Accepted[] = [
  ...all('it is there for the compiler: what it leaves out has no property of the name that is compared', [
    [`${PLAN}/columns.ts`, "typeof token === 'string'"],
    [`${PLAN}/comparisons.ts`, "typeof condition !== 'boolean'", "piece.kind === 'value'"],
    [`${PLAN}/divisions.ts`, "typeof token === 'string'"],
    [`${PLAN}/fences.ts`, "typeof piece === 'string'", "piece.kind === 'name'"],
    [`${PLAN}/groups.ts`, "typeof part === 'object'"],
    [`${PLAN}/measures.ts`, "typeof part !== 'string'", "typeof part !== 'object'"],
    [`${PLAN}/read-query.ts`, '!query', "typeof json === 'number'"],
    [`${PLAN}/reading.ts`, "typeof json === 'number'"],
    [`${PLAN}/rows.ts`, 'onMeasure'],
    [`${PLAN}/shown-values.ts`, "part.kind === 'dimension'", 'of'],
    [`${PLAN}/sql.ts`, 'Array.isArray(first)', "typeof column === 'string'", 'isName(table)'],
    [`${PLAN}/sub-queries.ts`, "typeof part === 'string'"],
    [`${PLAN}/windows.ts`, "'seconds' in periods"],
    [`${SQL}/clauses.ts`, 'isObject(item)'],
    [`${SQL}/expressions.ts`, "kind === 'FuncCall'", 'tested', 'operator !== undefined'],
    [`${SQL}/remainders.ts`, 'isObject(fields.typeName)'],
    [`${SQL}/tree.ts`, '!Array.isArray(value)', 'kind !== undefined', "typeof value === 'string'"],
  ]),
  ...all('nothing else comes there, and if it did, it would be an error of the planner itself', [
    [`${PLAN}/calculated/read.ts`, '!(error instanceof ExpressionError)'],
    [`${PLAN}/homes.ts`, '!(error instanceof QueryError)'],
    [`${PLAN}/measures.ts`, "part.kind !== 'measure'"],
    [`${PLAN}/plan.ts`, "member.kind !== 'measure'"],
    [`${SQL}/calls.ts`, '!word'],
    [`${SQL}/expressions.ts`, "subLinkType === 'ANY_SUBLINK'"],
    [`${SQL}/parts.ts`, "member.kind === 'measure'"],
  ]),
  ...all('it is left out for speed, and comes to the same', [
    [`${PLAN}/columns.ts`, 'known'],
    [`${PLAN}/find.ts`, 'viewer.seesUnguarded'],
    [`${PLAN}/members.ts`, 'known'],
    [`${PLAN}/rows.ts`, 'first === node.cube.name'],
    [`${PLAN}/sub-queries.ts`, 'context.view?.policies.length'],
    [`${PLAN}/tokens.ts`, 'known'],
    [`${SQL}/calls.ts`, '!(bits & FRAME.isGiven)'],
    [`${SQL}/parts.ts`, '!keys.includes(name)'],
    [`${SQL}/plan-sql.ts`, 'Math.abs(other.length - name.length) <= LIKE_LENGTHS'],
  ]),
  ...all('text of the model that follows a column begins with something that is no word', [
    [`${PLAN}/fences.ts`, "dot === '.'", String.raw`isToken(column!, /^(\w+|".*")$/s)`],
    [`${PLAN}/sql.ts`, 'first.length === 1', 'part.length === 2', 'part.length === 3'],
  ]),
  ...all('a field that cannot be read is refused already', [
    [`${PLAN}/calculated/read.ts`, 'made', 'aggregate'],
  ]),
  ...all('a SELECT has an expression, and FROM at most 50 tables, which are refused at this depth too', [
    [`${SQL}/selects.ts`, 'place.depth >= DEPTH_MAX'],
  ]),
  {
    file: `${PLAN}/columns.ts`,
    text: '/^["`]/.test(word)',
    why: 'only types and functions stand in quotes at such places, and to take one for a column hides more',
  },
  {
    file: `${SQL}/remainders.ts`,
    text: 'ARITHMETIC.has(namesOf(fields.name)[0])',
    why: 'no other operator makes a number that has a remainder',
  },
  {
    file: 'packages/server/src/domains/api-keys/routes.ts',
    text: 'expiresAt !== null',
    why: 'no time is parsed from null, and what is not a number is not in the past',
  },
  {
    file: 'packages/server/src/domains/environments/credential.store.ts',
    text: `and t.token_hash = any(\${tokenHashes}::bytea[])`,
    why: 'the caller looks up the hashes that it asked for, and more of them only take longer',
  },
  {
    file: 'packages/server/src/domains/environments/store.ts',
    text: `deployment_id = \${deploymentId} and`,
    why: 'the branch was found in the deployment, and belongs to no other one',
  },
  {
    file: 'packages/semantic/src/sql/names.ts',
    text: 'prefix !== undefined',
    why: 'the prefix of a model is the same each time, and is kept for speed',
  },
  {
    file: 'packages/semantic/src/sql/calls.ts',
    text: `names[0] === 'pg_catalog'`,
    why: 'the parser has this form only for functions of pg_catalog',
  },
  {
    file: 'packages/server/src/platform/auth/access.ts',
    text: `scope === 'none'`,
    why: 'no token has this scope, so the next line refuses it too',
  },
  {
    file: 'packages/server/src/platform/auth/csrf.ts',
    text: 'host !== undefined',
    why: 'no page has the origin of a host that is called undefined',
  },
  {
    file: 'packages/server/src/platform/auth/uses.ts',
    text: '!due.length',
    why: 'an empty list of uses writes nothing, and is left out for speed',
  },
];
