/** Asks SCIM as a provider does: with the token only, and without the cookie of this page. */
interface Resource {
  id: string;
  active?: boolean;
  meta?: { version?: string };
}

export interface ScimTest {
  /** Where it ended. */
  step: 'read' | 'write' | 'done';
  count: number;
  detail: string;
}

export async function testScim(base: string, token: string): Promise<ScimTest> {
  let count = 0;
  let step: ScimTest['step'] = 'read';
  const ask = async (method: string, path: string, body?: object, headers = {}) => {
    const response = await fetch(base + path, {
      method,
      credentials: 'omit',
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/scim+json',
        'content-type': 'application/scim+json',
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const reply = (text ? JSON.parse(text) : {}) as {
      totalResults?: number;
      Resources?: Resource[];
      detail?: string;
    };
    if (!response.ok) throw new Error(reply.detail ?? `${response.status} ${response.statusText}`);
    return reply;
  };
  try {
    const { totalResults, Resources } = await ask('GET', '/Users?startIndex=1&count=1');
    const user = Resources?.[0];
    if (totalResults === undefined || !user) throw new Error();
    count = totalResults;
    step = 'write';
    // A change to what is there already is allowed or refused like every change, and writes nothing. The version makes sure that
    // it is there still.
    const Operations = [{ op: 'replace', path: 'active', value: user.active }];
    await ask(
      'PATCH',
      `/Users/${user.id}`,
      { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations },
      user.meta?.version ? { 'if-match': user.meta.version } : {},
    );
    return { step: 'done', count, detail: '' };
  } catch (error) {
    return { step, count, detail: error instanceof Error ? error.message : '' };
  }
}
