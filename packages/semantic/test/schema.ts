/** What the schema of the modelling language says of a file. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { modelSchema } from '../src/index.ts';

const validate = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
  modelSchema(),
);

export const schemaProblems = (text: string): unknown[] =>
  validate(parse(text, { merge: true, maxAliasCount: -1 })) ? [] : [...validate.errors!];

/** The same, without keys that have nothing after them: of keys that it does not know, the compiler says nothing then. */
export function schemaProblemsOfFilled(text: string): unknown[] {
  const value: unknown = parse(text, { merge: true, maxAliasCount: -1 });
  return validate(filled(value)) ? [] : [...validate.errors!];
}

function filled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(filled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== null)
      .map(([key, each]) => [key, filled(each)]),
  );
}
