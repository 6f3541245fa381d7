/** Users as SCIM sees them: the resource, its attributes from a request, and the steps that write them. */
import { operations, scimUrns } from '@oriel/contract';
import { Type } from 'typebox';
import { type Change, changed, created } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid, isApiError } from '../../platform/errors.ts';
import { tagOf } from '../../platform/http/etag.ts';
import { checkerOf } from '../../platform/http/validation.ts';
import { createUser, DEFAULT_ROLE, lockPerson, requireReadableUsername, updateUser } from '../users/index.ts';
import { type Doc, isObject, isTrue, listOf, type PatchSchema } from './patch.ts';
import * as store from './users.store.ts';

export const patchableUser: PatchSchema = {
  urn: scimUrns.user,
  plain: ['username', 'externalid', 'displayname', 'title', 'active'],
  complex: {
    name: ['formatted', 'familyname', 'givenname', 'middlename', 'honorificprefix', 'honorificsuffix'],
  },
  lists: { emails: ['value', 'display', 'type', 'primary'] },
};

const { username, email: Email, externalId } = operations.createUser.body.properties;
const Text = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 255 });

/** Checks fields by the names of SCIM, because error messages name them. */
const checkFields = checkerOf(
  Type.Object({
    userName: username,
    emails: Email,
    externalId,
    active: Type.Unsafe<boolean | null>({ type: ['boolean', 'null'] }),
    displayName: Text,
    title: Text,
    'name.formatted': Text,
    'name.familyName': Text,
    'name.givenName': Text,
    'name.middleName': Text,
    'name.honorificPrefix': Text,
    'name.honorificSuffix': Text,
  }),
);

export interface UserFields extends store.Names {
  username: string;
  email: string;
  externalId: string | null;
  firstName: string | null;
  title: string | null;
  /** Null if the request does not say it. */
  active: boolean | null;
}

/** The attributes after a PATCH. What every user has can be replaced, but not removed. */
export function patchedFieldsOf(doc: Doc): UserFields {
  const missing = doc.active == null ? 'active' : emailOf(doc.emails) === undefined ? 'emails' : undefined;
  if (missing) {
    throw new ApiError('scim_read_only', { message: `\`${missing}\` can be replaced, but not removed.` });
  }
  return fieldsOf(doc);
}

/** Reads the attributes that we keep. Without an email, the user has `otherEmail`, or a user name that is an email. */
export function fieldsOf(doc: Doc, otherEmail?: string): UserFields {
  const name = isObject(doc.name) ? doc.name : {};
  const email = emailOf(doc.emails) ?? otherEmail;
  if (email === undefined && !String(doc.username).includes('@'))
    throw invalid('emails', 'is required, because the `userName` is not an email address');
  const fields = checkFields({
    userName: doc.username ?? '',
    emails: email ?? doc.username ?? '',
    externalId: textOrNull(doc.externalid),
    active: booleanOf(doc.active),
    displayName: textOrNull(doc.displayname),
    title: textOrNull(doc.title),
    'name.formatted': textOrNull(name.formatted),
    'name.familyName': textOrNull(name.familyname),
    'name.givenName': textOrNull(name.givenname),
    'name.middleName': textOrNull(name.middlename),
    'name.honorificPrefix': textOrNull(name.honorificprefix),
    'name.honorificSuffix': textOrNull(name.honorificsuffix),
  });
  return {
    username: fields.userName,
    email: fields.emails,
    externalId: fields.externalId ?? null,
    firstName: fields['name.givenName'],
    title: fields.title,
    active: fields.active,
    displayName: fields.displayName,
    formattedName: fields['name.formatted'],
    familyName: fields['name.familyName'],
    middleName: fields['name.middleName'],
    honorificPrefix: fields['name.honorificPrefix'],
    honorificSuffix: fields['name.honorificSuffix'],
  };
}

/** The primary email, or the one for work, or the first one. */
function emailOf(emails: unknown): unknown {
  const list = listOf(emails).filter(({ value }) => textOrNull(value) !== null);
  const byType = (type: unknown) => String(type).toLowerCase() === 'work';
  const chosen =
    list.find(({ primary }) => isTrue(primary)) ?? list.find(({ type }) => byType(type)) ?? list[0];
  return chosen?.value;
}

/** Clients send an empty text for no value. Values of other types stay, so that the check refuses them. */
const textOrNull = (value: unknown) => (value === undefined || value === '' ? null : value);

function booleanOf(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  if (!/^(true|false)$/i.test(value)) throw invalid('active', 'must be true or false');
  return isTrue(value);
}

/** The attributes that a PATCH changes. */
export const docOf = (row: store.ScimUserRow): Doc => ({
  username: row.username,
  externalid: row.externalId,
  displayname: row.displayName,
  title: row.title,
  active: !row.isDeactivated,
  name: {
    formatted: row.formattedName,
    familyname: row.familyName,
    givenname: row.firstName,
    middlename: row.middleName,
    honorificprefix: row.honorificPrefix,
    honorificsuffix: row.honorificSuffix,
  },
  emails: [{ value: row.email, type: 'work', primary: true }],
});

