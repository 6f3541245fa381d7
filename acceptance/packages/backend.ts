/** A backend that uses the client. */
import {
  createOrielClient,
  type ErrorCode,
  type GenerateSession,
  type OrielClient,
  OrielError,
  type Report,
} from '@oriel/client';

const VIEWER: GenerateSession = {
  deploymentId: 1,
  externalId: 'ada',
  userAttributes: [{ name: 'tier', value: 3 }],
};

export async function main(baseUrl: string): Promise<string> {
  const oriel: OrielClient = createOrielClient({ baseUrl, apiKey: 'sk-test', timeoutMs: 60_000 });
  const { sessionId } = await oriel.generateSession({ body: VIEWER });
  try {
    const report: Report = await oriel.getReport({ deploymentId: 1, reportId: 7 });
    return report.name;
  } catch (error) {
    if (!(error instanceof OrielError)) throw error;
    const gone: ErrorCode = 'report_not_found';
    return error.code === gone
      ? `${sessionId} ${error.operation} ${error.status} ${error.code}`
      : error.message;
  }
}

export async function namesOf(oriel: OrielClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of oriel.iterate.getFolders({ deploymentId: 1 })) names.push(name);
  const { body, etag } = await oriel.withHeaders.getReport({ deploymentId: 1, reportId: 7 });
  await oriel.updateReport(
    { deploymentId: 1, reportId: body.id, body: { title: 'x' } },
    etag ? { ifMatch: etag } : {},
  );
  return names;
}

/** The usual loop over pages, which begins without a cursor. */
export async function titlesOf(oriel: OrielClient): Promise<string[]> {
  const titles: string[] = [];
  let after: string | undefined;
  do {
    const { items, pageInfo } = await oriel.getReports({ deploymentId: 1, first: 50, after });
    titles.push(...items.map(({ name }) => name));
    after = pageInfo?.hasNextPage ? (pageInfo.endCursor ?? undefined) : undefined;
  } while (after !== undefined);
  return titles;
}

/** What may be missing can be passed on in a body too. */
export const mint = (oriel: OrielClient, groups?: string[], value?: number) =>
  oriel.generateSession({
    body: {
      deploymentId: 1,
      externalId: 'ada',
      groups,
      userAttributes: value === undefined ? undefined : [{ name: 'tier', value }],
    },
  });

/** Settings that may be missing can be passed on as they are. */
export const fromSettings = (settings: Record<string, string>, signal?: AbortSignal) => {
  const limit = settings.TIMEOUT_MS === undefined ? undefined : Number(settings.TIMEOUT_MS);
  const oriel = createOrielClient({
    baseUrl: settings.ORIEL_URL ?? 'http://127.0.0.1:4000',
    apiKey: settings.ORIEL_API_KEY,
    token: settings.ORIEL_TOKEN,
    getHeaders: undefined,
    retries: undefined,
    timeoutMs: limit,
    fetch: undefined,
  });
  const etag = settings.ETAG;
  return oriel.listRegions({}, { signal, timeoutMs: limit, ifMatch: etag, ifNoneMatch: etag });
};

/** What must not compile. */
export async function wrong(oriel: OrielClient) {
  // @ts-expect-error the deployment is missing
  await oriel.generateSession({ body: { externalId: 'ada' } });
  // @ts-expect-error there is no such field
  await oriel.generateSession({ body: { deploymentId: 1, ephemeralTtlSeconds: 1 } });
  // @ts-expect-error an id is a number
  await oriel.getReport({ deploymentId: '1', reportId: 7 });
  // @ts-expect-error only what may be left out may be undefined
  await oriel.generateSession({ body: { deploymentId: undefined, externalId: 'ada' } });
  // @ts-expect-error each page repeats folders, so this list is read page by page
  oriel.iterate.listFiles({ deploymentId: 1 });
  // @ts-expect-error there is no such operation
  await oriel.getNothing();
  // @ts-expect-error a region has no such field
  for (const { nothing } of (await oriel.listRegions()).data) void nothing;
  // @ts-expect-error there is no such code
  const code: ErrorCode = 'no_such_code';
  return code;
}
