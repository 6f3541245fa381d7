/** From what was typed to the body of `generate-session`. */

export interface Form {
  tenant: string;
  kind: 'external' | 'internal';
  id: string;
  /** Names, separated by commas. */
  groups: string;
  tenantGroups: string;
  isCreator: boolean;
  /** As typed, by name. An empty text is not sent. */
  attributes: Record<string, string>;
  /** JSON. */
  securityContext: string;
  /** JSON of further fields, such as definitions. */
  definitions: string;
}

export interface Attribute {
  id: number;
  name: string;
  type: string;
}

interface Request {
  body: Record<string, unknown>;
  /** Of the attributes that are sent, in this order. */
  names: string[];
  problems: { path: string; message: string }[];
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);

/** What does not fit is sent as it is: the server says what would. */
function typed(type: string, text: string): unknown {
  const number = (one: string) => (one !== '' && Number.isFinite(Number(one)) ? Number(one) : one);
  switch (type) {
    case 'number':
      return number(text);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'string_array':
      return listOf(text);
    case 'number_array':
      return listOf(text).map(number);
    default:
      return text;
  }
}

export function requestOf(form: Form, attributes: readonly Attribute[], notJson: string): Request {
  const problems: Request['problems'] = [];
  const parsed = (path: 'securityContext' | 'definitions') => {
    const text = form[path].trim();
    if (!text) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    } catch {
      // Said below.
    }
    problems.push({ path, message: notJson });
    return undefined;
  };
  const given = attributes.filter(({ name }) => form.attributes[name]?.trim());
  const securityContext = parsed('securityContext');
  const id = form.id.trim();
  const body = {
    ...(form.tenant.trim() ? { embedTenantName: form.tenant.trim() } : {}),
    ...(id ? { [form.kind === 'external' ? 'externalId' : 'internalId']: id } : {}),
    ...(form.isCreator ? { creatorMode: true } : {}),
    ...(form.groups.trim() ? { groups: listOf(form.groups) } : {}),
    ...(form.isCreator && form.tenantGroups.trim() ? { tenantGroups: listOf(form.tenantGroups) } : {}),
    ...(given.length
      ? {
          userAttributes: given.map(({ name, type }) => ({
            name,
            value: typed(type, form.attributes[name]!.trim()),
          })),
        }
      : {}),
    ...(securityContext ? { securityContext } : {}),
    ...parsed('definitions'),
  };
  return { body, names: given.map(({ name }) => name), problems };
}