export const namesOf = ({
  displayName,
  formattedName,
  familyName,
  middleName,
  honorificPrefix,
  honorificSuffix,
}: store.Names): store.Names => ({
  displayName,
  formattedName,
  familyName,
  middleName,
  honorificPrefix,
  honorificSuffix,
});

const hasNames = (names: store.Names) => Object.values(namesOf(names)).some((name) => name !== null);

const takenName = () =>
  new ApiError('username_taken', { message: 'Another user has this `userName`, or has it as email.' });

export async function createScimUser(tx: Tx, fields: UserFields): Promise<UserWrite> {
  requireReadableUsername(fields.username, 'userName');
  const { active, title, ...given } = fields;
  const user = await createUser(tx, { ...given, passwordHash: null, picture: null, title }, [
    DEFAULT_ROLE,
  ]).catch((error) => {
    // The request has one name for both, and does not say `email`.
    if (isApiError(error, 'email_taken') && fields.email === fields.username) throw takenName();
    throw error;
  });
  if (hasNames(fields)) await store.saveNames(tx, user.id, namesOf(fields));
  const after = active === false ? await updateUser(tx, user, { isDeactivated: true }) : user;
  const row = (await store.findScimUser(tx, user.id))!;
  return { row, changes: [created({ ...after, ...namesOf(row) })] };
}

interface UserWrite {
  row: store.ScimUserRow;
  changes: Change[];
}

/** Nobody else can change the user until the transaction ends. */
export async function lockScimUser(tx: Tx, id: number | undefined): Promise<store.ScimUserRow> {
  const person = await lockPerson(tx, found(id, 'user_not_found'));
  return (await store.findScimUser(tx, person.id))!;
}

/** The caller has locked `before`. A request that changes nothing writes nothing. */
export async function updateScimUser(
  tx: Tx,
  before: store.ScimUserRow,
  fields: UserFields,
): Promise<UserWrite> {
  const { username, email, externalId, firstName, title, active } = fields;
  const asked = { username, email, externalId, firstName, title };
  const isDeactivated = active === null ? before.isDeactivated : !active;
  const namesBefore = namesOf(before);
  const names = namesOf(fields);
  const isSame = (a: object, b: object) => JSON.stringify(a) === JSON.stringify(b);
  const { username: u, email: e, externalId: x, firstName: f, title: t } = before;
  const held = { username: u, email: e, externalId: x, firstName: f, title: t };
  if (isSame(asked, held) && isSame(names, namesBefore) && isDeactivated === before.isDeactivated) {
    return { row: before, changes: [] };
  }
  if (username !== before.username) requireReadableUsername(username, 'userName');
  const person = await lockPerson(tx, before.id);
  const state = isDeactivated === before.isDeactivated ? {} : { isDeactivated };
  const after = await updateUser(tx, person, { ...asked, ...state });
  if (!isSame(names, namesBefore)) await store.saveNames(tx, before.id, names);
  const row = (await store.findScimUser(tx, before.id))!;
  return { row, changes: [changed({ ...person, ...namesBefore }, { ...after, ...names })] };
}

/** The resource without its version, which is a hash of it. */
export function userResource(row: store.ScimUserRow, baseUrl: string) {
  const name = {
    ...attributeIfSet('formatted', row.formattedName),
    ...attributeIfSet('familyName', row.familyName),
    ...attributeIfSet('givenName', row.firstName),
    ...attributeIfSet('middleName', row.middleName),
    ...attributeIfSet('honorificPrefix', row.honorificPrefix),
    ...attributeIfSet('honorificSuffix', row.honorificSuffix),
  };
  const resource = {
    schemas: [scimUrns.user as string],
    id: String(row.id),
    ...attributeIfSet('externalId', row.externalId),
    userName: row.username,
    ...(Object.keys(name).length ? { name } : {}),
    ...attributeIfSet('displayName', row.displayName),
    ...attributeIfSet('title', row.title),
    active: !row.isDeactivated,
    emails: [{ value: row.email, type: 'work', primary: true }],
    groups: row.groups.map(({ id, name }) => ({
      value: String(id),
      $ref: `${baseUrl}/Groups/${id}`,
      display: name,
      type: 'direct',
    })),
    meta: {
      resourceType: 'User',
      created: row.createdAt,
      lastModified: row.updatedAt,
      location: `${baseUrl}/Users/${row.id}`,
    },
  };
  return { state: resource, resource: withVersion(resource, tagOf(resource)) };
}

export const withVersion = <R extends { meta: object }>(resource: R, version: string) => ({
  ...resource,
  meta: { ...resource.meta, version },
});

/** SCIM leaves out attributes without a value. */
export const attributeIfSet = <const N extends string>(name: N, value: string | null) =>
  (value === null ? {} : { [name]: value }) as { [Name in N]?: string };
