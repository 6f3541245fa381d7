/** The viewer whom a person describes to try a dashboard with, as `generate-session` takes them. */
import { createOrielClient, type OrielClient } from '@oriel/client';
import { api } from '../data/api.ts';

export interface ViewerForm {
  externalId: string;
  embedTenantName: string;
  displayName: string;
  groups: string;
  attributes: string;
}

export const EXAMPLE: ViewerForm = {
  externalId: 'customer-42',
  embedTenantName: 'acme-corp',
  displayName: '',
  groups: '',
  attributes: '',
};

/** The number of the first line of the attributes that has no value, from 1. */
export function badLine(attributes: string): number | undefined {
  const index = attributes.split('\n').findIndex((line) => line.trim() !== '' && !line.includes('='));
  return index < 0 ? undefined : index + 1;
}

/** Numbers, booleans and lists of JSON are taken as such, everything else as text. */
function attributeValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? text : value;
  } catch {
    return text;
  }
}

export function bodyOf(deploymentId: number, viewer: ViewerForm) {
  const groups = viewer.groups
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const attributes = viewer.attributes
    .split('\n')
    .filter((line) => line.includes('='))
    .map((line) => {
      const at = line.indexOf('=');
      return { name: line.slice(0, at).trim(), value: attributeValue(line.slice(at + 1).trim()) };
    });
  return {
    deploymentId,
    externalId: viewer.externalId.trim(),
    ...(viewer.embedTenantName.trim() && { embedTenantName: viewer.embedTenantName.trim() }),
    ...(viewer.displayName.trim() && { userProfile: { displayName: viewer.displayName.trim() } }),
    ...(groups.length && { groups }),
    ...(attributes.length && { userAttributes: attributes }),
  };
}

type Body = Parameters<typeof api.generateSession>[0]['body'];

const KEY_MS = 60_000;

/**
 * Only API keys mint sessions, so this makes one that ends after a minute, may use this deployment only, and is deleted at
 * once. The person needs the right to make keys, and the audit log shows what was done.
 */
export const mintSession = async (body: object): Promise<string> =>
  (await asBackend((body as Body).deploymentId, (backend) => backend.generateSession({ body: body as Body })))
    .sessionId;

export async function asBackend<T>(
  deploymentId: number,
  work: (backend: OrielClient) => Promise<T>,
): Promise<T> {
  const { id, key } = await api.createApiKey({
    body: {
      name: 'Embed page of the app',
      deploymentIds: [deploymentId],
      expiresAt: new Date(Date.now() + KEY_MS).toISOString(),
    },
  });
  try {
    const backend = createOrielClient({
      baseUrl: location.origin,
      apiKey: key,
      // Without the cookie: this is what a backend sends.
      fetch: (address, init) => fetch(address, { ...init, credentials: 'omit' }),
    });
    return await work(backend);
  } finally {
    await api.deleteApiKey({ id });
  }
}
