/**
 * Sentences of the reference for fields and parameters whose schema does not say what they mean. A description in the
 * schema itself comes first; a test finds what has neither.
 */
import { BranchName, FilePath } from '../data-model.ts';
import { GroupName } from '../groups.ts';
import { DateTime, EmbedTenantName, FreeObject } from '../schemas.ts';
import { account } from './account.ts';
import { app } from './app.ts';
import { content } from './content.ts';
import { dataModel } from './data-model.ts';
import { deployments } from './deployments.ts';
import { embedding } from './embedding.ts';
import { everywhere } from './everywhere.ts';
import { otherParameters, pathParameters } from './parameters.ts';
import { queries } from './queries.ts';
import { scim } from './scim.ts';
import { signIn } from './sign-in.ts';

/** By the title of a schema, and by the name of its field. */
export type FieldWords = Record<string, Record<string, string>>;

export const fieldWords: FieldWords = {
  ...account,
  ...app,
  ...content,
  ...dataModel,
  ...deployments,
  ...embedding,
  ...queries,
  ...scim,
  ...signIn,
};

/** These say which form a value has, but not what it means. Some add how large an object may be. */
const FORMS = [BranchName, DateTime, EmbedTenantName, FilePath, FreeObject, GroupName].map(
  (schema) => (schema as { description?: string }).description!,
);
export const isOnlyForm = (description: unknown) =>
  typeof description === 'string' && FORMS.some((form) => description.startsWith(form));

const withForm = (sentence: string | undefined, description: unknown) =>
  sentence && isOnlyForm(description) ? `${sentence}. ${description}` : (description ?? sentence);

/** What a field of a schema means. */
export const describeField = (title: string, field: string, description: unknown) =>
  withForm(fieldWords[title]?.[field] ?? everywhere[field], description);

/** What a parameter of an operation means. */
export function describeParameter(
  { id, path }: { id: string; path: string },
  place: 'path' | 'query' | 'header',
  name: string,
  description: unknown,
) {
  if (place !== 'path')
    return withForm(otherParameters[`${id}.${name}`] ?? otherParameters[name], description);
  const segments = path.split('/');
  const before = segments[segments.indexOf(`{${name}}`) - 1];
  return withForm(pathParameters[`${before}/{${name}}`], description);
}
